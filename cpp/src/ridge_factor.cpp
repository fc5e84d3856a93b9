#include "residuum/ridge_factor.hpp"

#include <cmath>

#include "residuum/cholesky.hpp"
#include "residuum/gram.hpp"
#include "residuum/products.hpp"

namespace residuum {

template <class Scalar>
RidgeFactor<Scalar>::RidgeFactor(Design<Scalar>& design, RidgeState<Scalar>& state, Index units,
                                 Index spare, Team& team)
    : fixed_(design.fixed()),
      q_(state.blocks, design.fixed() + units + spare),
      l_(design.fixed() + units, design.fixed() + units),
      z_(MatrixD::Zero(design.fixed() + units, state.outputs())) {
  start(design, state, team);
}

// The fixed columns come all at once: Cholesky of their Gram matrix, then Q = A L⁻ᵀ block by block.
template <class Scalar>
void RidgeFactor<Scalar>::start(Design<Scalar>& design, RidgeState<Scalar>& state, Team& team) {
  const RowBlocks& blocks = state.blocks;
  const MatrixD& targets = state.targets;
  const Index outputs = state.outputs();
  const MatrixD joint =
      gram(blocks, fixed_ + outputs, team, [&](RowRange range, double* out, Index leading, int) {
        design.fixed_columns(range, 0, fixed_, out, leading);
        MatrixMap<double>(out + fixed_ * leading, range.count, outputs,
                          Eigen::OuterStride<>(leading)) =
            targets.middleRows(range.first, range.count);
      });
  MatrixD normal = joint.topLeftCorner(fixed_, fixed_);
  normal.diagonal().array() += state.alpha;
  const KeptCholesky factor(normal, team);
  kept_fixed_ = factor.kept;
  width_ = factor.l.rows();
  state.worst_pivot = std::min(state.worst_pivot, factor.worst_pivot);
  l_.topLeftCorner(width_, width_) = factor.l;

  blocks.sweep(team, [&](Index, Index b, int worker) {
    const RowRange range = blocks.block(b);
    MatrixD& wide = design.scratch(worker).wide;
    wide.resize(range.count, fixed_);
    design.fixed_columns(range, 0, fixed_, wide.data(), range.count);
    for (Index j = 0; j < width_; ++j) {
      if (kept_fixed_[j] != j) wide.col(j) = wide.col(kept_fixed_[j]);
    }
    blas::trsm<double>(blas::Side::right, blas::Op::transpose, range.count, width_, l_.data(),
                       l_.rows(), wide.data(), range.count);
    MatrixMap<Scalar>(q_.column(b, 0), range.count, width_, Eigen::OuterStride<>(q_.leading())) =
        wide.leftCols(width_).template cast<Scalar>();
  });
  if (state.worst_pivot < second_pass_threshold<double>()) orthogonalize_start_again(state, team);

  MatrixD right_side = factor.compress(joint.bottomLeftCorner(outputs, fixed_).transpose());
  solve_lower(l_, width_, right_side);
  z_.topRows(width_) = right_side;
  const double energy = targets.squaredNorm();
  state.objective = std::max(0.0, energy - right_side.squaredNorm());
  const Matrix<Scalar> step = right_side.template cast<Scalar>();
  LaneSums measures(blocks.lanes(), state.kSums);
  blocks.sweep(team, [&](Index lane, Index b, int) {
    const RowRange range = blocks.block(b);
    MatrixMap<Scalar>(state.residual.column(b, 0), range.count, outputs,
                      Eigen::OuterStride<>(state.residual.leading())) =
        targets.middleRows(range.first, range.count).template cast<Scalar>();
    absorb_block(b, 0, step, state, measures.lane(lane));
  });
  state.measured(measures.total());
}

// The second half of CholeskyQR2 on [A; √λ I]: measures how far [Q; √λ L⁻ᵀ] is from orthonormal
// columns, and corrects both Q and L by the factor of that.
template <class Scalar>
void RidgeFactor<Scalar>::orthogonalize_start_again(RidgeState<Scalar>& state, Team& team) {
  const RowBlocks& blocks = state.blocks;
  MatrixD deviation =
      gram(blocks, width_, team, [&](RowRange range, double* out, Index leading, int) {
        const Index b = range.first / blocks.block_rows();
        MatrixMap<double>(out, range.count, width_, Eigen::OuterStride<>(leading)) =
            ConstMatrixMap<Scalar>(q_.column(b, 0), range.count, width_,
                                   Eigen::OuterStride<>(q_.leading()))
                .template cast<double>();
      });
  const MatrixD inverse = inverse_transposed_columns(l_, width_, 0);
  deviation += state.alpha * (inverse.transpose() * inverse);
  if (!cholesky(deviation, team)) return;  // beyond repair; the first factor stands
  const MatrixD correction = deviation.template triangularView<Eigen::Lower>();
  blocks.sweep(team, [&](Index, Index b, int) {
    const RowRange range = blocks.block(b);
    MatrixMap<Scalar> panel(q_.column(b, 0), range.count, width_,
                            Eigen::OuterStride<>(q_.leading()));
    MatrixD wide = panel.template cast<double>();
    blas::trsm<double>(blas::Side::right, blas::Op::transpose, range.count, width_,
                       correction.data(), width_, wide.data(), range.count);
    panel = wide.template cast<Scalar>();
  });
  const MatrixD corrected =
      l_.topLeftCorner(width_, width_).template triangularView<Eigen::Lower>() * correction;
  l_.topLeftCorner(width_, width_) = corrected;
}

// R -= Q[:, first …] z on one block, and what follows from that.
template <class Scalar>
void RidgeFactor<Scalar>::absorb_block(Index block, Index first, const Matrix<Scalar>& z,
                                       RidgeState<Scalar>& state, double* measures) {
  const Scalar* q = q_.column(block, first);
  subtract_product<Scalar>(q, q_.leading(), z.rows(), z.data(), z.rows(), z.cols(),
                           state.residual.column(block, 0), state.residual.leading(),
                           state.blocks.block(block).count);
  state.measure_block(block, q, q_.leading(), z.rows(), measures);
}

template <class Scalar>
Projection RidgeFactor<Scalar>::project(Design<Scalar>& design, RidgeState<Scalar>& state,
                                        Team& team) {
  const Index k = design.source().count(Units::selected), q = state.outputs();
  const Index leading = q_.leading(), size = width_ * k + k * k + k * q;
  const RowBlocks blocks = state.blocks.for_sums(size);
  LaneSums sums(blocks.lanes(), size);
  blocks.sweep(team, [&](Index lane, Index b, int worker) {
    Stopwatch watch;
    const RowRange range = blocks.block(b);
    // G waits in the place that Q' will take.
    Scalar* fresh = q_.column(b, width_);
    design.evaluate(Units::selected, range, fresh, leading, nullptr, worker);
    double* overlap = sums.lane(lane);
    double* square = overlap + width_ * k;
    double* gain = square + k * k;
    add_transposed_product<Scalar>(q_.column(b, 0), leading, width_, fresh, leading, k, range.count,
                                   overlap, width_);
    add_transposed_product<Scalar>(fresh, leading, k, fresh, leading, k, range.count, square, k);
    add_transposed_product<Scalar>(fresh, leading, k, state.residual.column(b, 0),
                                   state.residual.leading(), q, range.count, gain, k);
    design.scratch(worker).profile.project += watch.lap();
  });
  const VectorD total = sums.total();
  overlap_ = Eigen::Map<const MatrixD>(total.data(), width_, k);
  Projection projection;
  projection.schur = Eigen::Map<const MatrixD>(total.data() + width_ * k, k, k);
  projection.schur.diagonal().array() += state.alpha;
  projection.penalized_norm = projection.schur.diagonal();
  projection.schur -= overlap_.transpose() * overlap_;
  projection.residual_gain = Eigen::Map<const MatrixD>(total.data() + width_ * k + k * k, k, q);
  return projection;
}

template <class Scalar>
void RidgeFactor<Scalar>::append(Choice& choice, const Projection& projection,
                                 Design<Scalar>& design, RidgeState<Scalar>& state, Team& team) {
  const RowBlocks& blocks = state.blocks;
  const Index k = choice.size();
  MatrixD overlap(width_, k), gain(k, state.outputs());
  bool in_place = true;
  for (Index j = 0; j < k; ++j) {
    overlap.col(j) = overlap_.col(choice.columns[j]);
    gain.row(j) = projection.residual_gain.row(choice.columns[j]);
    in_place = in_place && choice.columns[j] == j;
  }
  state.worst_pivot = std::min(state.worst_pivot, choice.worst_pivot);
  const bool twice = choice.worst_pivot < second_pass_threshold<Scalar>();

  const Matrix<Scalar> scalar_overlap = overlap.template cast<Scalar>();
  Matrix<Scalar> scalar_step = choice.step.template cast<Scalar>();
  LaneSums measures(blocks.lanes(), state.kSums);
  blocks.sweep(team, [&](Index lane, Index b, int worker) {
    Stopwatch watch;
    const Index rows = blocks.block(b).count;
    if (!in_place) move_chosen(b, rows, choice.columns, design.scratch(worker).pool);
    subtract_product<Scalar>(q_.column(b, 0), q_.leading(), width_, scalar_overlap.data(), width_,
                             k, q_.column(b, width_), q_.leading(), rows);
    normalize_block(b, rows, choice.schur_factor);
    if (!twice) absorb_block(b, width_, scalar_step, state, measures.lane(lane));
    design.scratch(worker).profile.append += watch.lap();
  });
  if (twice) {
    orthogonalize_again(overlap, choice.schur_factor, state, team);
    choice.step = choice.schur_factor.template triangularView<Eigen::Lower>().solve(gain);
    scalar_step = choice.step.template cast<Scalar>();
    blocks.sweep(team, [&](Index lane, Index b, int) {
      absorb_block(b, width_, scalar_step, state, measures.lane(lane));
    });
  }
  state.measured(measures.total());

  l_.block(width_, 0, k, width_) = overlap.transpose();
  l_.block(width_, width_, k, k) = choice.schur_factor;
  z_.middleRows(width_, k) = choice.step;
  width_ += k;
}

// The chosen ones of the columns that wait behind Q move to the front of them.
template <class Scalar>
void RidgeFactor<Scalar>::move_chosen(Index block, Index rows, const std::vector<Index>& columns,
                                      Matrix<Scalar>& scratch) {
  const Index k = static_cast<Index>(columns.size());
  if (scratch.rows() < rows || scratch.cols() < k) scratch.resize(rows, k);
  for (Index j = 0; j < k; ++j) {
    std::copy_n(q_.column(block, width_ + columns[j]), rows, scratch.col(j).data());
  }
  for (Index j = 0; j < k; ++j) {
    std::copy_n(scratch.col(j).data(), rows, q_.column(block, width_ + j));
  }
}

// "Twice is enough": what is left of Q in the new block is measured, in the inner product of
// [A; √λ I], and taken out; overlap and factor are corrected to match.
template <class Scalar>
void RidgeFactor<Scalar>::orthogonalize_again(MatrixD& overlap, MatrixD& schur_factor,
                                              RidgeState<Scalar>& state, Team& team) {
  const Index k = schur_factor.rows(), leading = q_.leading();
  const RowBlocks blocks = state.blocks.for_sums(width_ * k + k * k);
  LaneSums sums(blocks.lanes(), width_ * k + k * k);
  blocks.sweep(team, [&](Index lane, Index b, int) {
    const Index rows = blocks.block(b).count;
    const Scalar* fresh = q_.column(b, width_);
    add_transposed_product<Scalar>(q_.column(b, 0), leading, width_, fresh, leading, k, rows,
                                   sums.lane(lane), width_);
    add_transposed_product<Scalar>(fresh, leading, k, fresh, leading, k, rows,
                                   sums.lane(lane) + width_ * k, k);
  });
  const VectorD total = sums.total();
  MatrixD left = Eigen::Map<const MatrixD>(total.data(), width_, k);
  MatrixD square = Eigen::Map<const MatrixD>(total.data() + width_ * k, k, k);

  // Rows of the new block that belong to √λ I: √λ [−L⁻ᵀB; I] L_s⁻ᵀ.
  MatrixD upper = -overlap;
  solve_lower_transposed(l_, width_, upper);
  const MatrixD lower = inverse_transposed_columns(schur_factor, k, 0);
  upper = upper * lower;
  MatrixD cross = upper;
  solve_lower(l_, width_, cross);
  left += state.alpha * cross;
  square += state.alpha * (upper.transpose() * upper + lower.transpose() * lower);
  square -= left.transpose() * left;
  if (blas::potrf<double>(k, square.data(), k) != 0) return;
  const MatrixD correction = square.template triangularView<Eigen::Lower>();

  const Matrix<Scalar> leftover = left.template cast<Scalar>();
  blocks.sweep(team, [&](Index, Index b, int) {
    const Index rows = blocks.block(b).count;
    subtract_product<Scalar>(q_.column(b, 0), leading, width_, leftover.data(), width_, k,
                             q_.column(b, width_), leading, rows);
    normalize_block(b, rows, correction);
  });
  const MatrixD first_factor = schur_factor.template triangularView<Eigen::Lower>();
  overlap += left * first_factor.transpose();
  schur_factor = first_factor * correction;
}

// The newest columns of a block, in place: Y ← Y L_s⁻ᵀ.
template <class Scalar>
void RidgeFactor<Scalar>::normalize_block(Index block, Index rows, const MatrixD& schur_factor) {
  constexpr Index kFew = 8;
  const Index k = schur_factor.rows();
  if (k > kFew) {
    const Matrix<Scalar> factor = schur_factor.template cast<Scalar>();
    blas::trsm<Scalar>(blas::Side::right, blas::Op::transpose, rows, k, factor.data(), k,
                       q_.column(block, width_), q_.leading());
    return;
  }
  MatrixMap<Scalar> fresh(q_.column(block, width_), rows, k, Eigen::OuterStride<>(q_.leading()));
  for (Index j = 0; j < k; ++j) {
    for (Index i = 0; i < j; ++i)
      fresh.col(j) -= static_cast<Scalar>(schur_factor(j, i)) * fresh.col(i);
    fresh.col(j) *= static_cast<Scalar>(1 / schur_factor(j, j));
  }
}

// Between the factor's columns and the design's: fixed columns that were passed over have zeros.
template <class Scalar>
MatrixD RidgeFactor<Scalar>::expand(const MatrixD& kept, Index design_columns) const {
  const Index fixed = static_cast<Index>(kept_fixed_.size()), units = design_columns - fixed_;
  MatrixD all = MatrixD::Zero(design_columns, kept.cols());
  for (Index j = 0; j < fixed; ++j) all.row(kept_fixed_[j]) = kept.row(j);
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
MatrixD RidgeFactor<Scalar>::readout(Design<Scalar>& design, Team&) {
  MatrixD solution = z_.topRows(width_);
  solve_lower_transposed(l_, width_, solution);
  return expand(solution, design.columns());
}

// Zeros at the end of z stay zeros, and what comes before them never meets the rest of L.
template <class Scalar>
MatrixD RidgeFactor<Scalar>::readouts(const std::vector<Index>& units,
                                      Design<Scalar>& design) const {
  const Index fixed = static_cast<Index>(kept_fixed_.size()), outputs = z_.cols();
  MatrixD solutions = MatrixD::Zero(width_, outputs * static_cast<Index>(units.size()));
  Index column = 0;
  for (const Index count : units) {
    solutions.block(0, column, fixed + count, outputs) = z_.topRows(fixed + count);
    column += outputs;
  }
  solve_lower_transposed(l_, width_, solutions);
  return expand(solutions, design.columns());
}

template <class Scalar>
MatrixD RidgeFactor<Scalar>::solve(const MatrixD& rhs, Design<Scalar>&, Team&) {
  MatrixD solution = compress(rhs);
  solve_lower(l_, width_, solution);
  solve_lower_transposed(l_, width_, solution);
  return expand(solution, rhs.rows());
}

template <class Scalar>
MatrixD RidgeFactor<Scalar>::directions(Design<Scalar>& design, Team&) {
  const Index fixed = static_cast<Index>(kept_fixed_.size());
  return expand(inverse_transposed_columns(l_, width_, fixed), design.columns());
}

template class RidgeFactor<float>;
template class RidgeFactor<double>;

}  // namespace residuum
