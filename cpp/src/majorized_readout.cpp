#include "stagenets/majorized_readout.hpp"

#include <algorithm>
#include <cmath>

#include "stagenets/calibration.hpp"
#include "stagenets/products.hpp"

namespace stagenets {

template <class Scalar>
MajorizedReadout<Scalar>::MajorizedReadout(const CoordinateFactor<Scalar>& factor,
                                           const Targets& targets, const RowWeights& weights,
                                           const RowBlocks& blocks, Team& team)
    : factor_(factor),
      targets_(targets),
      roots_(weights.root_data()),
      left_out_(weights.left_out_data()),
      blocks_(blocks),
      team_(team),
      loss_(targets.task()),
      bound_(loss_.curvature_bound()),
      theta_{MatrixD::Zero(0, targets.outputs()), {}},
      scores_(blocks, targets.outputs()),
      errors_(blocks, targets.outputs()),
      memory_(1 / bound_),
      total_weight_(
          blocks.complete(roots_ ? Eigen::Map<const VectorD>(roots_, targets.rows()).squaredNorm()
                                 : static_cast<double>(targets.rows()))) {
  move_to(theta_);
  if (factor.is_implicit()) {
    grow_implicitly();
  } else {
    grow(factor.fixed_width());
  }
  refit_if_due();
}

// The samples of a block; pairs of a graph, which come last, have no label.
template <class Scalar>
RowRange MajorizedReadout<Scalar>::samples_of(Index block) const {
  const RowRange range = blocks_.block(block);
  return {range.first, std::clamp<Index>(targets_.rows() - range.first, 0, range.count)};
}

// Errors of a block from its scores; adds its loss, the energy of its scores and its curvature to the sums. The loss of a
// pair is κ/2 ‖f‖², which with weights of γ/κ is γ/2 times the squared difference of its scores; its working response
// is zero.
template <class Scalar>
void MajorizedReadout<Scalar>::measure_block(Index block, double* sums) {
  const RowRange range = samples_of(block);
  const BlockWeights weights(roots_, range);
  const auto all_scores = scores_.block(block, 0, outputs());
  auto all_errors = errors_.block(block, 0, outputs());
  const Index pairs = all_scores.rows() - range.count;
  const double energy_of_pairs = all_scores.bottomRows(pairs).template cast<double>().squaredNorm();
  sums[0] += bound_ / 2 * energy_of_pairs;
  sums[1] += energy_of_pairs;
  all_errors.bottomRows(pairs) = static_cast<Scalar>(-bound_) * all_scores.bottomRows(pairs);
  if (range.count == 0) return;
  MatrixD scores = all_scores.topRows(range.count).template cast<double>();
  sums[1] += scores.squaredNorm();
  weights.unscale(scores);
  const RowLoss::Sums found =
      loss_.to_errors(scores, targets_.values().middleRows(range.first, range.count), weights);
  sums[0] += found.loss;
  sums[2] += found.curvature;
  weights.scale(scores);
  all_errors.topRows(range.count) = scores.template cast<Scalar>();
}

template <class Scalar>
void MajorizedReadout<Scalar>::measured(const double* sums) {
  total_loss_ = sums[0];
  objective_ = total_loss_ + bound_ / 2 * std::max(0.0, inner(theta_, theta_) - sums[1]);
  curvature_ = sums[2];
}

template <class Scalar>
void MajorizedReadout<Scalar>::grow(Index count) {
  const Index first = width(), q = outputs();
  const FactorColumns<Scalar> columns = factor_.columns(first, count);
  const Index made = columns.width();
  const RowBlocks blocks = blocks_.for_sums(made * q);
  const VectorD total = blocks.sum(team_, made * q, [&](double* sums, Index b, int worker) {
    const Matrix<Scalar> working =
        scores_.block(b, 0, q) + static_cast<Scalar>(1 / bound_) * errors_.block(b, 0, q);
    add_transposed_product(columns.block(b, worker), working, matrix_map(sums, made, q, made));
  });
  const MatrixD step = columns.products(Eigen::Map<const MatrixD>(total.data(), made, q), team_);
  theta_.grow(count);
  theta_.values.bottomRows(count) = step;
  if (theta_.image.size() > 0) theta_.image.bottomRows(count) = step;
  memory_.grow(count);
  const Matrix<Scalar> minus_step = -columns.coefficients(step, team_).template cast<Scalar>();
  const VectorD measures = blocks_.sum(team_, kSums, [&](double* sums, Index b, int worker) {
    subtract_product(columns.block(b, worker), minus_step, scores_.block(b, 0, q));
    measure_block(b, sums);
  });
  measured(measures.data());
}

// Columns Q₀ that are not at hand move by Q₀ᵀZ like any others: by V = Z.
template <class Scalar>
void MajorizedReadout<Scalar>::grow_implicitly() {
  MatrixD working(blocks_.rows(), outputs());
  for (Index b = 0; b < blocks_.blocks(); ++b) {
    const RowRange range = blocks_.block(b);
    working.middleRows(range.first, range.count) =
        (scores_.block(b, 0, outputs()) +
         static_cast<Scalar>(1 / bound_) * errors_.block(b, 0, outputs()))
            .template cast<double>();
  }
  MatrixD image = factor_.image(working, team_);
  move_to({std::move(working), std::move(image)});
}

template <class Scalar>
Coordinates MajorizedReadout<Scalar>::move_to(const Coordinates& theta) {
  const Index implicit = theta.image.size() > 0 ? factor_.fixed_width() : 0;
  const Index d = theta.values.rows() - implicit, q = outputs();
  const FactorColumns<Scalar> columns = factor_.columns(implicit, d);
  const Index made = columns.width(), size = made * q;
  const Matrix<Scalar> minus_theta =
      -columns.coefficients(theta.values.bottomRows(d), team_).template cast<Scalar>();
  MatrixD gradient(implicit + d, q);
  const RowBlocks blocks = blocks_.for_sums(size + kSums);
  const VectorD total = blocks.sum(team_, size + kSums, [&](double* sums, Index b, int worker) {
    MatrixMap<Scalar> scores = scores_.block(b, 0, q);
    const RowRange range = blocks.block(b);
    if (implicit > 0) {
      scores = theta.image.middleRows(range.first, range.count).template cast<Scalar>();
    } else {
      scores.setZero();
    }
    if (implicit + d == 0) return measure_block(b, sums + size);
    const ConstMatrixMap<Scalar> block = columns.block(b, worker);
    if (d > 0) subtract_product(block, minus_theta, scores);
    measure_block(b, sums + size);
    const Matrix<Scalar> pull = -(errors_.block(b, 0, q) + static_cast<Scalar>(bound_) * scores);
    if (implicit > 0) {
      gradient.middleRows(range.first, range.count) = pull.template cast<double>();
    }
    if (d > 0) add_transposed_product(block, pull, matrix_map(sums, made, q, made));
  });
  theta_ = theta;
  measured(total.data() + size);
  gradient.bottomRows(d) =
      columns.products(Eigen::Map<const MatrixD>(total.data(), made, q), team_);
  gradient += bound_ * theta_.values;
  if (implicit == 0) return {std::move(gradient), {}};
  MatrixD image = gradient;
  image.topRows(implicit) = factor_.image(gradient.topRows(implicit), team_);
  return {std::move(gradient), std::move(image)};
}

// Every step lowers the objective: a direction that does not is replaced by the majorising step, which must. Ends when
// a step would lower it by less than the given fraction, as far as the memory can tell.
template <class Scalar>
void MajorizedReadout<Scalar>::improve(double tolerance, int most_steps) {
  Coordinates start = theta_;
  Coordinates gradient = move_to(start);
  double before = objective_;
  for (int step = 0; step < most_steps; ++step) {
    Coordinates direction = memory_.direction(gradient);
    const double slope = inner(gradient, direction);
    if (-slope / 2 <= tolerance * before) return;
    const auto step_from_start = [&] {
      Coordinates end = start;
      end += direction;
      return move_to(end);
    };
    Coordinates next = step_from_start();
    if (!(objective_ < before + 1e-4 * slope)) {
      memory_.forget();
      direction = gradient;
      direction *= -1 / bound_;
      next = step_from_start();
      if (!(objective_ < before)) {  // at the limit of rounding
        move_to(start);
        return;
      }
    }
    Coordinates change = next;
    change.add(-1, gradient);
    memory_.remember(direction, std::move(change));
    start += direction;
    gradient = std::move(next);
    before = objective_;
  }
}

template <class Scalar>
void MajorizedReadout<Scalar>::refit_if_due() {
  constexpr double kGrowth = 1.1, kTolerance = 1e-3;
  constexpr int kSteps = 3;
  const Index rank = width() - factor_.fixed_width() + factor_.fixed_rank();
  if (static_cast<double>(rank) < kGrowth * static_cast<double>(last_refit_)) return;
  last_refit_ = rank;
  improve(kTolerance, kSteps);
}

template <class Scalar>
void MajorizedReadout<Scalar>::converge() {
  constexpr double kTolerance = 1e-8;
  constexpr int kSteps = 500;
  improve(kTolerance, kSteps);
}

template <class Scalar>
void MajorizedReadout<Scalar>::return_to(const Snapshot& snapshot) {
  memory_ = snapshot.memory;
  last_refit_ = snapshot.last_refit;
  move_to(snapshot.theta);
}

// One Newton step back from the full fit: without row i, its scores change by −aᵀH⁻¹a times its error, where H is the
// Hessian over the other rows. For the curvature κ in every row, aᵀH⁻¹a is h / ((1 − h) κ) with the leverage h of the
// factor; the rows have the mean curvature w̄ instead, so it is about h / ((1 − h) w̄).
template <class Scalar>
typename MajorizedReadout<Scalar>::LeftOut MajorizedReadout<Scalar>::left_out(
    const VectorD& leverage) const {
  constexpr double kLeast = 1e-6;
  const double mean = std::max(curvature_ / total_weight_, kLeast);
  const VectorD sums = blocks_.sum(team_, 2, [&](double* into, Index b, int) {
    const RowRange range = samples_of(b);
    if (range.count == 0) return;
    const auto labels = targets_.values().middleRows(range.first, range.count);
    const VectorD influence = VectorD::NullaryExpr(range.count, [&](Index i) {
      const double lost = leverage[range[i]] * (left_out_ ? left_out_[range[i]] : 1.0);
      return lost * loo_growth(lost) / mean;
    });
    MatrixD scores =
        scores_.block(b, 0, outputs()).topRows(range.count).template cast<double>() -
        influence.asDiagonal() *
            errors_.block(b, 0, outputs()).topRows(range.count).template cast<double>();
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
