#include "stagenets/row_loss.hpp"

#include <algorithm>
#include <cmath>

#include "stagenets/kernels.hpp"

namespace stagenets {
namespace {

using Values = Eigen::Ref<const MatrixD>;
using Array = Eigen::ArrayXXd;
using Row = Eigen::RowVectorXd;

// b of bounded losses of labels: that of Zhang and Sabuncu (2018).
constexpr double kBend = 0.7;
// ε, its E min(z², ε²) for normal z, and m: for either loss, 95 % of the efficiency of least squares.
constexpr double kClip = 1.345, kNormal = 0.7101645, kMost = 2.985 * 2.985;

// Bends losses to (1 − exp(−b ℓ)) / b and returns the factors of their slopes, exp(−b ℓ).
Array bend(Array& losses, double b) {
  const Array slopes = (-b * losses).exp();
  losses = (1 - slopes) / b;
  return slopes;
}

// The curvatures of a row are the eigenvalues of diag(p) − ppᵀ, of which one is zero.
RowLoss::Sums softmax_errors(MatrixD& scores, const Values& labels, bool bounded,
                             const BlockWeights& weights) {
  const Index rows = scores.rows();
  VectorD gaps(rows), totals(rows), squares(rows);
  kernels<double>().softmax({rows, scores.cols(), scores.data(), scores.outerStride(),
                             labels.data(), labels.outerStride(), gaps.data(), totals.data(),
                             squares.data()});
  Array losses = gaps.array() + totals.array().log();
  Array left = 1 - squares.array();
  if (bounded) {
    const Array slopes = bend(losses, kBend);
    scores.array().colwise() *= slopes.col(0);
    left *= slopes;
  }
  return {weights.sum_of(losses.matrix()),
          2 * weights.sum_of(left.matrix()) / static_cast<double>(labels.cols() - 1),
          weights.sum_of((gaps.array() <= 0).cast<double>().matrix())};
}

// With m the margin, ±score, the loss is log(1 + exp(−m)), and the error ±1 / (1 + exp(m)).
RowLoss::Sums sigmoid_errors(MatrixD& scores, const Values& labels, bool bounded,
                             const BlockWeights& weights) {
  const Array signs = 2 * labels.array() - 1;
  const Array margins = scores.array() * signs;
  MatrixD powers = margins.abs().matrix();
  kernels<double>().exponential(powers.data(), powers.size());  // exp(−|m|)
  Array losses = (-margins).max(0.0) + powers.array().log1p();
  const Array wrong = (margins > 0).select(powers.array(), 1.0) / (1 + powers.array());
  Array curvatures = wrong * (1 - wrong);
  Array errors = signs * wrong;
  if (bounded) {
    const Array slopes = bend(losses, kBend);
    errors *= slopes;
    curvatures *= slopes;
  }
  scores = errors.matrix();
  return {weights.sum_of(losses.rowwise().sum().matrix()),
          4 * weights.sum_of(curvatures.rowwise().mean().matrix())};
}

RowLoss::Sums number_errors(MatrixD& scores, const Values& targets, bool bounded, const Row& scales,
                            const BlockWeights& weights) {
  const Array errors = (targets - scores).array().rowwise() / scales.array();
  Array losses = errors.square(), curvatures;
  if (bounded) {
    curvatures = bend(losses, 1 / kMost);
    scores = (2 * errors * curvatures).matrix();
  } else {
    const Array sizes = errors.abs();
    losses = (sizes > kClip).select(kClip * (2 * sizes - kClip), losses);
    curvatures = (sizes > kClip).select(0.0, Array::Ones(errors.rows(), errors.cols()));
    scores = (2 * errors.max(-kClip).min(kClip)).matrix();
  }
  const VectorD totals = (losses + kNormal).matrix() * scales.transpose();
  return {weights.sum_of(totals), weights.sum_of(curvatures.rowwise().mean().matrix())};
}

double bound_of(Task task) { return task == Task::one_label ? 0.5 : 0.25; }

}  // namespace

void BlockWeights::scale(MatrixD& rows) const {
  if (roots_.size() > 0) rows = roots_.asDiagonal() * rows;
}

void BlockWeights::unscale(MatrixD& rows) const {
  if (roots_.size() == 0) return;
  const VectorD inverse = (roots_.array() != 0).select(roots_.array().inverse(), 0);
  rows = inverse.asDiagonal() * rows;
}

double majorizing_penalty(Task task, double alpha) {
  return task == Task::numbers ? alpha : alpha / bound_of(task);
}

Row RowLoss::curvature_bounds() const {
  if (task_ == Task::numbers) return 2 * scales_.cwiseInverse();
  return Row::Constant(scales_.size(), bound_of(task_));
}

RowLoss::Sums RowLoss::to_errors(MatrixD& scores, const Values& targets,
                                 const BlockWeights& weights) const {
  switch (task_) {
    case Task::one_label: return softmax_errors(scores, targets, bounded_, weights);
    case Task::several_labels: return sigmoid_errors(scores, targets, bounded_, weights);
    case Task::numbers: break;
  }
  return number_errors(scores, targets, bounded_, scales_, weights);
}

RowLoss::ScaleSums RowLoss::scale_sums(const MatrixD& scores, const Values& targets,
                                       const BlockWeights& weights, const Row& scales) {
  const Array squares = (targets - scores).array().square();
  const Array limits = (kClip * scales).array().square().replicate(squares.rows(), 1);
  return {weights.sums_of((squares > limits).select(0.0, squares).matrix()),
          weights.sums_of((squares > limits).cast<double>().matrix())};
}

Row RowLoss::next_scales(const ScaleSums& sums, const Row& penalties, double total_weight) {
  constexpr double kLeast = 1e-6;  // of the targets' scale, where all errors vanish
  using RowArray = Eigen::Array<double, 1, Eigen::Dynamic>;
  const RowArray room = kNormal * total_weight - kClip * kClip * sums.beyond.array();
  const RowArray squares = (sums.within + penalties).array() / room;
  return (room > 0).select(squares, 0.0).sqrt().max(kLeast).matrix();
}

}  // namespace stagenets
