// What makes probabilities of scores, against closed forms, a search for the greatest likelihood, and networks fitted
// again without the row that is left out.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <functional>

#include "machines.hpp"
#include "random_matrix.hpp"
#include "stagenets/calibration.hpp"

using namespace stagenets;

namespace {

// Where f is least between two positive numbers, by the golden section of their logarithms.
long double argmin(const std::function<long double(long double)>& f, long double low,
                   long double high) {
  const long double golden = (std::sqrt(5.0L) - 1) / 2;
  long double a = std::log(low), b = std::log(high);
  for (int i = 0; i < 60; ++i) {
    const long double left = b - golden * (b - a), right = a + golden * (b - a);
    (f(std::exp(left)) <= f(std::exp(right)) ? b = right : a = left);
  }
  return std::exp((a + b) / 2);
}

// −log of the likelihood of labels under softmax(τ · scores).
long double label_loss(long double tau, const MatrixD& scores, const std::vector<Index>& labels,
                       const std::vector<double>& weights) {
  long double loss = 0;
  for (Index i = 0; i < scores.rows(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    const long double own = scores(i, labels[at]);
    long double sum = 0;
    for (Index c = 0; c < scores.cols(); ++c) sum += std::exp(tau * (scores(i, c) - own));
    loss += (weights.empty() ? 1.0L : static_cast<long double>(weights[at])) * std::log(sum);
  }
  return loss;
}

double logit(double chance) { return std::log(chance / (1 - chance)); }

// Slopes of the loss of σ(τ (score − t)) with Platt's goals, by τ with τ t held, and by −τ t; and their size.
struct Slopes {
  double by_temperature = 0, by_shift = 0, size = 0;
};
Slopes logistic_slopes(const Logistic& link, const VectorD& scores, const VectorD& present,
                       const std::vector<double>& weights) {
  const auto weight = [&](Index i) {
    return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)];
  };
  double with = 0, without = 0;
  for (Index i = 0; i < scores.size(); ++i) (present[i] == 1 ? with : without) += weight(i);
  Slopes slopes;
  for (Index i = 0; i < scores.size(); ++i) {
    // One more row of either kind: of the rows with the label, (with + 1) of (with + 2) have it.
    const double goal = present[i] == 1 ? (with + 1) / (with + 2) : 1 / (without + 2);
    const double chance = 1 / (1 + std::exp(-link.temperature * (scores[i] - link.threshold)));
    slopes.by_temperature += weight(i) * (chance - goal) * scores[i];
    slopes.by_shift += weight(i) * (chance - goal);
    slopes.size += weight(i) * std::abs(chance - goal) * (1 + std::abs(scores[i]));
  }
  return slopes;
}

struct Labelled {
  MatrixD scores;
  std::vector<Index> labels;
  std::vector<double> weights;
};

// Noisy scores of labels, which are their largest ones in most rows.
Labelled labelled_scores(Index rows, Index classes, double signal, unsigned seed) {
  Labelled data{random_matrix(rows, classes, seed), {}, {}};
  for (Index i = 0; i < rows; ++i) {
    data.labels.push_back((i * i + i / 3) % classes);
    data.weights.push_back(0.25 + static_cast<double>(i % 7));
    data.scores(i, data.labels.back()) += signal;
  }
  return data;
}

// A ridge fit whose rows count by weight, with some rows' weights replaced.
MatrixD ridge(const MatrixD& design, const MatrixD& targets, const VectorD& weights, double alpha) {
  const MatrixD normal = design.transpose() * weights.asDiagonal() * design +
                         alpha * MatrixD::Identity(design.cols(), design.cols());
  return normal.llt().solve(design.transpose() * weights.asDiagonal() * targets);
}

// What a ridge fit says of each row when it has seen one sample less of it.
MatrixD left_out_scores(const MatrixD& design, const MatrixD& targets, const VectorD& weights,
                        double alpha) {
  MatrixD scores(targets.rows(), targets.cols());
  for (Index i = 0; i < design.rows(); ++i) {
    VectorD fewer = weights;
    fewer[i] = std::max(0.0, fewer[i] - 1);
    scores.row(i) = design.row(i) * ridge(design, targets, fewer, alpha);
  }
  return scores;
}

struct RidgeProblem {
  MatrixD design, targets;
  VectorD weights;
  double alpha = 0.7;

  // Residuals of the fit on the first columns, scaled by the roots of the weights, and leverages.
  CalibrationState state(Index columns) const {
    const MatrixD some = design.leftCols(columns);
    const VectorD roots = weights.cwiseSqrt();
    const MatrixD a = roots.asDiagonal() * some;
    const MatrixD normal = a.transpose() * a + alpha * MatrixD::Identity(columns, columns);
    const MatrixD hat = a * normal.llt().solve(a.transpose());
    return {roots.asDiagonal() * (targets - some * ridge(some, targets, weights, alpha)),
            hat.diagonal()};
  }
};

RidgeProblem ridge_problem(Index rows, Index columns, bool several, bool weighted) {
  RidgeProblem problem{random_matrix(rows, columns, 1), MatrixD::Zero(rows, 3),
                       VectorD::Ones(rows)};
  const MatrixD noise = random_matrix(rows, 3, 2);
  for (Index i = 0; i < rows; ++i) {
    const Eigen::RowVector3d values = problem.design.row(i).head(3) + noise.row(i);
    if (several) {
      problem.targets.row(i) = (values.array() > 0.2).cast<double>();
    } else {
      Index label;
      values.maxCoeff(&label);
      problem.targets(i, label) = 1;
    }
    if (weighted) problem.weights[i] = static_cast<double>(1 + i % 3);
  }
  return problem;
}

RowWeights row_weights_of(const RidgeProblem& problem, bool weighted) {
  RowWeights weights;
  if (!weighted) return weights;
  weights.roots = problem.weights.cwiseSqrt();
  weights.left_out = problem.weights.cwiseMax(1).cwiseInverse();
  return weights;
}

Link link_of_left_out(const RidgeProblem& problem, Index columns, bool several, bool weighted) {
  const MatrixD scores = left_out_scores(problem.design.leftCols(columns), problem.targets,
                                         problem.weights, problem.alpha);
  std::vector<double> weights;
  std::vector<Index> labels;
  for (Index i = 0; i < scores.rows(); ++i) {
    Index label;
    problem.targets.row(i).maxCoeff(&label);
    labels.push_back(label);
    if (weighted) weights.push_back(problem.weights[i]);
  }
  Link link = Link::identity(3);
  if (!several) link.temperatures.setConstant(fit_temperature(scores, labels, weights));
  for (Index c = 0; several && c < 3; ++c) {
    const Logistic found = fit_logistic(scores.col(c), problem.targets.col(c), weights);
    link.temperatures[c] = found.temperature;
    link.thresholds[c] = found.threshold;
  }
  return link;
}

void check_same(const Link& link, const Link& expected) {
  CHECK(link.temperatures.isApprox(expected.temperatures, 1e-7));
  CHECK((link.thresholds - expected.thresholds).norm() <= 1e-7 * (1 + expected.thresholds.norm()));
}

}  // namespace

TEST_CASE("scores that need no calibration have temperature one and threshold zero") {
  const Link link = Link::identity(4);
  CHECK(link.temperatures == Eigen::RowVectorXd::Ones(4));
  CHECK(link.thresholds == Eigen::RowVectorXd::Zero(4));
}

TEST_CASE("the temperature is the likeliest") {
  for (const Index classes : {2, 3, 5}) {
    for (const double signal : {0.4, 1.5, 4.0}) {
      const Labelled data = labelled_scores(150, classes, signal, 3);
      for (const std::vector<double>& weights : {std::vector<double>(), data.weights}) {
        const auto loss = [&](long double tau) {
          return label_loss(tau, data.scores, data.labels, weights);
        };
        const double expected = static_cast<double>(argmin(loss, 1e-3L, 1e3L));
        const double tau = fit_temperature(data.scores, data.labels, weights);
        CHECK(tau == doctest::Approx(expected).epsilon(1e-8));
        // In other units of the scores; beyond some size, all but the best score of a row underflow at first.
        for (const double unit : {1e-2, 30.0, 3e3}) {
          if (expected / unit < 2e-3 || expected / unit > 500) continue;
          const double other = fit_temperature(data.scores * unit, data.labels, weights);
          CHECK(other * unit == doctest::Approx(expected).epsilon(1e-8));
        }
      }
    }
  }
}

TEST_CASE("of margins that are all the same, the temperature has a closed form") {
  // `right` rows of weight 1 and `wrong` ones of weight 2: softmax gives the best class what share of them is right.
  for (const double margin : {0.01, 1.0, 800.0}) {
    const Index classes = 4, right = 30, wrong = 3;
    MatrixD scores = MatrixD::Constant(right + wrong, classes, 5);
    std::vector<Index> labels;
    std::vector<double> weights;
    for (Index i = 0; i < right + wrong; ++i) {
      scores(i, i % classes) += margin;
      labels.push_back(i < right ? i % classes : (i + 1) % classes);
      weights.push_back(i < right ? 1 : 2);
    }
    const double share = 30.0 / 36;
    const double expected = (logit(share) + std::log(3.0)) / margin;
    CHECK(fit_temperature(scores, labels, weights) == doctest::Approx(expected).epsilon(1e-9));
    const double unweighted = (logit(30.0 / 33) + std::log(3.0)) / margin;
    CHECK(fit_temperature(scores, labels, {}) == doctest::Approx(unweighted).epsilon(1e-9));
  }
}

TEST_CASE("a temperature without a maximum is bounded") {
  const MatrixD right = MatrixD::Identity(3, 3);
  const std::vector<Index> labels{0, 1, 2};
  // Separated, by little and by much; and where the scores mislead.
  CHECK(fit_temperature(1e-4 * right, labels, {}) == doctest::Approx(1e3).epsilon(1e-6));
  const double separated = fit_temperature(right, labels, {});
  CHECK(separated > 20);
  CHECK(separated <= 1e3);
  CHECK(fit_temperature(-1e-2 * right, labels, {}) == doctest::Approx(1e-3).epsilon(1e-6));
  CHECK(fit_temperature(-1e4 * right, labels, {}) == doctest::Approx(1e-3).epsilon(1e-6));
  CHECK(std::isfinite(fit_temperature(MatrixD::Zero(3, 3), labels, {})));
}

TEST_CASE("of two different scores, the logistic link has a closed form") {
  for (const double low : {-0.3, 400.0}) {
    for (const double gap : {0.02, 1.0, 7.0}) {
      const Index rows = 60;
      VectorD scores(rows), present(rows);
      std::vector<double> weights;
      for (Index i = 0; i < rows; ++i) {
        const bool high = i % 3 == 0;
        scores[i] = high ? low + gap : low;
        present[i] = high ? i % 4 != 0 : i % 4 == 1;
        weights.push_back(0.5 + static_cast<double>(i % 5));
      }
      for (const bool weighted : {false, true}) {
        // Under a likelihood with two free numbers, the chance at each score is the mean of the goals there.
        double with = 0, all = 0;
        const auto weight = [&](Index i) { return weighted ? weights[std::size_t(i)] : 1.0; };
        for (Index i = 0; i < rows; ++i) {
          all += weight(i);
          with += weight(i) * present[i];
        }
        double total[2] = {0, 0}, goals[2] = {0, 0};
        for (Index i = 0; i < rows; ++i) {
          const int at = scores[i] > low ? 1 : 0;
          total[at] += weight(i);
          goals[at] +=
              weight(i) * (present[i] == 1 ? (with + 1) / (with + 2) : 1 / (all - with + 2));
        }
        const double first = logit(goals[0] / total[0]), second = logit(goals[1] / total[1]);
        const Logistic link =
            fit_logistic(scores, present, weighted ? weights : std::vector<double>());
        CHECK(link.temperature == doctest::Approx((second - first) / gap).epsilon(1e-7));
        CHECK(link.temperature * (low - link.threshold) == doctest::Approx(first).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("the logistic link is where the slopes of its likelihood vanish, or at a bound") {
  const Index rows = 80;
  const VectorD noise = random_matrix(rows, 1, 5);
  VectorD present(rows);
  std::vector<double> weights;
  for (Index i = 0; i < rows; ++i) {
    present[i] = i % 4 == 0 ? 1 : 0;
    weights.push_back(0.1 + static_cast<double>(i % 3));
  }
  for (const std::vector<double>& own : {std::vector<double>(), weights}) {
    const auto check = [&](const VectorD& scores, const VectorD& labels, double bound) {
      const Logistic link = fit_logistic(scores, labels, own);
      const Slopes slopes = logistic_slopes(link, scores, labels, own);
      const double close = 1e-6 * slopes.size;
      CHECK(std::abs(slopes.by_shift) <= close);
      if (bound > 0) {
        CHECK(link.temperature == doctest::Approx(bound).epsilon(1e-12));
        // The likelihood would rise beyond the bound.
        CHECK((bound < 1 ? slopes.by_temperature > 0 : slopes.by_temperature < 0));
      } else {
        CHECK(std::abs(slopes.by_temperature) <= close);
      }
    };
    for (const double signal : {0.3, 2.0, 8.0}) {  // the last of them separates the rows
      check(signal * present + noise, present, 0);
      check((200.0 * (signal * present + noise)).array() + 50.0, present, 0);
      check(0.05 * (signal * present + noise), present, 0);
    }
    check(-2 * present + 0.5 * noise, present, 1e-3);          // misled by the scores
    check(1e-5 * (4 * present + noise).eval(), present, 1e3);  // separated by almost nothing
    check((1e-5 * (4 * present + noise)).array() + 0.25, present, 1e3);
    check(noise, VectorD::Zero(rows), 1e-3);        // in no row
    check(noise, VectorD::Ones(rows), 1e-3);        // in all rows
    check(VectorD::Constant(rows, 3), present, 0);  // scores that say nothing
  }
}

TEST_CASE("calibration takes evenly spaced rows with weight, a few thousand at most") {
  const auto rows_of = [](Index rows, Index every) {
    RowWeights weights;
    if (every > 0) {
      weights.roots = VectorD::Ones(rows);
      for (Index i = 0; i < rows; i += every) weights.roots[i] = 0;
    }
    const RowBlocks blocks(rows, 64);
    return Calibration(Targets(Task::one_label, MatrixD::Ones(rows, 1)), weights, blocks).rows();
  };
  std::vector<Index> few = rows_of(100, 0);
  CHECK(few.size() == 100);
  CHECK(few.front() == 0);
  CHECK(few.back() == 99);
  CHECK(rows_of(4096, 0).size() == 4096);
  CHECK(rows_of(9, 2) == std::vector<Index>{1, 3, 5, 7});
  const std::vector<Index> many = rows_of(10000, 0);
  REQUIRE(many.size() == 4096);
  CHECK(many.front() == 0);
  for (std::size_t i = 1; i < many.size(); ++i) {
    REQUIRE(many[i] - many[i - 1] >= 2);
    REQUIRE(many[i] - many[i - 1] <= 3);
  }
  CHECK(10000 - many.back() <= 3);
  for (const Index row : rows_of(20000, 4)) REQUIRE(row % 4 != 0);
}

TEST_CASE("links are those of networks fitted again without a sample of each row") {
  for (const bool several : {false, true}) {
    for (const bool weighted : {false, true}) {
      const RidgeProblem problem = ridge_problem(40, 8, several, weighted);
      const RowBlocks blocks(40, 16);
      const RowWeights weights = row_weights_of(problem, weighted);
      const Targets targets(several ? Task::several_labels : Task::one_label, problem.targets);
      const Calibration calibration(targets, weights, blocks);
      const Link expected = link_of_left_out(problem, 5, several, weighted);
      check_same(calibration.link(problem.state(5)), expected);

      // Grown by columns of Q = A L⁻ᵀ and their steps L⁻¹AᵀT.
      const MatrixD a = problem.weights.cwiseSqrt().asDiagonal() * problem.design;
      const MatrixD t = problem.weights.cwiseSqrt().asDiagonal() * problem.targets;
      const Eigen::LLT<MatrixD> factor(
          MatrixD(a.transpose() * a + problem.alpha * MatrixD::Identity(8, 8)));
      const MatrixD q = factor.matrixL().solve(a.transpose()).transpose();
      const MatrixD z = factor.matrixL().solve(a.transpose() * t);
      const std::vector<Link> links =
          calibration.links(problem.state(3), q.rightCols(5), z.bottomRows(5), {0, 2, 3, 5});
      REQUIRE(links.size() == 4);
      check_same(links[0], link_of_left_out(problem, 3, several, weighted));
      check_same(links[1], expected);
      check_same(links[2], link_of_left_out(problem, 6, several, weighted));
      check_same(links[3], link_of_left_out(problem, 8, several, weighted));
    }
  }
}

TEST_CASE("rows on two machines have the links of all rows on one") {
  for (const bool several : {false, true}) {
    const Index rows = 9000, cut = 2500;
    const RidgeProblem problem = ridge_problem(rows, 3, several, true);
    const CalibrationState state{0.3 * random_matrix(rows, 3, 8), VectorD::Constant(rows, 0.1)};
    const RowWeights all = row_weights_of(problem, true);
    const auto part = [&](Index first, Index count, const Reduction* reduction) {
      RowWeights weights;
      weights.roots = all.roots.segment(first, count);
      weights.left_out = all.left_out.segment(first, count);
      const RowBlocks blocks = RowBlocks(count, 64).completed_by(reduction);
      const Calibration calibration(Targets(several ? Task::several_labels : Task::one_label,
                                            problem.targets.middleRows(first, count)),
                                    weights, blocks);
      std::vector<Index> chosen = calibration.rows();
      for (Index& row : chosen) row += first;
      const CalibrationState own{state.residual(chosen, Eigen::all), state.leverage(chosen)};
      return std::make_pair(chosen, calibration.link(own));
    };
    const auto whole = part(0, rows, nullptr);
    const auto parts = on_two_machines([&](int machine, const Reduction& reduction) {
      return machine == 0 ? part(0, cut, &reduction) : part(cut, rows - cut, &reduction);
    });
    std::vector<Index> chosen = parts[0].first;
    chosen.insert(chosen.end(), parts[1].first.begin(), parts[1].first.end());
    CHECK(chosen == whole.first);
    for (const auto& own : parts) {
      CHECK(own.second.temperatures == whole.second.temperatures);
      CHECK(own.second.thresholds == whole.second.thresholds);
    }
  }
}
