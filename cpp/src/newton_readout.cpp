// Readouts by log-loss: Newton's method, until the steps left are negligible or, in the end, a matter of rounding.
// Iterations that stop at a tolerance end where the rounding of sums leads them, so that rows added up in another order,
// as on a cluster, would give another readout.
//
// With the chances P of the labels, the Hessian maps a direction V, by U = QV, to QᵀDU + κ(V − QᵀU), where D is the
// curvature of the loss in each row, and κ its bound times the ratio of penalties. Steps solve it by conjugate gradients,
// a pass over the rows for each iteration, preconditioned by the Hessian of each output by itself; with that they take
// few iterations, however small the penalty.
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
MatrixD MajorizedReadout<Scalar>::curvatures() const {
  MatrixD all = MatrixD::Constant(blocks_.rows(), outputs(), bounds_[0]);
  blocks_.sweep(team_, [&](Index, Index b, int) {
    const RowRange range = samples_of(b);
    const Eigen::ArrayXXd chances = chances_of(b).array();
    all.middleRows(range.first, range.count) = (chances * (1 - chances)).max(0.0);
  });
  return all;
}

template <class Scalar>
MatrixD MajorizedReadout<Scalar>::weighted_gram(const VectorD& weights) const {
  std::vector<Index> rows;
  for (Index row = 0; row < weights.size(); ++row) {
    if (weights[row] > 0) rows.push_back(row);
  }
  const Index count = static_cast<Index>(rows.size());
  const VectorD roots = weights.cwiseMax(0.0).cwiseSqrt();
  const FactorColumns<Scalar> columns = factor_.columns(0, width());
  const auto gather = [&](RowRange range, MatrixMap<double> out, int worker) {
    for (Index done = 0; done < range.count;) {
      const auto begin = rows.begin() + range.first + done;
      const Index b = *begin / blocks_.block_rows();
      const RowRange block = blocks_.block(b);
      const auto end = std::lower_bound(begin, rows.begin() + range.first + range.count,
                                        block.first + block.count);
      const std::vector<Index> some(begin, end);
      const Index found = static_cast<Index>(some.size());
      const auto values = columns.block(b, worker);
      for (Index column = 0; column < out.cols(); ++column) {
        for (Index i = 0; i < found; ++i) {
          const Index row = some[static_cast<std::size_t>(i)];
          out(done + i, column) = roots[row] * values(row - block.first, column);
        }
      }
      done += found;
    }
  };
  const RowBlocks blocks = RowBlocks::for_fit(count, 0).completed_by(blocks_.reduction());
  MatrixD all =
      gram(blocks, columns.width(), team_, gather).template selfadjointView<Eigen::Lower>();
  all = columns.products(std::move(all), team_);
  return columns.products(all.transpose(), team_);
}

// The Hessian of each output by itself is Qᵀ diag(d) Q + κ(I − QᵀQ), with its diagonal d of D. Of one label, q scores can
// only move in q − 1 directions, which have q / (q − 1) of that curvature each. Of many labels, each is in doubt in a few
// rows only: all others are given the mean of their curvatures, and cost nothing. Where so many factors would take more
// room than Q, there is one, of the mean curvature.
template <class Scalar>
std::vector<MatrixD> MajorizedReadout<Scalar>::hessian_factors() const {
  constexpr double kInDoubt = 0.25;  // in proportion to the mean over all rows
  constexpr double kLittleRoom = 4096;
  const Index q = outputs();
  const bool one_label = targets_.task() == Task::one_label;
  const bool for_each = static_cast<double>(q * width()) <= std::max(total_weight_, kLittleRoom) &&
                        !(one_label && q == 2);
  MatrixD curved = curvatures();
  if (!for_each) curved = curved.rowwise().mean().eval();
  if (one_label) {
    curved.topRows(targets_.rows()) *= static_cast<double>(q) / static_cast<double>(q - 1);
  }
  const Index made = curved.cols();
  Eigen::ArrayXd totals(made + 1);
  totals << curved.colwise().sum().transpose(), static_cast<double>(curved.rows());
  blocks_.complete(totals.data(), totals.size());
  const Eigen::ArrayXd limits = kInDoubt * totals.head(made) / totals[made];
  const auto certain = [&](Index i) { return curved.col(i).array() <= limits[i]; };
  Eigen::ArrayXXd sums(made, 2);  // of the certain rows: their number and their curvatures
  for (Index i = 0; i < made; ++i) {
    sums(i, 0) = certain(i).template cast<double>().sum();
    sums(i, 1) = certain(i).select(curved.col(i).array(), 0.0).sum();
  }
  blocks_.complete(sums.data(), sums.size());
  const MatrixD shrinkage = factor_.shrinkage(width(), team_);
  std::vector<MatrixD> factors;
  for (Index i = 0; i < made; ++i) {
    const double common = sums(i, 1) / std::max(1.0, sums(i, 0));
    MatrixD hessian = weighted_gram(certain(i).select(0.0, curved.col(i).array() - common));
    hessian += (ratio_ * bounds_[0] - common) * shrinkage;
    hessian.diagonal().array() += common;
    if (!cholesky(hessian, team_)) return {};
    factors.push_back(std::move(hessian));
  }
  return factors;
}

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
  const double bound = ratio_ * bounds_[0];
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
    // Pairs of a graph, which follow the samples, have the curvature that bounds those of the samples.
    moved.topRows(chances.rows()) = (bent - bound * along).template cast<Scalar>();
    moved.bottomRows(block.rows() - chances.rows()) *= static_cast<Scalar>(bounds_[0] - bound);
    add_transposed_product(block, moved, matrix_map(sums, made, q, made));
  });
  return columns.products(Eigen::Map<const MatrixD>(total.data(), made, q), team_) +
         bound * direction;
}

// The step that lowers the quadratic approximation nearly as far as it goes; none if what there is to gain is negligible.
template <class Scalar>
typename MajorizedReadout<Scalar>::NewtonStep MajorizedReadout<Scalar>::newton_step(
    const MatrixD& gradient, const std::vector<MatrixD>& factors, double negligible) const {
  constexpr Index kMost = 200;
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
  double square = dot(residual, direction);  // twice what is to be gained
  NewtonStep step{MatrixD::Zero(width(), outputs()), 0};
  if (!(square > 2 * negligible)) return step;
  // Steps that are ever more accurate as they get smaller converge faster than linearly.
  const double relative = std::min(1.0, square / objective_);
  const double enough = std::max(square * std::min(0.01, std::pow(relative, 2.0 / 3)), negligible);
  while (square > enough && step.iterations < kMost) {
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

// Where classes can be told apart and nothing but a tiny penalty holds the scores back, rounding may lead steps astray; in
// single precision far: then it is as if none had been taken.
template <class Scalar>
bool MajorizedReadout<Scalar>::newton(double tolerance) {
  constexpr double kNear = 1e-3;
  constexpr int kNearSteps = 10;
  improve(kNear, kNearSteps);
  memory_.forget();
  const MatrixD start = theta_.values;
  const double before = objective_, allowed = kSingle ? 0.0 : rounding_of(start);
  const bool done = newton_steps(tolerance);
  if (objective_ <= before + allowed) return done;
  move_to({start, {}});
  return false;
}

template <class Scalar>
double MajorizedReadout<Scalar>::rounding_of(const MatrixD& theta) const {
  constexpr double kRounding = kSingle ? 1e-6 : 1e-13;
  return kRounding * (objective_ + bounds_[0] * theta.squaredNorm());
}

template <class Scalar>
bool MajorizedReadout<Scalar>::newton_steps(double tolerance) {
  constexpr double kSettled = 1e-24, kClose = 1e-10;
  constexpr int kSteps = 40, kHalvings = 30;
  constexpr Index kSlow = 20;
  constexpr double kWork =
      1e11;  // a second or two, after which a tolerance has to do, as in single precision
  MatrixD gradient = move_to({centered(theta_.values), {}}).values;
  std::vector<MatrixD> factors = hessian_factors();
  double work = 0, last = 1;
  for (int count = 0; count < kSteps; ++count) {
    if (factors.empty()) return false;
    const MatrixD start = theta_.values;
    const double before = objective_;
    const double least = kSingle || work > kWork ? kNegligible : kSettled;
    const NewtonStep step = newton_step(gradient, factors, std::max(tolerance, least) * before);
    const double slope = dot(gradient, step.direction);
    if (!(slope < 0)) return true;
    // By convexity a step is short enough if the slope there has not risen above its negative here, which can be told
    // when the objective, a difference of larger squares, only changes by rounding.
    const double rounding = rounding_of(start);
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
      return true;
    }
    // Close to the optimum, steps shrink fast unless all they do is rounding.
    const double gain = -slope / 2 / before;
    if (gain <= kSettled || (gain <= kClose && gain > last / 2)) return true;
    last = gain;
    work += work_of_step() * static_cast<double>(step.iterations);
    if (step.iterations > kSlow) factors = hessian_factors();
  }
  return true;
}

template bool MajorizedReadout<float>::newton(double);
template bool MajorizedReadout<double>::newton(double);

}  // namespace stagenets
