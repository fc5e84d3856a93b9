#include "stagenets/row_loss.hpp"

#include "stagenets/kernels.hpp"

namespace stagenets {
namespace {

using Labels = Eigen::Ref<const MatrixD>;

// The curvatures of a row are the eigenvalues of diag(p) − ppᵀ, of which one is zero.
RowLoss::Sums softmax_errors(MatrixD& scores, const Labels& labels, const BlockWeights& weights) {
  const VectorD largest = scores.rowwise().maxCoeff();
  scores = (-scores).colwise() + largest;
  VectorD losses = scores.cwiseProduct(labels).rowwise().sum();
  kernels<double>().exponential(scores.data(), scores.size());
  const VectorD totals = scores.rowwise().sum();
  losses.array() += totals.array().log();
  scores.array().colwise() /= totals.array();
  const VectorD left = (1 - scores.array().square().rowwise().sum()).matrix();
  scores = labels - scores;
  return {weights.sum_of(losses), weights.sum_of(left) / static_cast<double>(labels.cols() - 1)};
}

// With m the margin, ±score, the loss is log(1 + exp(−m)), and the error ±1 / (1 + exp(m)).
RowLoss::Sums sigmoid_errors(MatrixD& scores, const Labels& labels, const BlockWeights& weights) {
  const MatrixD signs = (2 * labels.array() - 1).matrix();
  const MatrixD margins = scores.cwiseProduct(signs);
  MatrixD powers = margins.cwiseAbs();
  kernels<double>().exponential(powers.data(), powers.size());  // exp(−|m|)
  const Eigen::ArrayXXd losses_of = (-margins.array()).max(0.0) + powers.array().log1p();
  const VectorD losses = losses_of.rowwise().sum().matrix();
  const Eigen::ArrayXXd wrong =
      (margins.array() > 0).select(powers.array(), 1.0) / (1 + powers.array());
  const VectorD curvatures = (wrong * (1 - wrong)).rowwise().mean().matrix();
  scores = (signs.array() * wrong).matrix();
  return {weights.sum_of(losses), weights.sum_of(curvatures)};
}

}  // namespace

void BlockWeights::scale(MatrixD& rows) const {
  if (roots_.size() > 0) rows = roots_.asDiagonal() * rows;
}

void BlockWeights::unscale(MatrixD& rows) const {
  if (roots_.size() == 0) return;
  const VectorD inverse = (roots_.array() != 0).select(roots_.array().inverse(), 0);
  rows = inverse.asDiagonal() * rows;
}

VectorD RowLoss::mean_curvatures(const MatrixD& errors, const Labels& targets) const {
  if (task_ == Task::one_label) {
    const VectorD squares = (targets - errors).rowwise().squaredNorm();
    return (1 - squares.array()).max(0.0) / static_cast<double>(targets.cols() - 1);
  }
  return (errors.array().abs() * (1 - errors.array().abs())).rowwise().mean();
}

RowLoss::Sums RowLoss::to_errors(MatrixD& scores, const Labels& targets,
                                 const BlockWeights& weights) const {
  return task_ == Task::one_label ? softmax_errors(scores, targets, weights)
                                  : sigmoid_errors(scores, targets, weights);
}

}  // namespace stagenets
