#include "stagenets/targets.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "stagenets/quartiles.hpp"

namespace stagenets {
namespace {

using WeightedValues = std::vector<std::pair<double, double>>;

// Moves centre and scale to the median, and to the deviation of a normal distribution with the same median of
// |value − median|, unless that is zero.
void resist_outliers(WeightedValues values, double& center, double& scale) {
  constexpr double kDeviations = 1.4826;
  center = quartiles(values)[1];
  for (auto& [value, weight] : values) value = std::abs(value - center);
  const double typical = kDeviations * quartiles(values)[1];
  if (typical > 0) scale = typical;
}

}  // namespace

Center center_for(Loss loss) {
  return loss == Loss::huber || loss == Loss::bounded ? Center::median : Center::mean;
}

Targets::Targets(Task task, MatrixD values) : task_(task), values_(std::move(values)) {}

Targets Targets::of_labels(const std::vector<Index>& labels, Index classes) {
  MatrixD values = MatrixD::Zero(static_cast<Index>(labels.size()), classes);
  for (std::size_t i = 0; i < labels.size(); ++i) values(static_cast<Index>(i), labels[i]) = 1;
  return Targets(Task::one_label, std::move(values));
}

Targets Targets::of_rows(const std::vector<Index>& rows) const {
  return Targets(task_, values_(rows, Eigen::all));
}

TargetScaling Targets::scaling(const double* root_weights, const RowBlocks& blocks,
                               Center about) const {
  const Index q = outputs();
  TargetScaling scaling{Eigen::RowVectorXd::Zero(q), Eigen::RowVectorXd::Ones(q)};
  if (task_ != Task::numbers) return scaling;
  using Doubles = Eigen::ArrayXd;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Doubles weights = root_weights
                              ? Doubles(Eigen::Map<const Doubles>(root_weights, rows()).square())
                              : Doubles::Ones(rows());
  const double total = blocks.complete(weights.sum());
  VectorD least = VectorD::Constant(q, kInfinity), greatest = VectorD::Constant(q, -kInfinity);
  for (Index c = 0; rows() > 0 && c < q; ++c) {  // another process may have them all
    least[c] = (weights > 0).select(values_.col(c).array(), kInfinity).minCoeff();
    greatest[c] = (weights > 0).select(values_.col(c).array(), -kInfinity).maxCoeff();
  }
  blocks.complete_range(least, greatest);
  // In units of the range, squares of targets of size 1e±160 neither overflow nor vanish; and the mean of a constant
  // is that constant.
  const Doubles range = (greatest - least).array();
  const Doubles unit = (range > 0).select(range, 1.0);
  VectorD sums(q);
  for (Index c = 0; c < q; ++c) {
    sums[c] = (weights * ((values_.col(c).array() - least[c]) / unit[c])).sum();
  }
  blocks.complete(sums.data(), q);
  scaling.center = (least.array() + unit * sums.array() / total).matrix().transpose();
  for (Index c = 0; c < q; ++c) {
    // Of rows without weight the square may overflow.
    const Doubles far =
        (weights > 0).select((values_.col(c).array() - scaling.center[c]) / unit[c], 0.0);
    sums[c] = (weights * far.square()).sum();
  }
  blocks.complete(sums.data(), q);
  const Doubles deviation = unit * (sums.array() / total).sqrt();
  scaling.scale = (deviation > 0).select(deviation, 1.0).matrix().transpose();
  for (Index c = 0; about == Center::median && c < q; ++c) {
    WeightedValues column;
    for (Index i = 0; i < rows(); ++i) {
      if (weights[i] > 0) column.emplace_back(values_(i, c), weights[i]);
    }
    resist_outliers(std::move(column), scaling.center[c], scaling.scale[c]);
  }
  return scaling;
}

Targets Targets::scaled(const TargetScaling& scaling) const {
  if (task_ != Task::numbers) return *this;
  return Targets(task_,
                 (values_.rowwise() - scaling.center).array().rowwise() / scaling.scale.array());
}

}  // namespace stagenets
