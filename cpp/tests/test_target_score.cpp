// How good predictions are, against the definitions row by row.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "machines.hpp"
#include "random_matrix.hpp"
#include "stagenets/target_score.hpp"

using namespace stagenets;

namespace {

VectorD some_weights(Index rows) {
  return VectorD::NullaryExpr(rows, [](Index i) { return 0.5 * static_cast<double>(i % 4); });
}

double score(Task task, const MatrixD& targets, const MatrixD& scores, const VectorD& weights,
             Measure measure = Measure::usual) {
  const RowBlocks blocks(targets.rows(), 16);
  return TargetScore(Targets(task, targets), weights, blocks, measure).of(scores);
}

// The mean of right(row), by weight; all the same if there are none.
template <class Right>
double mean_over_rows(Index rows, const VectorD& weights, Right&& right) {
  long double sum = 0, total = 0;
  for (Index i = 0; i < rows; ++i) {
    const long double weight = weights.size() > 0 ? weights[i] : 1.0;
    sum += weight * right(i);
    total += weight;
  }
  return static_cast<double>(sum / total);
}

MatrixD some_labels(Index rows, Index classes) {
  MatrixD targets = MatrixD::Zero(rows, classes);
  for (Index i = 0; i < rows; ++i) targets(i, (i * i + 1) % classes) = 1;
  return targets;
}

MatrixD some_indicators(Index rows, Index labels) {
  return (random_matrix(rows, labels, 9).array() > 0.3).cast<double>();
}

// By weight: the middle one of sorted values, of an odd number of copies.
double median(const VectorD& values, const VectorD& weights) {
  std::vector<double> copies;
  for (Index i = 0; i < values.size(); ++i) {
    const double count = weights.size() > 0 ? 2 * weights[i] : 1;
    copies.insert(copies.end(), static_cast<std::size_t>(count), values[i]);
  }
  REQUIRE(copies.size() % 2 == 1);
  std::sort(copies.begin(), copies.end());
  return copies[copies.size() / 2];
}

}  // namespace

TEST_CASE("losses are compared by what they minimise") {
  for (const Task task : {Task::one_label, Task::several_labels, Task::numbers}) {
    CHECK(measure_for(Loss::squared, task) == Measure::usual);
    CHECK(measure_for(Loss::log, task) == Measure::likelihood);
    const Measure robust = task == Task::numbers ? Measure::absolute_errors : Measure::usual;
    CHECK(measure_for(Loss::huber, task) == robust);
    CHECK(measure_for(Loss::bounded, task) == robust);
  }
}

TEST_CASE("accuracy is the weight of the rows whose largest score is the label's") {
  const Index rows = 41;
  const MatrixD targets = some_labels(rows, 4), scores = random_matrix(rows, 4, 1) + targets;
  for (const VectorD& weights : {VectorD(), some_weights(rows)}) {
    const double expected = mean_over_rows(rows, weights, [&](Index i) {
      for (Index c = 0; c < 4; ++c) {
        if (scores(i, c) > scores.row(i).dot(targets.row(i))) return 0;
      }
      return 1;
    });
    CHECK(score(Task::one_label, targets, scores, weights) ==
          doctest::Approx(expected).epsilon(1e-14));
  }
}

TEST_CASE("of equal scores the first counts, and every row does") {
  const MatrixD targets = MatrixD::Identity(3, 3), equal = MatrixD::Zero(3, 3);
  CHECK(score(Task::one_label, targets, equal, {}) == doctest::Approx(1.0 / 3));
  const VectorD weights = Eigen::Vector3d(4, 2, 1);
  CHECK(score(Task::one_label, targets, equal, weights) == doctest::Approx(4.0 / 7));
  for (Index right = 0; right < 3; ++right) {  // all but one row are wrong
    MatrixD scores = MatrixD::Zero(3, 3);
    for (Index i = 0; i < 3; ++i) scores(i, i == right ? i : (i + 1) % 3) = 1;
    CHECK(score(Task::one_label, targets, scores, weights) == doctest::Approx(weights[right] / 7));
  }
}

TEST_CASE("rows of several labels are right if all labels are, those with scores above zero") {
  const Index rows = 60;
  const MatrixD targets = some_indicators(rows, 3);
  MatrixD scores = (targets.array() - 0.5).matrix() + 0.5 * random_matrix(rows, 3, 4);
  scores.row(0) = targets.row(0);  // zeros are not there
  for (const VectorD& weights : {VectorD(), some_weights(rows)}) {
    const double expected = mean_over_rows(rows, weights, [&](Index i) {
      for (Index c = 0; c < 3; ++c) {
        if ((scores(i, c) > 0) != (targets(i, c) == 1)) return 0;
      }
      return 1;
    });
    CHECK(expected > 0.1);
    CHECK(expected < 0.9);
    CHECK(score(Task::several_labels, targets, scores, weights) ==
          doctest::Approx(expected).epsilon(1e-14));
  }
}

TEST_CASE("the likelihood is that of the softmax, or of a sigmoid for each of several labels") {
  const Index rows = 37;
  const MatrixD scores = 3 * random_matrix(rows, 3, 2);
  for (const VectorD& weights : {VectorD(), some_weights(rows)}) {
    const MatrixD one = some_labels(rows, 3), several = some_indicators(rows, 3);
    const double of_one = mean_over_rows(rows, weights, [&](Index i) {
      long double sum = 0, own = 0;
      for (Index c = 0; c < 3; ++c) {
        sum += std::exp(static_cast<long double>(scores(i, c)));
        if (one(i, c) == 1) own = std::exp(static_cast<long double>(scores(i, c)));
      }
      return std::log(own / sum);
    });
    CHECK(score(Task::one_label, one, scores, weights, Measure::likelihood) ==
          doctest::Approx(of_one).epsilon(1e-13));
    const double of_several = mean_over_rows(rows, weights, [&](Index i) {
      long double sum = 0;
      for (Index c = 0; c < 3; ++c) {
        const long double chance = 1 / (1 + std::exp(-static_cast<long double>(scores(i, c))));
        sum += std::log(several(i, c) == 1 ? chance : 1 - chance);
      }
      return sum;
    });
    CHECK(score(Task::several_labels, several, scores, weights, Measure::likelihood) ==
          doctest::Approx(of_several).epsilon(1e-13));
  }
}

TEST_CASE("likelihoods of large scores neither overflow nor vanish") {
  MatrixD targets(2, 2), scores(2, 2);
  targets << 1, 0, 0, 1;
  scores << 2000, 0, 1500, -1500;
  CHECK(score(Task::one_label, targets, scores, {}, Measure::likelihood) ==
        doctest::Approx(-1500));  // 0 and −3000
  CHECK(score(Task::several_labels, targets, scores, {}, Measure::likelihood) ==
        doctest::Approx(-(std::log(2.0) + 3000) / 2));
}

TEST_CASE("R² is averaged over the outputs, by weight") {
  const Index rows = 33;
  const MatrixD targets = random_matrix(rows, 2, 5) * Eigen::Vector2d(1, 1e4).asDiagonal();
  const MatrixD scores = 0.7 * targets + random_matrix(rows, 2, 6);
  for (const VectorD& weights : {VectorD(), some_weights(rows)}) {
    double expected = 0;
    for (Index c = 0; c < 2; ++c) {
      const double mean = mean_over_rows(rows, weights, [&](Index i) { return targets(i, c); });
      const double errors = mean_over_rows(
          rows, weights, [&](Index i) { return std::pow(targets(i, c) - scores(i, c), 2); });
      const double spread =
          mean_over_rows(rows, weights, [&](Index i) { return std::pow(targets(i, c) - mean, 2); });
      expected += (1 - errors / spread) / 2;
    }
    CHECK(score(Task::numbers, targets, scores, weights) ==
          doctest::Approx(expected).epsilon(1e-12));
    for (const double size : {1e-160, 1e160}) {
      CHECK(score(Task::numbers, size * targets, size * scores, weights) ==
            doctest::Approx(expected).epsilon(1e-12));
    }
  }
}

TEST_CASE("scores that overflow are bad, but numbers") {
  const MatrixD targets = random_matrix(20, 1, 1);
  for (const double size : {1e160, 1e300, std::numeric_limits<double>::infinity()}) {
    MatrixD wild = targets;
    wild(3, 0) = size;
    const double found = score(Task::numbers, targets, wild, {});
    CHECK(std::isfinite(found));
    CHECK(found < -1e200);
    CHECK(std::isfinite(4 * found));
  }
}

TEST_CASE("a constant target is met exactly or not at all") {
  const MatrixD targets = MatrixD::Constant(6, 1, 2.5);
  MatrixD scores = targets;
  CHECK(score(Task::numbers, targets, scores, {}) == 1);
  scores(5, 0) += 1e-3;
  CHECK(score(Task::numbers, targets, scores, {}) == 0);
  MatrixD two(6, 2), guess(6, 2);
  two << targets, random_matrix(6, 1, 1);
  guess << scores, two.col(1);
  CHECK(score(Task::numbers, two, guess, {}) == 0.5);
}

TEST_CASE("absolute errors are compared with those of the median") {
  const Index rows = 35;
  MatrixD targets = random_matrix(rows, 2, 7);
  targets(4, 0) = 1e6;
  const MatrixD scores = 0.5 * targets + 0.1 * random_matrix(rows, 2, 8);
  VectorD some = some_weights(rows);
  some[0] = 1;  // an odd number of halves
  if (static_cast<int>(2 * some.sum()) % 2 == 0) some[0] = 0.5;
  for (const VectorD& weights : {VectorD(), some}) {
    double expected = 0;
    for (Index c = 0; c < 2; ++c) {
      const double middle = median(targets.col(c), weights);
      const double errors = mean_over_rows(
          rows, weights, [&](Index i) { return std::abs(targets(i, c) - scores(i, c)); });
      const double spread =
          mean_over_rows(rows, weights, [&](Index i) { return std::abs(targets(i, c) - middle); });
      expected += (1 - errors / spread) / 2;
    }
    CHECK(score(Task::numbers, targets, scores, weights, Measure::absolute_errors) ==
          doctest::Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("rows on two machines have the score of all rows on one") {
  const Index rows = 50, cut = 18;
  const VectorD weights = some_weights(rows);
  const MatrixD scores = random_matrix(rows, 3, 3);
  const auto check = [&](Task task, const MatrixD& targets, Measure measure) {
    const double whole = score(task, targets, scores, weights, measure);
    const auto parts = on_two_machines([&](int machine, const Reduction& reduction) {
      const Index first = machine == 0 ? 0 : cut, count = machine == 0 ? cut : rows - cut;
      const RowBlocks blocks = RowBlocks(count, 16).completed_by(&reduction);
      return TargetScore(Targets(task, targets.middleRows(first, count)),
                         weights.segment(first, count), blocks, measure)
          .of(scores.middleRows(first, count));
    });
    CHECK(parts[0] == doctest::Approx(whole).epsilon(1e-13));
    CHECK(parts[0] == parts[1]);
  };
  check(Task::one_label, some_labels(rows, 3), Measure::usual);
  check(Task::one_label, some_labels(rows, 3), Measure::likelihood);
  check(Task::several_labels, some_indicators(rows, 3), Measure::usual);
  check(Task::several_labels, some_indicators(rows, 3), Measure::likelihood);
  check(Task::numbers, random_matrix(rows, 3, 4), Measure::usual);
}
