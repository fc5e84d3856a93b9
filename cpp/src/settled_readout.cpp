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

#include "stagenets/cholesky.hpp"
#include "stagenets/gram.hpp"
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

// The chances of the labels of a block's samples.
template <class Scalar>
MatrixD MajorizedReadout<Scalar>::chances_of(Index block) const {
  const RowRange range = samples_of(block);
  MatrixD chances = errors_.block(block, 0, outputs()).topRows(range.count).template cast<double>();
  BlockWeights(roots_, range).unscale(chances);
  chances = targets_.values().middleRows(range.first, range.count) - chances;
  return chances;
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

// Cholesky factors of the Hessian of each output by itself. Of one label, q scores can only move in q − 1 directions,
// which have q / (q − 1) of that curvature each; with two, this is the Hessian.
template <class Scalar>
std::vector<MatrixD> MajorizedReadout<Scalar>::output_factors() const {
  const Index d = width(), q = outputs();
  const bool one_label = targets_.task() == Task::one_label;
  const double share = one_label ? static_cast<double>(q) / static_cast<double>(q - 1) : 1.0;
  const FactorColumns<Scalar> columns = factor_.columns(0, d);
  std::vector<MatrixD> factors;
  for (Index output = 0; output < (one_label && q == 2 ? 1 : q); ++output) {
    const auto fill = [&](RowRange range, MatrixMap<double> out, int worker) {
      const Index b = range.first / blocks_.block_rows();
      const Eigen::ArrayXd chance = chances_of(b).col(output).array();
      out = columns.block(b, worker).template cast<double>();
      out.bottomRows(range.count - chance.size()).setZero();
      const VectorD missing = (bounds_[0] - share * chance * (1 - chance)).max(0.0).sqrt().matrix();
      out.topRows(chance.size()) = missing.asDiagonal() * out.topRows(chance.size());
    };
    MatrixD hessian = gram(blocks_, columns.width(), team_, fill);
    hessian.template triangularView<Eigen::StrictlyUpper>() = hessian.transpose();
    hessian = columns.products(hessian, team_);
    hessian = -columns.products(hessian.transpose(), team_);
    hessian.diagonal().array() += bounds_[0];
    if (!cholesky(hessian, team_)) return {};
    factors.push_back(std::move(hessian));
  }
  return factors;
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
  // In steps: about two seconds' work, what the factors take, and whether they take less room than Q.
  constexpr double kWork = 1e11;
  const Index work_of_factors = width() / 4 + 1;
  Index left = static_cast<Index>(std::min(1e6, kWork / work_of_step())) - work_of_factors;
  const bool small = static_cast<double>(outputs() * width()) <= std::max(total_weight_, 4096.0);
  if (std::is_same_v<Scalar, float> || !has_plain_hessian() || wants_bounded_ || !small || left < kSlow) {
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
