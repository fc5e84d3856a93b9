#include "stagenets/ridge_factor.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "stagenets/cholesky.hpp"
#include "stagenets/gram.hpp"
#include "stagenets/products.hpp"

namespace stagenets {

template <class Scalar>
ConstMatrixMap<Scalar> FactorColumns<Scalar>::block(Index b, int worker) const {
  if (held_) return held_->block(b, first_, count_);
  Design<Scalar>& design = maker_->design_;
  const RowRange range = maker_->blocks_.block(b);
  const Index fixed = maker_->fixed_width(), units = design.source().count(Units::kept);
  Scratch<Scalar>& scratch = design.scratch(worker);
  Matrix<Scalar>& made = scratch.columns;
  made.resize(range.count, fixed + units);
  MatrixD& start = scratch.wide;
  start.resize(range.count, maker_->start_width());
  maker_->start_columns(range, matrix_map(start.data(), range.count, start.cols(), range.count));
  for (Index j = 0; j < fixed; ++j) {
    made.col(j) = start.col(maker_->kept_fixed_[j]).template cast<Scalar>();
  }
  if (units > 0) {
    design.evaluate(Units::kept, range, made.data() + fixed * range.count, range.count, nullptr,
                    worker);
  }
  return matrix_map(std::as_const(made).data(), range.count, width(), range.count);
}

template <class Scalar>
MatrixD FactorColumns<Scalar>::coefficients(const MatrixD& theta, Team& team) const {
  if (held_) return theta;
  MatrixD padded = MatrixD::Zero(width(), theta.cols());
  padded.bottomRows(count_) = theta;
  solve_lower_transposed(maker_->l_.topLeftCorner(width(), width()), padded, team);
  return padded;
}

template <class Scalar>
MatrixD FactorColumns<Scalar>::products(MatrixD sums, Team& team) const {
  if (held_) return sums;
  solve_lower(maker_->l_.topLeftCorner(width(), width()), sums, team);
  return sums.bottomRows(count_);
}

template <class Scalar>
RidgeFactor<Scalar>::RidgeFactor(Design<Scalar>& design, RidgeState<Scalar>& state,
                                 const FactorRoom& room,
                                 std::unique_ptr<RowSpace<Scalar>> row_space, Team& team)
    : design_(design),
      blocks_(state.blocks),
      alpha_(state.alpha),
      store_(room.store),
      fixed_(design.fixed()),
      row_space_(std::move(row_space)),
      block_rows_(state.blocks.block_rows()),
      q_(state.blocks, holds_q() ? start_width() + room.units + room.spare : room.projected),
      l_(start_width() + room.units, start_width() + room.units),
      z_(MatrixD::Zero(start_width() + room.units, state.outputs())) {
  start(state, team);
}

template <class Scalar>
FactorColumns<Scalar> RidgeFactor<Scalar>::columns(Index first, Index count) const {
  if (holds_q()) return {q_, first, count};
  design_.source().gather_kept();
  return {*this, first, count};
}

template <class Scalar>
void RidgeFactor<Scalar>::start_columns(RowRange range, MatrixMap<double> out) const {
  if (row_space_) {
    out = row_space_->columns().middleRows(range.first, range.count);
  } else {
    design_.fixed_columns(range, 0, fixed_, out.data(), out.outerStride());
  }
}

// Q = A L⁻ᵀ of the columns that it starts with, on a block of rows: where it is held, or for the moment.
template <class Scalar>
MatrixMap<Scalar> RidgeFactor<Scalar>::make_start(Index block, Team& team, int worker) {
  const RowRange range = blocks_.block(block);
  const Index width = start_width();
  Scratch<Scalar>& scratch = design_.scratch(worker);
  MatrixD& wide = scratch.wide;
  wide.resize(range.count, width);
  start_columns(range, matrix_map(wide.data(), range.count, width, range.count));
  for (Index j = 0; j < width_; ++j) {
    if (kept_fixed_[j] != j) wide.col(j) = wide.col(kept_fixed_[j]);
  }
  solve_rows(l_.topLeftCorner(width_, width_), wide.leftCols(width_), team, worker);
  if (!holds_q()) scratch.columns.resize(range.count, width_);
  MatrixMap<Scalar> made =
      holds_q() ? q_.block(block, 0, width_)
                : matrix_map(scratch.columns.data(), range.count, width_, range.count);
  made = wide.leftCols(width_).template cast<Scalar>();
  return made;
}

template <class Scalar>
MatrixMap<Scalar> RidgeFactor<Scalar>::start_of_q(Index block, Team& team, int worker) {
  return holds_q() ? q_.block(block, 0, width_) : make_start(block, team, worker);
}

// The fixed columns are factorised all at once: Cholesky of their Gram matrix, then Q = A L⁻ᵀ block by block.
template <class Scalar>
void RidgeFactor<Scalar>::start(RidgeState<Scalar>& state, Team& team) {
  const RowBlocks& blocks = state.blocks;
  const MatrixD& targets = state.targets;
  const Index outputs = state.outputs(), width = start_width();
  const MatrixD joint =
      gram(blocks, width + outputs, team, [&](RowRange range, MatrixMap<double> out, int) {
        start_columns(range, matrix_map(out.data(), range.count, width, out.outerStride()));
        out.rightCols(outputs) = targets.middleRows(range.first, range.count);
      });
  MatrixD normal = joint.topLeftCorner(width, width);
  normal.diagonal().array() += state.alpha;
  const KeptCholesky factor(normal, team);
  kept_fixed_ = factor.kept;
  width_ = factor.l.rows();
  state.worst_pivot = std::min(state.worst_pivot, factor.worst_pivot);
  l_.topLeftCorner(width_, width_) = factor.l;

  if (holds_q()) {
    blocks.sweep(team, [&](Index, Index b, int worker) { make_start(b, team, worker); });
  }
  if (state.worst_pivot < second_pass_threshold<double>()) orthogonalize_start_again(state, team);

  MatrixD right_side = factor.compress(joint.bottomLeftCorner(outputs, width).transpose());
  solve_lower(l_.topLeftCorner(width_, width_), right_side, team);
  z_.topRows(width_) = right_side;
  const double energy = blocks.complete(targets.squaredNorm());
  state.objective = std::max(0.0, energy - right_side.squaredNorm());
  const Matrix<Scalar> step = right_side.template cast<Scalar>();
  state.measured(blocks.sum(team, state.kSums, [&](double* measures, Index b, int worker) {
    const RowRange range = blocks.block(b);
    state.residual.block(b, 0, outputs) =
        targets.middleRows(range.first, range.count).template cast<Scalar>();
    absorb_block(b, start_of_q(b, team, worker), step, state, measures);
  }));
}

// The second half of CholeskyQR2 on [A; √λ I]: measures how far [Q; √λ L⁻ᵀ] is from orthonormal
// columns, and corrects both Q and L by the factor of that deviation.
template <class Scalar>
void RidgeFactor<Scalar>::orthogonalize_start_again(RidgeState<Scalar>& state, Team& team) {
  const RowBlocks& blocks = state.blocks;
  const auto add_block = [&](RowRange range, MatrixMap<double> out, int worker) {
    out = start_of_q(range.first / blocks.block_rows(), team, worker).template cast<double>();
  };
  MatrixD deviation = gram(blocks, width_, team, add_block);
  auto factor = l_.topLeftCorner(width_, width_);
  add_gram_of_upper(state.alpha, inverse_transposed_columns(factor, 0, team), deviation, team);
  if (!cholesky(deviation, team)) return;  // beyond repair; the first factor stands
  const MatrixD correction = deviation.template triangularView<Eigen::Lower>();
  if (holds_q()) {
    blocks.sweep(team, [&](Index, Index b, int worker) {
      MatrixMap<Scalar> panel = q_.block(b, 0, width_);
      MatrixD wide = panel.template cast<double>();
      solve_rows(correction, wide, team, worker);
      panel = wide.template cast<Scalar>();
    });
  }
  factor.template triangularView<Eigen::StrictlyUpper>().setZero();
  factor = multiply_lower(factor, correction, team);
}

// R -= Q z on one block, for some columns of Q, and the quantities that depend on it.
template <class Scalar>
void RidgeFactor<Scalar>::absorb_block(Index block, const MatrixMap<Scalar>& q,
                                       const Matrix<Scalar>& z, RidgeState<Scalar>& state,
                                       double* measures) {
  subtract_product(q, z, state.residual.block(block, 0, z.cols()));
  state.measure_block(block, q, measures);
}

template <class Scalar>
Projection RidgeFactor<Scalar>::project(Design<Scalar>& design, RidgeState<Scalar>& state,
                                        Team& team) {
  const Index k = design.source().count(Units::selected), q = state.outputs();
  const Index size = width_ * k + k * k + k * q;
  const RowBlocks blocks = state.blocks.for_sums(size);
  const FactorColumns<Scalar> before = columns(0, width_);
  const VectorD total = blocks.sum(team, size, [&](double* sums, Index b, int worker) {
    Stopwatch watch;
    // G is stored where Q' will be.
    MatrixMap<Scalar> added = fresh(b, k);
    design.evaluate(Units::selected, blocks.block(b), added.data(), added.outerStride(), nullptr,
                    worker);
    add_transposed_product(before.block(b, worker), added, matrix_map(sums, width_, k, width_));
    add_transposed_product(added, added, matrix_map(sums + width_ * k, k, k, k));
    add_transposed_product(added, state.residual.block(b, 0, q),
                           matrix_map(sums + width_ * k + k * k, k, q, k));
    design.scratch(worker).profile.project += watch.lap();
  });
  overlap_ = before.products(Eigen::Map<const MatrixD>(total.data(), width_, k), team);
  Projection projection;
  projection.schur = Eigen::Map<const MatrixD>(total.data() + width_ * k, k, k);
  projection.schur.diagonal().array() += state.alpha;
  projection.penalized_norm = projection.schur.diagonal();
  multiply(blas::Op::transpose, blas::Op::none, -1, overlap_, overlap_, 1, projection.schur, team);
  projection.residual_gain = Eigen::Map<const MatrixD>(total.data() + width_ * k + k * k, k, q);
  return projection;
}

template <class Scalar>
std::optional<Index> RidgeFactor<Scalar>::append(Choice& choice, const Projection& projection,
                                                 Design<Scalar>& design, RidgeState<Scalar>& state,
                                                 Team& team) {
  const RowBlocks& blocks = state.blocks;
  const Index k = choice.size();
  MatrixD overlap(width_, k), gain(k, state.outputs());
  bool in_place = true;
  for (Index j = 0; j < k; ++j) {
    overlap.col(j) = overlap_.col(choice.columns[j]);
    gain.row(j) = projection.residual_gain.row(choice.columns[j]);
    in_place = in_place && choice.columns[j] == j;
  }
  const bool twice = choice.worst_pivot < second_pass_threshold<Scalar>();

  const FactorColumns<Scalar> before = columns(0, width_);
  const Matrix<Scalar> scalar_overlap = before.coefficients(overlap, team).template cast<Scalar>();
  Matrix<Scalar> scalar_step = choice.step.template cast<Scalar>();
  VectorD measures = blocks.sum(team, state.kSums, [&](double* sums, Index b, int worker) {
    Stopwatch watch;
    if (!in_place) move_chosen(b, choice.columns, design.scratch(worker).pool);
    subtract_product(before.block(b, worker), scalar_overlap, fresh(b, k));
    normalize_block(b, choice.schur_factor);
    if (!twice) absorb_block(b, fresh(b, k), scalar_step, state, sums);
    design.scratch(worker).profile.append += watch.lap();
  });
  if (twice) {
    const std::optional<Index> dependent =
        orthogonalize_again(overlap, choice.schur_factor, state, team);
    if (dependent) return dependent;
    choice.step = choice.schur_factor.template triangularView<Eigen::Lower>().solve(gain);
    scalar_step = choice.step.template cast<Scalar>();
    measures = blocks.sum(team, state.kSums, [&](double* sums, Index b, int) {
      absorb_block(b, fresh(b, k), scalar_step, state, sums);
    });
  }
  state.measured(measures);
  state.worst_pivot = std::min(state.worst_pivot, choice.worst_pivot);

  l_.block(width_, 0, k, width_) = overlap.transpose();
  l_.block(width_, width_, k, k) = choice.schur_factor;
  z_.middleRows(width_, k) = choice.step;
  state.objective -= choice.step.squaredNorm();
  width_ += k;
  return std::nullopt;
}

// Moves the chosen ones of the columns stored after Q to the front.
template <class Scalar>
void RidgeFactor<Scalar>::move_chosen(Index block, const std::vector<Index>& columns,
                                      Matrix<Scalar>& scratch) {
  const Index k = static_cast<Index>(columns.size());
  MatrixMap<Scalar> front = fresh(block, k);
  if (scratch.rows() < front.rows() || scratch.cols() < k) scratch.resize(front.rows(), k);
  auto chosen = scratch.topLeftCorner(front.rows(), k);
  for (Index j = 0; j < k; ++j) chosen.col(j) = fresh(block, columns[j] + 1).col(columns[j]);
  front = chosen;
}

// "Twice is enough": what is left of Q in the new block is measured, in the inner product of
// [A; √λ I], and subtracted; overlap and factor are corrected to match.
template <class Scalar>
std::optional<Index> RidgeFactor<Scalar>::orthogonalize_again(MatrixD& overlap,
                                                              MatrixD& schur_factor,
                                                              RidgeState<Scalar>& state,
                                                              Team& team) {
  const Index k = schur_factor.rows();
  const Index size = width_ * k + k * k;
  const RowBlocks blocks = state.blocks.for_sums(size);
  const FactorColumns<Scalar> before = columns(0, width_);
  const VectorD total = blocks.sum(team, size, [&](double* sums, Index b, int worker) {
    const MatrixMap<Scalar> added = fresh(b, k);
    add_transposed_product(before.block(b, worker), added, matrix_map(sums, width_, k, width_));
    add_transposed_product(added, added, matrix_map(sums + width_ * k, k, k, k));
  });
  MatrixD left = before.products(Eigen::Map<const MatrixD>(total.data(), width_, k), team);
  MatrixD square = Eigen::Map<const MatrixD>(total.data() + width_ * k, k, k);

  // Rows of the new block that belong to √λ I: √λ [−L⁻ᵀB; I] L_s⁻ᵀ.
  constexpr auto none = blas::Op::none, transpose = blas::Op::transpose;
  const auto factor = l_.topLeftCorner(width_, width_);
  MatrixD upper = -overlap;
  solve_lower_transposed(factor, upper, team);
  solve_lower_from_right(schur_factor, upper, team);
  const MatrixD lower = inverse_transposed_columns(schur_factor, 0, team);
  MatrixD cross = upper;
  solve_lower(factor, cross, team);
  left += state.alpha * cross;
  multiply(transpose, none, state.alpha, upper, upper, 1, square, team);
  multiply(transpose, none, state.alpha, lower, lower, 1, square, team);
  multiply(transpose, none, -1, left, left, 1, square, team);
  const Index failed = blas::potrf(square);
  if (failed != 0) return failed - 1;  // nothing is left of that column
  const MatrixD correction = square.template triangularView<Eigen::Lower>();

  const Matrix<Scalar> leftover = before.coefficients(left, team).template cast<Scalar>();
  blocks.sweep(team, [&](Index, Index b, int worker) {
    subtract_product(before.block(b, worker), leftover, fresh(b, k));
    normalize_block(b, correction);
  });
  const MatrixD first_factor = schur_factor.template triangularView<Eigen::Lower>();
  multiply(none, transpose, 1, left, first_factor, 1, overlap, team);
  schur_factor = multiply_lower(first_factor, correction, team);
  return first_dependent(overlap, schur_factor, team);
}

// Q' = AΓ' has columns of length one. Its rounding errors are eps ‖a_i‖ |Γ'_i|, where ‖a_i‖² + λ is what the rows of L
// sum to; from √eps on they would show in predictions. The first pass cannot tell, since S is a difference of squares
// and a column that depends on others leaves no more there than the rounding of its own square.
template <class Scalar>
std::optional<Index> RidgeFactor<Scalar>::first_dependent(const MatrixD& overlap,
                                                          const MatrixD& schur_factor,
                                                          Team& team) const {
  constexpr double kLargest = 1.0 / static_cast<double>(std::numeric_limits<Scalar>::epsilon());
  const Index k = schur_factor.rows();
  const auto factor = l_.topLeftCorner(width_, width_);
  MatrixD before = -overlap;
  solve_lower_transposed(factor, before, team);
  solve_lower_from_right(schur_factor, before, team);
  const MatrixD added = inverse_transposed_columns(schur_factor, 0, team);
  VectorD norms(width_);
  for (Index i = 0; i < width_; ++i) norms[i] = l_.row(i).head(i + 1).squaredNorm();
  const VectorD added_norms =
      overlap.colwise().squaredNorm().transpose() + schur_factor.rowwise().squaredNorm();
  for (Index j = 0; j < k; ++j) {
    const double magnified =
        before.col(j).cwiseAbs2().dot(norms) + added.col(j).cwiseAbs2().dot(added_norms);
    if (!(magnified < kLargest)) return j;
  }
  return std::nullopt;
}

// The newest columns of a block, in place: Y ← Y L_s⁻ᵀ.
template <class Scalar>
void RidgeFactor<Scalar>::normalize_block(Index block, const MatrixD& schur_factor) {
  constexpr Index kFew = 8;
  const Index k = schur_factor.rows();
  MatrixMap<Scalar> added = fresh(block, k);
  if (k > kFew) {
    const Matrix<Scalar> factor = schur_factor.template cast<Scalar>();
    blas::trsm(blas::Side::right, blas::Op::transpose, factor, added);
    return;
  }
  for (Index j = 0; j < k; ++j) {
    for (Index i = 0; i < j; ++i)
      added.col(j) -= static_cast<Scalar>(schur_factor(j, i)) * added.col(i);
    added.col(j) *= static_cast<Scalar>(1 / schur_factor(j, j));
  }
}

// Converts between the columns of the factor and those of the design: fixed columns that were skipped get zeros.
template <class Scalar>
MatrixD RidgeFactor<Scalar>::expand(const MatrixD& kept, Index design_columns, Team& team) const {
  const Index units = design_columns - fixed_;
  MatrixD start = MatrixD::Zero(start_width(), kept.cols());
  for (Index j = 0; j < fixed_width(); ++j) start.row(kept_fixed_[j]) = kept.row(j);
  MatrixD all(design_columns, kept.cols());
  all.topRows(fixed_) = row_space_ ? row_space_->expand(start, team) : start;
  all.bottomRows(units) = kept.bottomRows(units);
  return all;
}

template <class Scalar>
MatrixD RidgeFactor<Scalar>::compress(const MatrixD& all) const {
  const Index fixed = static_cast<Index>(kept_fixed_.size()), units = width_ - fixed;
  MatrixD kept(width_, all.cols());
  for (Index j = 0; j < fixed; ++j) kept.row(j) = all.row(kept_fixed_[j]);
  kept.bottomRows(units) = all.bottomRows(units);
  return kept;
}

template <class Scalar>
MatrixD RidgeFactor<Scalar>::readout(Design<Scalar>&, Team& team) {
  return readout_of(z_.topRows(width_), team);
}

template <class Scalar>
MatrixD RidgeFactor<Scalar>::shrinkage(Index columns, Team& team) const {
  const MatrixD inverse = inverse_transposed_columns(l_.topLeftCorner(columns, columns), 0, team);
  MatrixD result = MatrixD::Zero(columns, columns);
  add_gram_of_upper(alpha_, inverse, result, team);
  return result;
}

template <class Scalar>
MatrixD RidgeFactor<Scalar>::readout_of(const MatrixD& coordinates, Team& team) const {
  MatrixD solution = coordinates;
  const Index width = solution.rows();
  solve_lower_transposed(l_.topLeftCorner(width, width), solution, team);
  return expand(solution, fixed_ + width - fixed_width(), team);
}

// Zeros at the end of z stay zeros, and the entries before them do not involve the rest of L.
template <class Scalar>
MatrixD RidgeFactor<Scalar>::readouts(const std::vector<Index>& units, Design<Scalar>& design,
                                      Team& team) const {
  const Index fixed = static_cast<Index>(kept_fixed_.size()), outputs = z_.cols();
  MatrixD solutions = MatrixD::Zero(width_, outputs * static_cast<Index>(units.size()));
  Index column = 0;
  for (const Index count : units) {
    solutions.block(0, column, fixed + count, outputs) = z_.topRows(fixed + count);
    column += outputs;
  }
  solve_lower_transposed(l_.topLeftCorner(width_, width_), solutions, team);
  return expand(solutions, design.columns(), team);
}

template <class Scalar>
std::optional<ReadoutPath> RidgeFactor<Scalar>::path_by(double alpha, Design<Scalar>& design,
                                                        Team& team) const {
  const Index fixed = fixed_width(), units = width_ - fixed, outputs = z_.cols();
  const MatrixD factor = l_.topLeftCorner(width_, width_).template triangularView<Eigen::Lower>();
  MatrixD other = MatrixD::Zero(width_, width_);
  add_outer_product(1, factor, other, team);
  other.diagonal().array() += alpha - alpha_;
  if (!cholesky(other, team)) return std::nullopt;
  MatrixD steps = factor * z_.topRows(width_);
  solve_lower(other, steps, team);
  MatrixD start = MatrixD::Zero(width_, outputs);
  start.topRows(fixed) = steps.topRows(fixed);
  solve_lower_transposed(other, start, team);
  ReadoutPath path;
  path.column_per_unit = true;
  path.start = expand(start, design.columns(), team);
  path.directions = expand(inverse_transposed_columns(other, fixed, team), design.columns(), team);
  path.steps = steps.bottomRows(units);
  path.ends = {0, units};
  return path;
}

template <class Scalar>
MatrixD RidgeFactor<Scalar>::solve(const MatrixD& rhs, Design<Scalar>&, Team& team) {
  if (row_space_) throw std::logic_error("readouts in the row space are not refined");
  const auto factor = l_.topLeftCorner(width_, width_);
  MatrixD solution = compress(rhs);
  solve_lower(factor, solution, team);
  solve_lower_transposed(factor, solution, team);
  return expand(solution, rhs.rows(), team);
}

template <class Scalar>
MatrixD RidgeFactor<Scalar>::directions(Design<Scalar>& design, Team& team) {
  const Index fixed = static_cast<Index>(kept_fixed_.size());
  const auto factor = l_.topLeftCorner(width_, width_);
  return expand(inverse_transposed_columns(factor, fixed, team), design.columns(), team);
}

template <class Scalar>
MatrixD RidgeFactor<Scalar>::unit_columns(const std::vector<Index>& rows) const {
  if (!holds_q()) throw std::logic_error("single rows of a factor that is not held");
  const Index fixed = static_cast<Index>(kept_fixed_.size());
  MatrixD columns(static_cast<Index>(rows.size()), width_ - fixed);
  for (Index j = 0; j < columns.cols(); ++j) {
    for (Index i = 0; i < columns.rows(); ++i) {
      const Index row = rows[static_cast<std::size_t>(i)];
      columns(i, j) = q_.column(row / block_rows_, fixed + j)[row % block_rows_];
    }
  }
  return columns;
}

template class FactorColumns<float>;
template class FactorColumns<double>;
template class RidgeFactor<float>;
template class RidgeFactor<double>;

}  // namespace stagenets
