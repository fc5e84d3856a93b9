#include "stagenets/majorized_readout.hpp"

#include <cmath>

#include "stagenets/calibration.hpp"
#include "stagenets/products.hpp"

namespace stagenets {
namespace {

// Of the first scale: a network that fits most rows exactly is no reason to ignore all others.
constexpr double kLeastScale = 1e-3;

}  // namespace

template <class Scalar>
MajorizedReadout<Scalar>::MajorizedReadout(const RidgeFactor<Scalar>& factor,
                                           const Targets& targets, Loss loss,
                                           const RowWeights& weights, const VectorD& leverage,
                                           const RowBlocks& blocks, Team& team)
    : factor_(factor),
      targets_(targets),
      roots_(weights.root_data()),
      left_out_(weights.left_out_data()),
      leverage_(leverage),
      blocks_(blocks),
      team_(team),
      loss_(loss, targets.task()),
      bound_(loss_.curvature_bound()),
      theta_(MatrixD::Zero(0, targets.outputs())),
      scores_(blocks, targets.outputs()),
      errors_(blocks, targets.outputs()),
      memory_(1 / bound_),
      total_weight_(
          blocks.complete(roots_ ? Eigen::Map<const VectorD>(roots_, targets.rows()).squaredNorm()
                                 : static_cast<double>(targets.rows()))) {
  if (loss_.has_scales()) {
    // A target that is the same in more than half of the rows has its deviation for a scale, which is one.
    const Eigen::RowVectorXd found =
        typical_sizes(targets.values().rowwise() - medians(targets.values(), roots_), roots_);
    loss_.set_scales((found.array() > 0).select(found, 1.0));
    least_scales_ = kLeastScale * loss_.scales();
  }
  move_to(theta_);
  grow(factor.fixed_width());
  refit_if_due();
}

// Errors of a block from its scores; adds its loss, the energy of its scores and its curvature to the sums.
template <class Scalar>
void MajorizedReadout<Scalar>::measure_block(Index block, double* sums) {
  const RowRange range = blocks_.block(block);
  const BlockWeights weights(roots_, range);
  MatrixD scores = scores_.block(block, 0, outputs()).template cast<double>();
  sums[1] += scores.squaredNorm();
  weights.unscale(scores);
  const RowLoss::Sums found =
      loss_.to_errors(scores, targets_.values().middleRows(range.first, range.count), weights);
  sums[0] += found.loss;
  sums[2] += found.curvature;
  weights.scale(scores);
  errors_.block(block, 0, outputs()) = scores.template cast<Scalar>();
}

template <class Scalar>
void MajorizedReadout<Scalar>::measured(const double* sums) {
  total_loss_ = sums[0];
  objective_ = total_loss_ + bound_ / 2 * std::max(0.0, theta_.squaredNorm() - sums[1]);
  curvature_ = sums[2];
}

template <class Scalar>
void MajorizedReadout<Scalar>::grow(Index count) {
  const Index first = width(), q = outputs();
  const RowBlocks blocks = blocks_.for_sums(count * q);
  const VectorD total = blocks.sum(team_, count * q, [&](double* sums, Index b, int) {
    const Matrix<Scalar> working =
        scores_.block(b, 0, q) + static_cast<Scalar>(1 / bound_) * errors_.block(b, 0, q);
    add_transposed_product(factor_.columns(b, first, count), working,
                           matrix_map(sums, count, q, count));
  });
  const Eigen::Map<const MatrixD> step(total.data(), count, q);
  theta_.conservativeResize(first + count, q);
  theta_.bottomRows(count) = step;
  memory_.grow(count);
  const Matrix<Scalar> minus_step = -step.template cast<Scalar>();
  const VectorD measures = blocks_.sum(team_, kSums, [&](double* sums, Index b, int) {
    subtract_product(factor_.columns(b, first, count), minus_step, scores_.block(b, 0, q));
    measure_block(b, sums);
  });
  measured(measures.data());
}

template <class Scalar>
MatrixD MajorizedReadout<Scalar>::move_to(const MatrixD& theta) {
  const Index d = theta.rows(), q = outputs(), size = d * q;
  const Matrix<Scalar> minus_theta = -theta.template cast<Scalar>();
  const RowBlocks blocks = blocks_.for_sums(size + kSums);
  const VectorD total = blocks.sum(team_, size + kSums, [&](double* sums, Index b, int) {
    MatrixMap<Scalar> scores = scores_.block(b, 0, q);
    scores.setZero();
    if (d > 0) subtract_product(factor_.columns(b, 0, d), minus_theta, scores);
    measure_block(b, sums + size);
    if (d == 0) return;
    const Matrix<Scalar> pull = -(errors_.block(b, 0, q) + static_cast<Scalar>(bound_) * scores);
    add_transposed_product(factor_.columns(b, 0, d), pull, matrix_map(sums, d, q, d));
  });
  theta_ = theta;
  measured(total.data() + size);
  return Eigen::Map<const MatrixD>(total.data(), d, q) + bound_ * theta_;
}

// Every step lowers the objective: a direction that does not is replaced by the majorising step, which must. Ends when
// a step would lower it by less than the given fraction, as far as the memory can tell.
template <class Scalar>
void MajorizedReadout<Scalar>::improve(double tolerance, int most_steps) {
  MatrixD start = theta_;
  MatrixD gradient = move_to(start);
  double before = objective_;
  for (int step = 0; step < most_steps; ++step) {
    MatrixD direction = memory_.direction(gradient);
    const double slope = gradient.cwiseProduct(direction).sum();
    if (-slope / 2 <= tolerance * before) return;
    MatrixD next = move_to(start + direction);
    if (!(objective_ < before + 1e-4 * slope)) {
      memory_.forget();
      direction = -gradient / bound_;
      next = move_to(start + direction);
      if (!(objective_ < before)) {  // at the limit of rounding
        move_to(start);
        return;
      }
    }
    memory_.remember(direction, next - gradient);
    start += direction;
    gradient = std::move(next);
    before = objective_;
  }
}

// What is an outlier is seen better the more the network explains. The scales become those of the errors on rows left
// out, and never larger, so that the objective falls with them.
template <class Scalar>
void MajorizedReadout<Scalar>::shrink_scales() {
  if (!loss_.has_scales()) return;
  MatrixD errors = targets_.values();
  for (Index b = 0; b < blocks_.blocks(); ++b) {
    const RowRange range = blocks_.block(b);
    MatrixD scores = scores_.block(b, 0, outputs()).template cast<double>();
    BlockWeights(roots_, range).unscale(scores);
    errors.middleRows(range.first, range.count) -= scores;
  }
  for (Index i = 0; i < errors.rows(); ++i) {
    errors.row(i) *= loo_growth(leverage_[i] * (left_out_ ? left_out_[i] : 1.0));
  }
  const Eigen::RowVectorXd found = typical_sizes(errors, roots_).cwiseMax(least_scales_);
  loss_.set_scales(loss_.scales().cwiseMin(found));
}

template <class Scalar>
void MajorizedReadout<Scalar>::working_errors(Panels<Scalar>& into) const {
  for (Index b = 0; b < blocks_.blocks(); ++b) {
    into.block(b, 0, outputs()) = errors_.block(b, 0, outputs()) / static_cast<Scalar>(bound_);
  }
}

template <class Scalar>
void MajorizedReadout<Scalar>::refit_if_due() {
  constexpr double kGrowth = 1.1, kTolerance = 1e-3;
  constexpr int kSteps = 3;
  if (static_cast<double>(width()) < kGrowth * static_cast<double>(last_refit_)) return;
  last_refit_ = width();
  shrink_scales();
  improve(kTolerance, kSteps);
}

template <class Scalar>
void MajorizedReadout<Scalar>::converge() {
  constexpr double kTolerance = 1e-8;
  constexpr int kSteps = 500;
  shrink_scales();
  improve(kTolerance, kSteps);
}

template <class Scalar>
void MajorizedReadout<Scalar>::return_to(const Snapshot& snapshot) {
  memory_ = snapshot.memory;
  last_refit_ = snapshot.last_refit;
  loss_.set_scales(snapshot.scales);
  move_to(snapshot.theta);
}

// One Newton step back from the full fit: without row i, its scores change by −aᵀH⁻¹a times its error, where H is the
// Hessian over the other rows. For the curvature κ in every row, aᵀH⁻¹a is h / ((1 − h) κ) with the leverage h of the
// factor; the rows have the mean curvature w̄ instead, so it is about h / ((1 − h) w̄).
template <class Scalar>
typename MajorizedReadout<Scalar>::LeftOut MajorizedReadout<Scalar>::left_out() const {
  constexpr double kLeast = 1e-6;
  const double mean = std::max(curvature_ / total_weight_, kLeast);
  const VectorD sums = blocks_.sum(team_, 2, [&](double* into, Index b, int) {
    const RowRange range = blocks_.block(b);
    const auto labels = targets_.values().middleRows(range.first, range.count);
    const VectorD influence = VectorD::NullaryExpr(range.count, [&](Index i) {
      const double lost = leverage_[range[i]] * (left_out_ ? left_out_[range[i]] : 1.0);
      return lost * loo_growth(lost) / mean;
    });
    MatrixD scores =
        scores_.block(b, 0, outputs()).template cast<double>() -
        influence.asDiagonal() * errors_.block(b, 0, outputs()).template cast<double>();
    const BlockWeights weights(roots_, range);
    weights.unscale(scores);
    const VectorD own = scores.cwiseProduct(labels).rowwise().sum();
    const VectorD largest = scores.rowwise().maxCoeff();
    const VectorD right = (own.array() >= largest.array()).select(VectorD::Ones(range.count), 0);
    into[0] += loss_.to_errors(scores, labels, weights).loss;
    into[1] += weights.sum_of(right);
  });
  return {sums[0] / total_weight_, sums[1] / total_weight_};
}

template class MajorizedReadout<float>;
template class MajorizedReadout<double>;

}  // namespace stagenets
