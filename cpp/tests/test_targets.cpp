// Targets and how they are scaled, against two-pass sums and sorted copies.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "machines.hpp"
#include "stagenets/targets.hpp"

using namespace stagenets;

namespace {

// Three columns about 3, −20 and 0, and roots of weights of which every fifth is zero.
MatrixD some_numbers(Index rows) {
  MatrixD values(rows, 3);
  for (Index i = 0; i < rows; ++i) {
    const double u = static_cast<double>((i * 37) % 101) / 101;
    values.row(i) << 3 + u, -20 - 5 * u * u, std::sin(9 * u);
  }
  return values;
}
VectorD some_roots(Index rows) {
  return VectorD::NullaryExpr(rows, [](Index i) { return std::sqrt(static_cast<double>(i % 5)); });
}

TargetScaling mean_and_deviation(const MatrixD& values, const VectorD& weights) {
  TargetScaling expected{Eigen::RowVectorXd::Zero(values.cols()),
                         Eigen::RowVectorXd::Zero(values.cols())};
  for (Index c = 0; c < values.cols(); ++c) {
    long double total = 0, sum = 0, squares = 0;
    for (Index i = 0; i < values.rows(); ++i) {
      total += weights[i];
      sum += static_cast<long double>(weights[i]) * values(i, c);
    }
    for (Index i = 0; i < values.rows(); ++i) {
      squares += weights[i] * std::pow(values(i, c) - sum / total, 2);
    }
    expected.center[c] = static_cast<double>(sum / total);
    expected.scale[c] = static_cast<double>(std::sqrt(squares / total));
  }
  return expected;
}

// The middle one of the values, each repeated by its weight; there is an odd number of them.
double median_of_copies(const VectorD& values, const VectorD& weights) {
  std::vector<double> copies;
  for (Index i = 0; i < values.size(); ++i)
    copies.insert(copies.end(), std::size_t(weights[i]), values[i]);
  REQUIRE(copies.size() % 2 == 1);
  std::sort(copies.begin(), copies.end());
  return copies[copies.size() / 2];
}

TargetScaling scaling_of(const MatrixD& values, const double* roots, Center about = Center::mean) {
  return Targets(Task::numbers, values).scaling(roots, RowBlocks(values.rows(), 16), about);
}

void check_close(const Eigen::RowVectorXd& actual, const Eigen::RowVectorXd& expected) {
  for (Index c = 0; c < expected.size(); ++c) {
    CHECK(actual[c] == doctest::Approx(expected[c]).epsilon(1e-13));
  }
}

}  // namespace

TEST_CASE("losses that resist outliers scale about the median") {
  CHECK(center_for(Loss::squared) == Center::mean);
  CHECK(center_for(Loss::log) == Center::mean);
  CHECK(center_for(Loss::huber) == Center::median);
  CHECK(center_for(Loss::bounded) == Center::median);
}

TEST_CASE("labels are coded as ones among zeros") {
  const std::vector<Index> labels{2, 0, 1, 1, 3, 0};
  const Targets targets = Targets::of_labels(labels, 4);
  CHECK(targets.task() == Task::one_label);
  CHECK(targets.rows() == 6);
  CHECK(targets.outputs() == 4);
  CHECK(targets.values().sum() == 6);
  for (Index i = 0; i < 6; ++i) {
    CHECK(targets.values()(i, labels[std::size_t(i)]) == 1);
  }
  const Targets some = targets.of_rows({4, 0, 4});
  CHECK(some.task() == Task::one_label);
  CHECK(some.rows() == 3);
  CHECK(some.values()(0, 3) == 1);
  CHECK(some.values()(1, 2) == 1);
  CHECK(some.values()(2, 3) == 1);
}

TEST_CASE("numbers are scaled to mean zero and deviation one, by weight") {
  const MatrixD values = some_numbers(57);
  const VectorD roots = some_roots(57);
  for (const bool weighted : {false, true}) {
    const VectorD weights = weighted ? VectorD(roots.cwiseAbs2()) : VectorD(VectorD::Ones(57));
    const TargetScaling expected = mean_and_deviation(values, weights);
    const TargetScaling scaling = scaling_of(values, weighted ? roots.data() : nullptr);
    check_close(scaling.center, expected.center);
    check_close(scaling.scale, expected.scale);
    const MatrixD scaled = Targets(Task::numbers, values).scaled(scaling).values();
    CHECK((weights.transpose() * scaled).norm() < 1e-12 * weights.sum());
    const Eigen::RowVectorXd squares = weights.transpose() * scaled.cwiseAbs2();
    check_close(squares / weights.sum(), Eigen::RowVectorXd::Ones(3));
    const MatrixD back =
        (scaled.array().rowwise() * scaling.scale.array()).rowwise() + scaling.center.array();
    CHECK((back - values).norm() < 1e-12 * values.norm());
  }
}

TEST_CASE("rows without weight have no say in the scale") {
  MatrixD values = some_numbers(40);
  const VectorD roots = some_roots(40);
  for (const Center about : {Center::mean, Center::median}) {
    const TargetScaling before = scaling_of(values, roots.data(), about);
    for (Index i = 0; i < 40; i += 5) values.row(i) << 1e9, -1e9, 1e200;
    const TargetScaling after = scaling_of(values, roots.data(), about);
    CHECK(after.center == before.center);
    CHECK(after.scale == before.scale);
  }
}

TEST_CASE("the mean of a constant is that constant, and its scale is one") {
  MatrixD values = MatrixD::Constant(11, 2, 0.1);
  values.col(1).setConstant(-3e150);
  const VectorD roots = VectorD::Constant(11, std::sqrt(3.0));
  for (const Center about : {Center::mean, Center::median}) {
    for (const double* weights : {static_cast<const double*>(nullptr), roots.data()}) {
      const TargetScaling scaling = scaling_of(values, weights, about);
      CHECK(scaling.center == values.row(0));
      CHECK(scaling.scale == Eigen::RowVectorXd::Ones(2));
    }
  }
}

TEST_CASE("targets of any size are scaled alike") {
  const MatrixD values = some_numbers(30);
  const TargetScaling plain = scaling_of(values, nullptr);
  for (const double size : {1e-160, 1e160}) {
    const TargetScaling scaling = scaling_of(size * values, nullptr);
    check_close(scaling.center / size, plain.center);
    check_close(scaling.scale / size, plain.scale);
  }
}

TEST_CASE("about the median, the scale is that of a normal distribution with these quartiles") {
  MatrixD values = some_numbers(43);
  values.row(7) << 1e6, -1e7, 1e5;  // outliers
  VectorD weights = VectorD::NullaryExpr(43, [](Index i) { return static_cast<double>(i % 4); });
  if (static_cast<int>(weights.sum()) % 2 == 0) weights[1] = 2;  // an odd sum, not on a value's end
  for (const bool weighted : {false, true}) {
    const VectorD own = weighted ? weights : VectorD(VectorD::Ones(43));
    const VectorD roots = own.cwiseSqrt();
    const TargetScaling scaling =
        scaling_of(values, weighted ? roots.data() : nullptr, Center::median);
    for (Index c = 0; c < 3; ++c) {
      const double median = median_of_copies(values.col(c), own);
      const double typical = median_of_copies((values.col(c).array() - median).abs().matrix(), own);
      CHECK(scaling.center[c] == median);
      // The normal distribution function is 3/4 at 1 / 1.4826.
      CHECK(scaling.scale[c] == doctest::Approx(typical / 0.674489750196082).epsilon(1e-5));
    }
  }
}

TEST_CASE("where most targets are equal, the deviation remains the scale") {
  VectorD values = VectorD::Constant(9, 4);
  values[0] = 1;
  values[5] = 8;
  const TargetScaling scaling = scaling_of(values, nullptr, Center::median);
  CHECK(scaling.center[0] == 4);
  CHECK(scaling.scale[0] ==
        doctest::Approx(mean_and_deviation(values, VectorD::Ones(9)).scale[0]).epsilon(1e-14));
}

TEST_CASE("labels are left as they are") {
  for (const Task task : {Task::one_label, Task::several_labels}) {
    const Targets targets(task, some_numbers(8));
    const TargetScaling scaling = targets.scaling(nullptr, RowBlocks(8, 8));
    CHECK(scaling.center == Eigen::RowVectorXd::Zero(3));
    CHECK(scaling.scale == Eigen::RowVectorXd::Ones(3));
    const TargetScaling other{Eigen::RowVectorXd::Ones(3), Eigen::RowVectorXd::Constant(3, 2)};
    CHECK(targets.scaled(other).values() == targets.values());
  }
}

TEST_CASE("rows on two machines are scaled like all rows on one, even if one has them all") {
  const MatrixD values = some_numbers(50);
  const VectorD roots = some_roots(50);
  const TargetScaling whole = scaling_of(values, roots.data());
  for (const Index cut : {0, 20, 50}) {
    const auto parts = on_two_machines([&](int machine, const Reduction& reduction) {
      const Index first = machine == 0 ? 0 : cut, count = machine == 0 ? cut : 50 - cut;
      return Targets(Task::numbers, values.middleRows(first, count))
          .scaling(roots.data() + first, RowBlocks(count, 16).completed_by(&reduction));
    });
    for (const TargetScaling& part : parts) {
      check_close(part.center, whole.center);
      check_close(part.scale, whole.scale);
    }
  }
}
