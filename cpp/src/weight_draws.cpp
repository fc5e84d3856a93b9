#include "residuum/weight_draws.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "residuum/philox.hpp"

namespace residuum {
namespace {

template <std::size_t N>
double horner(const double (&coefficients)[N], double x) {
  double value = coefficients[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) value = value * x + coefficients[i];
  return value;
}

double uniform_between(double low, double high, double u) { return low + (high - low) * u; }

using Column = Eigen::Ref<VectorD>;

void draw_uniform(PhiloxStream& stream, double scale, Column weights, double& bias) {
  stream.uniforms(weights.data(), weights.size());
  for (double& weight : weights) weight = uniform_between(-scale, scale, weight);
  bias = scale * stream.uniform();
}

void draw_normal(PhiloxStream& stream, double scale, Column weights, double& bias) {
  const double deviation = scale / std::sqrt(static_cast<double>(weights.size()));
  for (double& weight : weights) weight = deviation * normal_quantile(stream.open_uniform());
  bias = uniform_between(-scale, scale, stream.uniform());
}

// A random 1 … fan_in of the inputs into `seen`, which has room for them; says how many.
Index draw_sparse(PhiloxStream& stream, double scale, Index fan_in, Column weights, double& bias,
                  Index* seen) {
  const Index p = weights.size();
  const Index m = 1 + static_cast<Index>(stream.uniform() * static_cast<double>(fan_in));
  // Floyd's sample of m distinct inputs takes m words, however often it hits a taken one.
  Index count = 0;
  for (Index last = p - m; last < p; ++last) {
    const Index pick = static_cast<Index>(stream.uniform() * static_cast<double>(last + 1));
    const bool taken = std::find(seen, seen + count, pick) != seen + count;
    seen[count++] = taken ? last : pick;
  }
  const double spread = 1.5 * scale;
  const double deviation = spread / std::sqrt(static_cast<double>(m));
  for (Index i = 0; i < m; ++i)
    weights[seen[i]] = deviation * normal_quantile(stream.open_uniform());
  bias = uniform_between(-spread, spread, stream.uniform());
  return m;
}

// Makes room for other weights. Of those that are known to be sparse, few must be cleared.
void clear(UnitWeights& units, Index inputs, Index count) {
  const bool same_size = units.weights.rows() == inputs && units.weights.cols() == count;
  if (same_size && units.seen.known()) {
    for (Index j = 0; j < count; ++j) {
      for (Index i = units.seen.begin_of(j); i < units.seen.end_of(j); ++i) {
        units.weights(units.seen.inputs[static_cast<std::size_t>(i)], j) = 0;
      }
    }
  } else {
    units.weights.setZero(inputs, count);
  }
  units.biases.resize(count);
}

}  // namespace

WeightFamily weight_family_from_name(const std::string& name) {
  if (name == "uniform") return WeightFamily::uniform;
  if (name == "normal") return WeightFamily::normal;
  if (name == "sparse") return WeightFamily::sparse;
  throw std::invalid_argument(
      "weight_init must be 'uniform', 'normal', 'sparse' or a callable; got '" + name + "'");
}

void WeightDraws::draw(Stream stream, Index stage, Index count, Index inputs, Team& team,
                       UnitWeights& units) const {
  if (custom) {
    units = custom(stage, count, inputs);
    return;
  }
  const bool sparse = family == WeightFamily::sparse;
  const Index most_seen = std::min(fan_in, inputs);
  std::vector<Index> slots, seen;
  if (sparse) {
    clear(units, inputs, count);
    slots.resize(static_cast<std::size_t>(most_seen * count));
    seen.resize(static_cast<std::size_t>(count));
  } else {
    units.weights.resize(inputs, count);
    units.biases.resize(count);
  }
  const auto draw_one = [&](Index j) {
    PhiloxStream words(Philox(seed, static_cast<std::uint64_t>(j),
                              static_cast<std::uint64_t>(stage),
                              static_cast<std::uint64_t>(stream)));
    switch (family) {
      case WeightFamily::uniform:
        return draw_uniform(words, scale, units.weights.col(j), units.biases[j]);
      case WeightFamily::normal:
        return draw_normal(words, scale, units.weights.col(j), units.biases[j]);
      case WeightFamily::sparse:
        seen[static_cast<std::size_t>(j)] =
            draw_sparse(words, scale, most_seen, units.weights.col(j), units.biases[j],
                        slots.data() + j * most_seen);
        return;
    }
  };
  // Waking helpers pays from some tens of microseconds of work on.
  constexpr Index kWordsWorthThreads = 20'000;
  const Index words_wanted = (sparse ? most_seen : inputs) * count;
  const Index share = words_wanted < kWordsWorthThreads ? count : std::max<Index>(1, count / 16);
  team.for_each((count + share - 1) / share, [&](Index lane, int) {
    for (Index j = lane * share; j < std::min(count, (lane + 1) * share); ++j) draw_one(j);
  });
  units.seen = {};
  for (Index j = 0; sparse && j < count; ++j) {
    const auto first = slots.begin() + j * most_seen;
    units.seen.inputs.insert(units.seen.inputs.end(), first,
                             first + seen[static_cast<std::size_t>(j)]);
    units.seen.ends.push_back(static_cast<Index>(units.seen.inputs.size()));
  }
}

double normal_quantile(double u) {
  // Numerator and denominator of the three rational pieces of AS 241 (PPND16).
  static constexpr double kCentralTop[] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                           1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                           4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                           3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr double kCentralBottom[] = {1.0,
                                              4.2313330701600911252e+1,
                                              6.8718700749205790830e+2,
                                              5.3941960214247511077e+3,
                                              2.1213794301586595867e+4,
                                              3.9307895800092710610e+4,
                                              2.8729085735721942674e+4,
                                              5.2264952788528545610e+3};
  static constexpr double kMiddleTop[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                          5.76949722146069140550e0,  3.64784832476320460504e0,
                                          1.27045825245236838258e0,  2.41780725177450611770e-1,
                                          2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double kMiddleBottom[] = {1.0,
                                             2.05319162663775882187e0,
                                             1.67638483018380384940e0,
                                             6.89767334985100004550e-1,
                                             1.48103976427480074590e-1,
                                             1.51986665636164571966e-2,
                                             5.47593808499534494600e-4,
                                             1.05075007164441684324e-9};
  static constexpr double kTailTop[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                        1.78482653991729133580e0,  2.96560571828504891230e-1,
                                        2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                        2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double kTailBottom[] = {1.0,
                                           5.99832206555887937690e-1,
                                           1.36929880922735805310e-1,
                                           1.48753612908506148525e-2,
                                           7.86869131145613259100e-4,
                                           1.84631831751005468180e-5,
                                           1.42151175831644588870e-7,
                                           2.04426310338993978564e-15};

  const double q = u - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * horner(kCentralTop, r) / horner(kCentralBottom, r);
  }
  double r = std::sqrt(-std::log(q < 0 ? u : 1.0 - u));
  const double magnitude = r <= 5.0 ? horner(kMiddleTop, r - 1.6) / horner(kMiddleBottom, r - 1.6)
                                    : horner(kTailTop, r - 5.0) / horner(kTailBottom, r - 5.0);
  return q < 0 ? -magnitude : magnitude;
}

}  // namespace residuum
