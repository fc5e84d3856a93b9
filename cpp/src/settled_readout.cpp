// The end of a majorised readout: Newton's method, until the step left is a matter of rounding. Iterations that stop at a
// tolerance end where the rounding of sums leads them, so that rows added up in another order, as on a cluster, would
// give another readout.
//
// With the chances P of the labels, the Hessian maps a direction V, by U = QV, to QᵀDU + κ(V − QᵀU), where D is the
// curvature of the loss in each row. Steps solve it by conjugate gradients, a pass over the rows for each iteration,
// preconditioned by the Hessian of each output by itself, κI − Qᵀ diag(κ − d) Q with its diagonal d of D; that takes as
// many passes as there are outputs, of BLAS-3 work, and then few iterations, however small the penalty.
#include <algorithm>
#include <cmath>

#include "stagenets/majorized_readout.hpp"
#include "stagenets/products.hpp"

namespace stagenets {
namespace {

double dot(const MatrixD& a, const MatrixD& b) { return a.cwiseProduct(b).sum(); }

}  // namespace

// Scores of one label do not change its chances when a constant is added to those of a row, so the optimum has rows of
// coordinates that sum to zero. Steps keep to these; rounding would wander off where next to nothing pulls it back.
template <class Scalar>
MatrixD MajorizedReadout<Scalar>::centered(MatrixD rows) const {
  if (targets_.task() == Task::one_label) {
    const VectorD means = rows.rowwise().mean();
    rows.colwise() -= means;
  }
  return rows;
}

template <class Scalar>
MatrixD MajorizedReadout<Scalar>::curvature_along(const MatrixD& direction) const {
  const Index d = width(), q = outputs();
  const bool one_label = targets_.task() == Task::one_label;
  const FactorColumns<Scalar> columns = factor_.columns(0, d);
  const Matrix<Scalar> minus = -columns.coefficients(direction, team_).template cast<Scalar>();
  const Index made = columns.width();
  const RowBlocks blocks = blocks_.for_sums(made * q);
  const VectorD total = blocks.sum(team_, made * q, [&](double* sums, Index b, int worker) {
    const ConstMatrixMap<Scalar> block = columns.block(b, worker);
    Matrix<Scalar> moved = Matrix<Scalar>::Zero(block.rows(), q);
    subtract_product(block, minus, moved);
    const MatrixD chances = chances_of(b);
    const MatrixD along = moved.topRows(chances.rows()).template cast<double>();
    MatrixD bent = chances.cwiseProduct(along);
    if (one_label) {
      const VectorD mean = bent.rowwise().sum();
      bent -= mean.asDiagonal() * chances;
    } else {
      bent -= bent.cwiseProduct(chances);
    }
    // What is missing to the bound; nothing is for pairs of a graph, which follow the samples.
    moved.setZero();
    moved.topRows(chances.rows()) = (bent - bounds_[0] * along).template cast<Scalar>();
    add_transposed_product(block, moved, matrix_map(sums, made, q, made));
  });
  return columns.products(Eigen::Map<const MatrixD>(total.data(), made, q), team_) +
         bounds_[0] * direction;
}

// The step that lowers the quadratic approximation nearly as far as it goes: to that fraction of the gradient.
template <class Scalar>
typename MajorizedReadout<Scalar>::NewtonStep MajorizedReadout<Scalar>::newton_step(
    const MatrixD& gradient, const std::vector<MatrixD>& factors, Index most) const {
  const auto preconditioned = [&](const MatrixD& residual) {
    MatrixD result = residual;
    const bool common = factors.size() == 1;
    team_.for_each(static_cast<Index>(factors.size()), [&](Index output, int worker) {
      const MatrixD& factor = factors[static_cast<std::size_t>(output)];
      const auto columns = result.middleCols(output, common ? result.cols() : 1);
      solve_columns(blas::Op::none, factor, columns, team_, worker);
      solve_columns(blas::Op::transpose, factor, columns, team_, worker);
    });
    return centered(std::move(result));
  };
  MatrixD residual = centered(-gradient);
  MatrixD direction = preconditioned(residual);
  double square = dot(residual, direction);
  // Steps that are ever more accurate as they get smaller converge faster than linearly.
  const double relative = std::min(1.0, square / objective_);
  const double enough = square * std::min(0.01, std::pow(relative, 2.0 / 3));
  NewtonStep step{MatrixD::Zero(width(), outputs()), 0};
  while (square > enough && step.iterations < most) {
    const MatrixD bent = curvature_along(direction);
    const double curvature = dot(direction, bent);
    if (!(curvature > 0)) break;
    step.direction += square / curvature * direction;
    residual -= square / curvature * bent;
    const MatrixD next = preconditioned(residual);
    const double before = square;
    square = dot(residual, next);
    direction = next + square / before * direction;
    ++step.iterations;
  }
  return step;
}

// In single precision, scores and errors are rounded to more than Newton's method would gain. Where it would take long, as
// with many rows and classes, a tolerance has to do.
template <class Scalar>
void MajorizedReadout<Scalar>::settle() {
  constexpr double kNear = 1e-4, kSettled = 1e-24, kClose = 1e-10, kRounding = 1e-13;
  constexpr int kNearSteps = 30, kSteps = 40, kHalvings = 30;
  constexpr Index kSlow = 20;
  constexpr double kWork = 1e11;                  // a second or two
  const Index work_of_factors = width() / 4 + 1;  // in steps, as what is left
  Index left = static_cast<Index>(std::min(1e6, kWork / work_of_step())) - work_of_factors;
  // The factors take no more room than Q, or next to none.
  const bool small = static_cast<double>(outputs() * width()) <= std::max(total_weight_, 4096.0);
  const bool log_loss = has_plain_hessian() && !wants_bounded_;
  if (std::is_same_v<Scalar, float> || !log_loss || !small || left < kSlow) {
    converge();
    return;
  }
  improve(kNear, kNearSteps, true);
  memory_.forget();
  MatrixD gradient = move_to({centered(theta_.values), {}}).values;
  std::vector<MatrixD> factors = output_factors();
  double last = 1;
  for (int count = 0; count < kSteps; ++count) {
    if (factors.empty() || left <= 0) {  // the Hessian may be singular to rounding
      converge();
      return;
    }
    const MatrixD start = theta_.values;
    const double before = objective_;
    NewtonStep step = newton_step(gradient, factors, left);
    left -= step.iterations;
    const double slope = dot(gradient, step.direction);
    if (!(slope < 0)) return;
    // By convexity a step is short enough if the slope there has not risen above its negative here, which can be told
    // when the objective, a difference of larger squares, only changes by rounding.
    const double rounding = kRounding * (before + bounds_[0] * start.squaredNorm());
    bool lower = false;
    double length = 1;
    for (int halving = 0; halving < kHalvings && !lower; ++halving, length /= 2) {
      gradient = move_to({start + length * step.direction, {}}).values;
      lower = objective_ < before + 1e-4 * length * slope ||
              (std::abs(objective_ - before) <= rounding &&
               dot(gradient, step.direction) <= -0.9998 * slope);
    }
    if (!lower) {
      move_to({start, {}});
      return;
    }
    // Close to the optimum, steps shrink fast unless all they do is rounding.
    const double gain = -slope / 2 / before;
    if (gain <= kSettled || (gain <= kClose && gain > last / 2)) return;
    last = gain;
    if (step.iterations > kSlow) {
      factors = output_factors();
      left -= work_of_factors;
    }
  }
}

template void MajorizedReadout<float>::settle();
template void MajorizedReadout<double>::settle();

}  // namespace stagenets
