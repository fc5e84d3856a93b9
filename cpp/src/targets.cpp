#include "stagenets/targets.hpp"

#include <limits>
#include <utility>

namespace stagenets {
namespace {

// The column of the largest value of each row, the first of equals; column by column, as the matrix is stored.
std::vector<Index> largest_columns(const MatrixD& values) {
  const Index rows = values.rows();
  std::vector<Index> columns(static_cast<std::size_t>(rows), 0);
  VectorD largest = values.col(0);
  for (Index c = 1; c < values.cols(); ++c) {
    for (Index i = 0; i < rows; ++i) {
      if (!(values(i, c) > largest[i])) continue;
      largest[i] = values(i, c);
      columns[static_cast<std::size_t>(i)] = c;
    }
  }
  return columns;
}

double r_squared(const MatrixD& targets, const MatrixD& scores, const VectorD& weights) {
  double sum = 0;
  for (Index c = 0; c < targets.cols(); ++c) {
    const double mean = targets.col(c).dot(weights) / weights.sum();
    const double error = (targets.col(c) - scores.col(c)).cwiseAbs2().dot(weights);
    const double spread = (targets.col(c).array() - mean).matrix().cwiseAbs2().dot(weights);
    // scikit-learn's convention for a constant target.
    sum += spread > 0 ? 1 - error / spread : error > 0 ? 0.0 : 1.0;
  }
  return sum / static_cast<double>(targets.cols());
}

}  // namespace

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

double Targets::score(const MatrixD& scores, const VectorD& given_weights) const {
  const VectorD weights = given_weights.size() > 0 ? given_weights : VectorD::Ones(rows());
  if (task_ == Task::numbers) return r_squared(values_, scores, weights);
  double right = 0;
  if (task_ == Task::one_label) {
    const std::vector<Index> wanted = largest_columns(values_), given = largest_columns(scores);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] == given[i]) right += weights[static_cast<Index>(i)];
    }
  } else {
    for (Index i = 0; i < rows(); ++i) {
      const bool all = ((scores.row(i).array() > 0) == (values_.row(i).array() > 0.5)).all();
      if (all) right += weights[i];
    }
  }
  return right / weights.sum();
}

double Targets::log_likelihood(const MatrixD& scores, const VectorD& given_weights) const {
  const VectorD weights = given_weights.size() > 0 ? given_weights : VectorD::Ones(rows());
  double sum = 0;
  for (Index i = 0; i < rows(); ++i) {
    const auto row = scores.row(i).array();
    const auto wanted = values_.row(i).array();
    if (task_ == Task::one_label) {
      const double most = row.maxCoeff();
      sum += weights[i] * ((row * wanted).sum() - most - std::log((row - most).exp().sum()));
    } else {  // log σ(s) of labels that are there, log σ(−s) of the others
      const auto against = ((1 - 2 * wanted) * row).eval();
      sum -= weights[i] * (against.max(0.0) + (-against.abs()).exp().log1p()).sum();
    }
  }
  return sum / weights.sum();
}

}  // namespace stagenets
