#include "stagenets/weight_draws.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "stagenets/philox.hpp"

namespace stagenets {
namespace {

template <std::size_t N>
double horner(const double (&coefficients)[N], double x) {
  double value = coefficients[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) value = value * x + coefficients[i];
  return value;
}

double uniform_between(double low, double high, double u) { return low + (high - low) * u; }

double log_uniform_between(double low, double high, double u) {
  return low * std::pow(high / low, u);
}

Index index_below(Index count, double u) {
  return static_cast<Index>(u * static_cast<double>(count));
}

// A term to be drawn. The weights of one that sees few inputs, which it writes to `seen`, are zero at first.
struct TermSlot {
  Eigen::Ref<VectorD> weights;
  double& bias;
  Index* seen;
};

// Families of one term return how many inputs they have written to `seen`; or kAllInputs, and nothing is written.
constexpr Index kAllInputs = -1;

Index draw_uniform(PhiloxStream& words, double scale, TermSlot unit) {
  words.uniforms(unit.weights.data(), unit.weights.size());
  for (double& weight : unit.weights) weight = uniform_between(-scale, scale, weight);
  unit.bias = scale * words.uniform();
  return kAllInputs;
}

Index draw_normal(PhiloxStream& words, double scale, TermSlot unit) {
  const double deviation = scale / std::sqrt(static_cast<double>(unit.weights.size()));
  for (double& weight : unit.weights) weight = deviation * normal_quantile(words.open_uniform());
  unit.bias = uniform_between(-scale, scale, words.uniform());
  return kAllInputs;
}

// Floyd's sample of `count` distinct inputs needs a word for each, however often it hits one already drawn.
void draw_inputs(PhiloxStream& words, Index inputs, Index count, Index* drawn) {
  for (Index i = 0; i < count; ++i) {
    const Index last = inputs - count + i;
    const Index pick = index_below(last + 1, words.uniform());
    const bool taken = std::find(drawn, drawn + i, pick) != drawn + i;
    drawn[i] = taken ? last : pick;
  }
}

// A random 1 … fan_in of the inputs.
Index draw_sparse(PhiloxStream& words, double scale, Index fan_in, TermSlot unit) {
  const Index m = 1 + index_below(fan_in, words.uniform());
  draw_inputs(words, unit.weights.size(), m, unit.seen);
  const double spread = 1.5 * scale;
  const double deviation = spread / std::sqrt(static_cast<double>(m));
  for (Index i = 0; i < m; ++i)
    unit.weights[unit.seen[i]] = deviation * normal_quantile(words.open_uniform());
  unit.bias = uniform_between(-spread, spread, words.uniform());
  return m;
}

// w (x − v) of an input with the value v.
void draw_step(PhiloxStream& words, double scale, Index input, double value, TermSlot term) {
  const double steepness = log_uniform_between(4, 40, words.uniform());
  const double slope = (words.uniform() < 0.5 ? -scale : scale) * steepness;
  term.weights[input] = slope;
  term.bias = -slope * value;
  *term.seen = input;
}

// A number among the rows of all processes.
Index draw_row(PhiloxStream& words, const TrainingValues& values) {
  return values.row_at(words.uniform());
}

Index draw_threshold(PhiloxStream& words, double scale, const TrainingValues& values,
                     TermSlot unit) {
  const Index input = index_below(unit.weights.size(), words.uniform());
  const Index row = draw_row(words, values);
  draw_step(words, scale, input, values(row, input), unit);
  return 1;
}

constexpr Index kFewestSteps = 2, kMostSteps = 4;  // of a leaf

Index draw_number_of_steps(PhiloxStream& words, Index inputs) {
  return std::min(inputs,
                  kFewestSteps + index_below(kMostSteps - kFewestSteps + 1, words.uniform()));
}

// Steps on different inputs, after the word for their number; slot(i) is the place of step i.
template <class Slot>
void draw_leaf(PhiloxStream& words, double scale, const TrainingValues& values, Index inputs,
               Index steps, const Slot& slot) {
  Index seen[kMostSteps];
  const Index row = draw_row(words, values);
  draw_inputs(words, inputs, steps, seen);
  for (Index i = 0; i < steps; ++i) {
    draw_step(words, scale, seen[i], values(row, seen[i]), slot(i));
  }
}

// The shares of a mixture. On 22 data sets many others were as good on average; few leaves and thresholds lose least where
// effects are smooth, since steep units win more pools than they deserve, and are enough where effects jump.
WeightFamily draw_family(PhiloxStream& words) {
  constexpr double kLeaves = 0.1, kThresholds = 0.1, kSparse = 0.6;  // the rest is normal
  const double u = words.uniform();
  if (u < kLeaves) return WeightFamily::leaf;
  if (u < kLeaves + kThresholds) return WeightFamily::threshold;
  if (u < kLeaves + kThresholds + kSparse) return WeightFamily::sparse;
  return WeightFamily::normal;
}

// The sparse units of a mixture have several scales.
double draw_factor(PhiloxStream& words) { return log_uniform_between(1, 3, words.uniform()); }

// Makes room for new weights, all zero if `cleared`. Of old ones known to be sparse, only a few have to be cleared.
void make_room(UnitWeights& units, Index inputs, Index terms, bool cleared) {
  const bool same_size = units.weights.rows() == inputs && units.weights.cols() == terms;
  if (!cleared) {
    units.weights.resize(inputs, terms);
  } else if (same_size && units.seen.known()) {
    for (Index j = 0; j < terms; ++j) {
      for (Index i = units.seen.begin_of(j); i < units.seen.end_of(j); ++i) {
        units.weights(units.seen.inputs[static_cast<std::size_t>(i)], j) = 0;
      }
    }
  } else {
    units.weights.setZero(inputs, terms);
  }
  units.biases.resize(terms);
}

// What the terms see: seen[t] inputs each, from their slots, or all inputs.
SeenInputs gathered(const std::vector<Index>& slots, Index most_seen,
                    const std::vector<Index>& seen, Index inputs) {
  SeenInputs all;
  auto slot = slots.begin();
  for (const Index own : seen) {
    if (own == kAllInputs) {
      all.inputs.resize(all.inputs.size() + static_cast<std::size_t>(inputs));
      std::iota(all.inputs.end() - inputs, all.inputs.end(), Index{0});
    } else {
      all.inputs.insert(all.inputs.end(), slot, slot + own);
    }
    all.ends.push_back(static_cast<Index>(all.inputs.size()));
    slot += most_seen;
  }
  return all;
}

}  // namespace

WeightFamily weight_family_from_name(const std::string& name) {
  if (name == "uniform") return WeightFamily::uniform;
  if (name == "normal") return WeightFamily::normal;
  if (name == "sparse") return WeightFamily::sparse;
  if (name == "threshold") return WeightFamily::threshold;
  if (name == "leaf") return WeightFamily::leaf;
  if (name == "mixed") return WeightFamily::mixed;
  throw std::invalid_argument(
      "weight_init must be 'uniform', 'normal', 'sparse', 'threshold', 'leaf', 'mixed' or a "
      "callable; got '" +
      name + "'");
}

bool WeightDraws::mostly_sparse() const {
  return !custom && family != WeightFamily::uniform && family != WeightFamily::normal;
}

bool WeightDraws::look_at_rows() const {
  return has_leaves() || (!custom && family == WeightFamily::threshold);
}

bool WeightDraws::has_leaves() const {
  return !custom && (family == WeightFamily::leaf || family == WeightFamily::mixed);
}

Index WeightDraws::most_terms() const { return has_leaves() ? kMostSteps : 1; }

void WeightDraws::draw(Stream stream, Index stage, Index count, Index inputs,
                       const TrainingValues& values, Team& team, UnitWeights& units) const {
  if (custom) {
    units = custom(stage, count, inputs);
    return;
  }
  if (values.empty() && look_at_rows()) {
    throw std::invalid_argument(
        "weight_init 'threshold', 'leaf' and 'mixed' need training rows to look at; there are "
        "none");
  }
  const auto words_of = [&](Index unit) {
    return PhiloxStream(Philox(seed, static_cast<std::uint64_t>(unit),
                               static_cast<std::uint64_t>(stage),
                               static_cast<std::uint64_t>(stream)));
  };
  const auto kind_of = [&](PhiloxStream& words) {
    return family == WeightFamily::mixed ? draw_family(words) : family;
  };
  std::vector<Index> ends;
  if (has_leaves()) ends.reserve(static_cast<std::size_t>(count));  // or fail before any work
  for (Index unit = 0, end = 0; has_leaves() && unit < count; ++unit) {
    PhiloxStream words = words_of(unit);
    end += kind_of(words) == WeightFamily::leaf ? draw_number_of_steps(words, inputs) : 1;
    ends.push_back(end);
  }
  const Index terms = ends.empty() ? count : ends.back();
  const bool sparse = mostly_sparse();
  make_room(units, inputs, terms, sparse);
  units.ends = terms > count ? std::move(ends) : std::vector<Index>();

  const Index most_seen = sparse ? std::min(fan_in, inputs) : 0;
  std::vector<Index> slots(static_cast<std::size_t>(most_seen * terms));
  std::vector<Index> seen(static_cast<std::size_t>(terms), 1);
  const auto slot_of = [&](Index term) {
    return TermSlot{units.weights.col(term), units.biases[term], slots.data() + term * most_seen};
  };
  const auto draw_unit = [&](Index unit) {
    PhiloxStream words = words_of(unit);
    const Index term = units.first_term(unit);
    Index& own = seen[static_cast<std::size_t>(term)];
    switch (kind_of(words)) {
      case WeightFamily::uniform: own = draw_uniform(words, scale, slot_of(term)); break;
      case WeightFamily::normal: own = draw_normal(words, scale, slot_of(term)); break;
      case WeightFamily::sparse: {
        const double factor = family == WeightFamily::mixed ? draw_factor(words) : 1.0;
        own = draw_sparse(words, factor * scale, most_seen, slot_of(term));
        break;
      }
      case WeightFamily::threshold:
        own = draw_threshold(words, scale, values, slot_of(term));
        break;
      default:
        draw_leaf(words, scale, values, inputs, draw_number_of_steps(words, inputs),
                  [&](Index step) { return slot_of(term + step); });
    }
  };
  // Waking helper threads pays off above some tens of microseconds of work.
  constexpr Index kWordsWorthThreads = 20'000;
  const bool few_words = sparse && family != WeightFamily::mixed;
  const Index words_wanted = (few_words ? most_seen : inputs) * count;
  const Index share = words_wanted < kWordsWorthThreads ? count : std::max<Index>(1, count / 16);
  constexpr Index kUnitsBetweenPolls = 32;
  team.for_each((count + share - 1) / share, [&](Index lane, int worker) {
    for (Index j = lane * share; j < std::min(count, (lane + 1) * share); ++j) {
      if (j % kUnitsBetweenPolls == 0) team.poll(worker);
      draw_unit(j);
    }
  });
  units.seen = sparse ? gathered(slots, most_seen, seen, inputs) : SeenInputs();
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

}  // namespace stagenets
