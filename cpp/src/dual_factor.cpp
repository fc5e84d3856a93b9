#include "residuum/dual_factor.hpp"

#include <Eigen/QR>
#include <stdexcept>

#include "residuum/blas.hpp"
#include "residuum/cholesky.hpp"
#include "residuum/tiles.hpp"

namespace residuum {
namespace {

using blas::Op;

// Lower triangle of K += A Aᵀ, tile by tile.
void add_outer_product(const MatrixD& a, Index columns, MatrixD& k, Team& team) {
  constexpr Index kTile = 128;
  const Index n = k.rows(), tiles = (n + kTile - 1) / kTile;
  for_each_lower_tile(team, tiles, [&](Index i, Index j) {
    blas::gemm<double>(Op::none, Op::transpose, std::min(kTile, n - i * kTile),
                       std::min(kTile, n - j * kTile), columns, 1.0, a.data() + i * kTile, n,
                       a.data() + j * kTile, n, 1.0, &k(i * kTile, j * kTile), n);
  });
}

// The design's fixed columns, some hundreds at a time: visit(first, count, columns).
template <class Scalar, class Visit>
void visit_fixed_columns(Design<Scalar>& design, const RowBlocks& blocks, Team& team,
                         Visit&& visit) {
  constexpr Index kColumns = 512;
  MatrixD columns(design.rows(), std::min(kColumns, design.fixed()));
  for (Index first = 0; first < design.fixed(); first += kColumns) {
    const Index count = std::min(kColumns, design.fixed() - first);
    blocks.sweep(team, [&](Index, Index b, int) {
      const RowRange range = blocks.block(b);
      design.fixed_columns(range, first, count, columns.data() + range.first, columns.rows());
    });
    visit(first, count, columns);
  }
}

// All units kept, on all rows: in this form there are few rows.
template <class Scalar>
MatrixD kept_units(Design<Scalar>& design, const RowBlocks& blocks, Team& team) {
  const Index units = design.source().count(Units::kept);
  Matrix<Scalar> hidden(design.rows(), units);
  blocks.sweep(team, [&](Index, Index b, int worker) {
    const RowRange range = blocks.block(b);
    design.evaluate(Units::kept, range, hidden.data() + range.first, hidden.rows(), nullptr,
                    worker);
  });
  return hidden.template cast<double>();
}

// Aᵀ x over all columns of the design; threads take some of the columns each.
template <class Scalar>
MatrixD design_transposed_times(Design<Scalar>& design, const MatrixD& x, const RowBlocks& blocks,
                                Team& team) {
  constexpr Index kColumns = 256;
  const Index rows = design.rows(), fixed = design.fixed();
  MatrixD product = MatrixD::Zero(design.columns(), x.cols());
  team.for_each((fixed + kColumns - 1) / kColumns, [&](Index chunk, int worker) {
    const Index first = chunk * kColumns, count = std::min(kColumns, fixed - first);
    MatrixD& columns = design.scratch(worker).wide;
    columns.resize(rows, count);
    design.fixed_columns({0, rows}, first, count, columns.data(), rows);
    blas::gemm<double>(Op::transpose, Op::none, count, x.cols(), rows, 1.0, columns.data(), rows,
                       x.data(), rows, 0.0, product.data() + first, product.rows());
  });
  const MatrixD hidden = kept_units(design, blocks, team);
  blas::gemm<double>(Op::transpose, Op::none, hidden.cols(), x.cols(), x.rows(), 1.0, hidden.data(),
                     hidden.rows(), x.data(), x.rows(), 0.0, product.data() + design.fixed(),
                     product.rows());
  return product;
}

}  // namespace

template <class Scalar>
DualFactor<Scalar>::DualFactor(Design<Scalar>& design, RidgeState<Scalar>& state, Index units,
                               Team& team)
    : alpha_(state.alpha),
      targets_(state.targets),
      blocks_(state.blocks),
      columns_before_(design.fixed() + units),
      l_(MatrixD::Zero(design.rows(), design.rows())) {
  visit_fixed_columns(design, blocks_, team, [&](Index, Index count, const MatrixD& columns) {
    add_outer_product(columns, count, l_, team);
  });
  if (units > 0) add_outer_product(kept_units(design, blocks_, team), units, l_, team);
  l_.diagonal().array() += alpha_;
  const double largest = l_.diagonal().maxCoeff();
  const auto smallest_pivot = [&] { return l_.diagonal().array().square().minCoeff() / largest; };
  if (!cholesky(l_, team) || smallest_pivot() < 1e-8) factor_by_qr(design, units, team);
  state.worst_pivot = std::min(state.worst_pivot, smallest_pivot());
}

// AAᵀ squares the conditioning: a penalty of 1e-12 ‖A‖² is at home in A but lost in the rounding of AAᵀ.
// L is also the transposed R of the QR factorisation of [Aᵀ; √λ I], which squares nothing.
template <class Scalar>
void DualFactor<Scalar>::factor_by_qr(Design<Scalar>& design, Index units, Team& team) {
  const Index n = design.rows(), fixed = design.fixed();
  MatrixD tall = MatrixD::Zero(fixed + units + n, n);
  visit_fixed_columns(design, blocks_, team, [&](Index first, Index count, const MatrixD& columns) {
    tall.middleRows(first, count) = columns.leftCols(count).transpose();
  });
  if (units > 0) {
    tall.middleRows(fixed, units) = kept_units(design, blocks_, team).leftCols(units).transpose();
  }
  tall.bottomRows(n).diagonal().setConstant(std::sqrt(alpha_));
  const double size = tall.norm();
  const Eigen::HouseholderQR<MatrixD> qr(std::move(tall));
  l_ = qr.matrixQR().topRows(n).template triangularView<Eigen::Upper>().transpose();
  for (Index j = 0; j < n; ++j) {
    if (l_(j, j) < 0) l_.col(j) = -l_.col(j);
  }
  if (!(l_.diagonal().minCoeff() > static_cast<double>(n) * 1e-16 * size)) {
    throw std::domain_error(
        "alpha is too small for solver='dual' on these inputs: the kernel matrix is singular to "
        "working precision; use a larger alpha or solver='primal'");
  }
}

template <class Scalar>
void DualFactor<Scalar>::initialize(RidgeState<Scalar>& state) {
  MatrixD residual = targets_;
  solve_lower(l_, l_.rows(), residual);
  // J = λ Tᵀ K⁻¹ T as a sum of squares: no cancellation.
  state.objective = alpha_ * residual.squaredNorm();
  solve_lower_transposed(l_, l_.rows(), residual);
  residual *= alpha_;
  if (state.leverage.size() > 0) {
    MatrixD inverse = MatrixD::Identity(l_.rows(), l_.rows());
    solve_lower(l_, l_.rows(), inverse);
    state.leverage = 1.0 - alpha_ * inverse.colwise().squaredNorm().transpose().array();
  }
  store_residual(residual, state);
}

template <class Scalar>
MatrixD DualFactor<Scalar>::residual_of(const RidgeState<Scalar>& state) const {
  MatrixD residual(l_.rows(), state.outputs());
  for (Index b = 0; b < blocks_.blocks(); ++b) {
    const RowRange range = blocks_.block(b);
    residual.middleRows(range.first, range.count) =
        ConstMatrixMap<Scalar>(state.residual.column(b, 0), range.count, state.outputs(),
                               Eigen::OuterStride<>(state.residual.leading()))
            .template cast<double>();
  }
  return residual;
}

template <class Scalar>
void DualFactor<Scalar>::store_residual(const MatrixD& residual, RidgeState<Scalar>& state) const {
  VectorD measures = VectorD::Zero(state.kSums);
  for (Index b = 0; b < blocks_.blocks(); ++b) {
    const RowRange range = blocks_.block(b);
    MatrixMap<Scalar>(state.residual.column(b, 0), range.count, state.outputs(),
                      Eigen::OuterStride<>(state.residual.leading())) =
        residual.middleRows(range.first, range.count).template cast<Scalar>();
    state.measure_block(b, nullptr, 0, 0, measures.data());
  }
  state.measured(measures);
  state.residual_energy = residual.squaredNorm();  // before it was rounded
}

template <class Scalar>
void DualFactor<Scalar>::solve_kernel(MatrixD& x) const {
  solve_lower(l_, l_.rows(), x);
  solve_lower_transposed(l_, l_.rows(), x);
}

template <class Scalar>
Projection DualFactor<Scalar>::project(Design<Scalar>& design, RidgeState<Scalar>& state,
                                       Team& team) {
  const Index k = design.source().count(Units::selected);
  Matrix<Scalar> fresh(design.rows(), k);
  blocks_.sweep(team, [&](Index, Index b, int worker) {
    const RowRange range = blocks_.block(b);
    design.evaluate(Units::selected, range, fresh.data() + range.first, fresh.rows(), nullptr,
                    worker);
  });
  fresh_ = fresh.template cast<double>();
  half_solved_ = fresh_;
  solve_lower(l_, l_.rows(), half_solved_);
  Projection projection;
  projection.schur = alpha_ * (MatrixD::Identity(k, k) + half_solved_.transpose() * half_solved_);
  projection.residual_gain = fresh_.transpose() * residual_of(state);
  projection.penalized_norm = fresh_.colwise().squaredNorm().transpose().array() + alpha_;
  return projection;
}

template <class Scalar>
void DualFactor<Scalar>::append(Choice& choice, const Projection&, Design<Scalar>&,
                                RidgeState<Scalar>& state, Team&) {
  const Index k = choice.size();
  MatrixD solved(l_.rows(), k);
  for (Index j = 0; j < k; ++j) solved.col(j) = half_solved_.col(choice.columns[j]);
  solve_lower_transposed(l_, l_.rows(), solved);
  const auto factor = choice.schur_factor.template triangularView<Eigen::Lower>();
  solved = factor.solve(solved.transpose()).transpose();
  const MatrixD residual = residual_of(state) - alpha_ * (solved * choice.step);
  state.worst_pivot = std::min(state.worst_pivot, choice.worst_pivot);
  if (state.leverage.size() > 0) {
    state.leverage += (alpha_ * alpha_) * solved.rowwise().squaredNorm();
  }
  store_residual(residual, state);
  MatrixD chosen(l_.rows(), k);
  for (Index j = 0; j < k; ++j) chosen.col(j) = fresh_.col(choice.columns[j]);
  cholesky_update(l_, chosen);
  own_.push_back(inverse_transposed_columns(choice.schur_factor, k, 0));
  solved_.push_back(std::move(solved));
}

template <class Scalar>
MatrixD DualFactor<Scalar>::readout(Design<Scalar>& design, Team& team) {
  MatrixD dual = targets_;
  solve_kernel(dual);
  return design_transposed_times(design, dual, blocks_, team);
}

// (AᵀA + λI)⁻¹ = (I − Aᵀ K⁻¹ A) / λ.
template <class Scalar>
MatrixD DualFactor<Scalar>::solve(const MatrixD& rhs, Design<Scalar>& design, Team& team) {
  MatrixD image = design.times(rhs, blocks_, team);
  solve_kernel(image);
  return (rhs - design_transposed_times(design, image, blocks_, team)) / alpha_;
}

// Above its own block, a column of Γ is −Aᵀ K⁻¹ G L_s⁻ᵀ over the columns that came before it.
template <class Scalar>
MatrixD DualFactor<Scalar>::directions(Design<Scalar>& design, Team& team) {
  Index units = 0;
  for (const MatrixD& block : own_) units += block.cols();
  MatrixD solved(design.rows(), units);
  Index column = 0;
  for (const MatrixD& block : solved_) {
    solved.middleCols(column, block.cols()) = block;
    column += block.cols();
  }
  MatrixD all = -design_transposed_times(design, solved, blocks_, team);
  column = 0;
  for (const MatrixD& block : own_) {
    const Index k = block.cols(), before = columns_before_ + column;
    all.block(before, column, all.rows() - before, k).setZero();
    all.block(before, column, k, k) = block;
    column += k;
  }
  return all;
}

template class DualFactor<float>;
template class DualFactor<double>;

}  // namespace residuum
