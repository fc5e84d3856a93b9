#include "stagenets/row_loss.hpp"

#include <algorithm>
#include <numeric>

#include "stagenets/kernels.hpp"

namespace stagenets {
namespace {

using Array = Eigen::ArrayXXd;
using Values = Eigen::Ref<const MatrixD>;

// q of the bounded log-loss: that of the generalised cross-entropy of Zhang and Sabuncu (2018).
constexpr double kBend = 0.7;
// With these multiples of the scale, estimates of a normal mean keep 95 % of their efficiency.
constexpr double kHuber = 1.345, kBounded = 2.985;

// Turns losses into (1 − exp(−q ℓ))/q, and returns the weights exp(−q ℓ).
template <class Losses>
Losses bend(Losses& losses, double q) {
  const Losses weights = (-q * losses).exp();
  losses = (1 - weights) / q;
  return weights;
}

// The curvatures of a row are the eigenvalues of diag(p) − ppᵀ, of which one is zero.
RowLoss::Sums softmax_errors(MatrixD& scores, const Values& labels, bool bounded,
                             const BlockWeights& weights) {
  const VectorD largest = scores.rowwise().maxCoeff();
  scores = (-scores).colwise() + largest;
  Eigen::ArrayXd losses = scores.cwiseProduct(labels).rowwise().sum().array();
  kernels<double>().exponential(scores.data(), scores.size());
  const VectorD totals = scores.rowwise().sum();
  losses += totals.array().log();
  scores.array().colwise() /= totals.array();
  Eigen::ArrayXd curvatures =
      (1 - scores.array().square().rowwise().sum()) / static_cast<double>(labels.cols() - 1);
  scores = labels - scores;
  if (bounded) {
    const Eigen::ArrayXd slopes = bend(losses, kBend);
    scores.array().colwise() *= slopes;
    curvatures *= slopes;
  }
  return {weights.sum_of(losses.matrix()), weights.sum_of(curvatures.matrix())};
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
          weights.sum_of(curvatures.rowwise().mean().matrix())};
}

RowLoss::Sums number_errors(MatrixD& scores, const Values& targets, bool bounded,
                            const Eigen::RowVectorXd& scales, const BlockWeights& weights) {
  const Array errors = (targets - scores).array();
  Array losses = errors.square(), slopes(errors.rows(), errors.cols());
  for (Index c = 0; c < errors.cols(); ++c) {
    if (bounded) {
      const double most = kBounded * scales[c];
      Eigen::ArrayXd own = losses.col(c);
      slopes.col(c) = bend(own, 1 / (most * most));
      losses.col(c) = own;
    } else {
      const double most = kHuber * scales[c];
      const Eigen::ArrayXd sizes = errors.col(c).abs();
      slopes.col(c) = (sizes > most).select(most / sizes, 1.0);
      losses.col(c) = (sizes > most).select(2 * most * sizes - most * most, losses.col(c));
    }
  }
  scores = (2 * slopes * errors).matrix();
  return {weights.sum_of(losses.rowwise().sum().matrix()),
          weights.sum_of((2 * slopes).rowwise().mean().matrix())};
}

// The least value that at least half of the weight does not exceed: the same for a row of weight 3 and three rows.
double median(const VectorD& values, const double* roots) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return values[a] < values[b]; });
  const auto weight = [&](Index row) { return roots ? roots[row] * roots[row] : 1.0; };
  double total = 0, below = 0;
  for (const Index row : order) total += weight(row);
  for (const Index row : order) {
    below += weight(row);
    if (2 * below >= total) return values[row];
  }
  return values[order.back()];
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

double RowLoss::curvature_bound() const {
  if (task_ == Task::numbers) return 2;
  return task_ == Task::one_label ? 0.5 : 0.25;
}

double RowLoss::majorizing_penalty(double alpha) const {
  return (task_ == Task::numbers ? 2 : 1) * alpha / curvature_bound();
}

RowLoss::Sums RowLoss::to_errors(MatrixD& scores, const Values& targets,
                                 const BlockWeights& weights) const {
  const bool bounded = loss_ == Loss::bounded;
  if (task_ == Task::numbers) return number_errors(scores, targets, bounded, scales_, weights);
  return task_ == Task::one_label ? softmax_errors(scores, targets, bounded, weights)
                                  : sigmoid_errors(scores, targets, bounded, weights);
}

Eigen::RowVectorXd medians(const MatrixD& values, const double* roots) {
  Eigen::RowVectorXd found(values.cols());
  for (Index c = 0; c < values.cols(); ++c) found[c] = median(values.col(c), roots);
  return found;
}

Eigen::RowVectorXd typical_sizes(const MatrixD& values, const double* roots) {
  constexpr double kNormal = 1.4826;
  return kNormal * medians(values.cwiseAbs(), roots);
}

}  // namespace stagenets
