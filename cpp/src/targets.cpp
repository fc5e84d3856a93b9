#include "stagenets/targets.hpp"

#include <limits>
#include <utility>

namespace stagenets {
Targets::Targets(Task task, MatrixD values) : task_(task), values_(std::move(values)) {}

Targets Targets::of_labels(const std::vector<Index>& labels, Index classes) {
  MatrixD values = MatrixD::Zero(static_cast<Index>(labels.size()), classes);
  for (std::size_t i = 0; i < labels.size(); ++i) values(static_cast<Index>(i), labels[i]) = 1;
  return Targets(Task::one_label, std::move(values));
}

Index Targets::label(Index row) const {
  Index column;
  values_.row(row).maxCoeff(&column);
  return column;
}

Targets Targets::of_rows(const std::vector<Index>& rows) const {
  return Targets(task_, values_(rows, Eigen::all));
}

TargetScaling Targets::scaling(const double* root_weights, const RowBlocks& blocks) const {
  const Index q = outputs();
  TargetScaling scaling{Eigen::RowVectorXd::Zero(q), Eigen::RowVectorXd::Ones(q)};
  if (task_ != Task::numbers) return scaling;
  using Doubles = Eigen::ArrayXd;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Doubles weights = root_weights
                              ? Doubles(Eigen::Map<const Doubles>(root_weights, rows()).square())
                              : Doubles::Ones(rows());
  const double total = blocks.complete(weights.sum());
  VectorD least(q), greatest(q);
  for (Index c = 0; c < q; ++c) {
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
    sums[c] = (weights * ((values_.col(c).array() - scaling.center[c]) / unit[c]).square()).sum();
  }
  blocks.complete(sums.data(), q);
  const Doubles deviation = unit * (sums.array() / total).sqrt();
  scaling.scale = (deviation > 0).select(deviation, 1.0).matrix().transpose();
  return scaling;
}

Targets Targets::scaled(const TargetScaling& scaling) const {
  if (task_ != Task::numbers) return *this;
  return Targets(task_,
                 (values_.rowwise() - scaling.center).array().rowwise() / scaling.scale.array());
}

}  // namespace stagenets
