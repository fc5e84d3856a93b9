#include "stagenets/dual_factor.hpp"

#include <stdexcept>

#include "stagenets/cholesky.hpp"
#include "stagenets/cholesky_qr.hpp"
#include "stagenets/gram.hpp"

namespace stagenets {
namespace {

using blas::Op;

// All units kept, on all rows, of which there are few in this form.
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

// Aᵀ x over all columns of the design.
template <class Scalar>
MatrixD design_transposed_times(Design<Scalar>& design, const MatrixD& x, const RowBlocks& blocks,
                                Team& team) {
  MatrixD product(design.columns(), x.cols());
  product.topRows(design.fixed()) = design.fixed_transposed_times(x, team);
  const MatrixD hidden = kept_units(design, blocks, team);
  multiply(Op::transpose, Op::none, 1, hidden, x, 0, product.bottomRows(hidden.cols()), team);
  return product;
}

}  // namespace

std::domain_error dual_form_is_singular() {
  return std::domain_error(
      "alpha is too small for solver='dual' on these inputs: the kernel matrix is singular to "
      "working precision; use a larger alpha or solver='primal'");
}

template <class Scalar>
DualFactor<Scalar>::DualFactor(Design<Scalar>& design, RidgeState<Scalar>& state, Index units,
                               Team& team)
    : alpha_(state.alpha),
      targets_(state.targets),
      blocks_(state.blocks),
      columns_before_(design.fixed() + units) {
  if (blocks_.reduction()) {
    throw std::logic_error("the dual form needs all rows in one process; use solver='primal'");
  }
  l_ = design.fixed_products_of_rows(blocks_, team);
  if (units > 0) {
    add_outer_product(1, kept_units(design, blocks_, team).leftCols(units), l_, team);
  }
  l_.diagonal().array() += alpha_;
  const double largest = l_.diagonal().maxCoeff();
  trace_ = l_.diagonal().sum();
  check_squares(trace_);
  check_squares(targets_.squaredNorm());
  const auto smallest_pivot = [&] { return l_.diagonal().array().square().minCoeff() / largest; };
  if (!cholesky(l_, team) || smallest_pivot() < 1e-8) factor_by_qr(design, units, team);
  state.worst_pivot = std::min(state.worst_pivot, smallest_pivot());
}

// AAᵀ squares the condition number: a penalty of 1e-12 ‖A‖² is well above rounding in A but lost in that of AAᵀ.
// L is also the factor of [A √λI] = L Q with orthonormal rows in Q, which can be computed without squaring.
template <class Scalar>
void DualFactor<Scalar>::factor_by_qr(Design<Scalar>& design, Index units, Team& team) {
  const Index n = design.rows(), fixed = design.fixed();
  MatrixD wide = MatrixD::Zero(n, fixed + units + n);
  design.visit_fixed_columns(blocks_, team, [&](Index first, Index count, const MatrixD& columns) {
    wide.middleCols(first, count) = columns.leftCols(count);
  });
  if (units > 0) {
    wide.middleCols(fixed, units) = kept_units(design, blocks_, team).leftCols(units);
  }
  wide.rightCols(n).diagonal().setConstant(std::sqrt(alpha_));
  const double size = wide.norm();
  if (!lower_of_rows(wide, l_, team) ||
      !(l_.diagonal().minCoeff() > static_cast<double>(n) * 1e-16 * size)) {
    throw dual_form_is_singular();
  }
}

template <class Scalar>
void DualFactor<Scalar>::initialize(RidgeState<Scalar>& state, Team& team) {
  if (state.leverage.size() > 0) {
    state.leverage = 1.0 - alpha_ * inverse_square_norms(l_, team).array();
  }
  solve_targets(state, team);
}

// R = λ K⁻¹ T and J = λ Tᵀ K⁻¹ T, as a sum of squares. Both may be tiny beside what they were a stage ago, of which
// differences would keep nothing but rounding.
template <class Scalar>
void DualFactor<Scalar>::solve_targets(RidgeState<Scalar>& state, Team& team) {
  residual_ = targets_;
  solve_lower(l_, residual_, team);
  state.objective = alpha_ * residual_.squaredNorm();
  solve_lower_transposed(l_, residual_, team);
  residual_ *= alpha_;
  VectorD measures = VectorD::Zero(state.kSums);
  for (Index b = 0; b < blocks_.blocks(); ++b) {
    const RowRange range = blocks_.block(b);
    state.residual.block(b, 0, state.outputs()) =
        residual_.middleRows(range.first, range.count).template cast<Scalar>();
    state.measure_block(b, state.residual.block(b, 0, 0), measures.data());
  }
  state.measured(measures);
  state.residual_energy = residual_.squaredNorm();
}

template <class Scalar>
void DualFactor<Scalar>::solve_kernel(MatrixD& x, Team& team) const {
  solve_lower(l_, x, team);
  solve_lower_transposed(l_, x, team);
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
  solve_lower(l_, half_solved_, team);
  Projection projection;
  projection.schur = alpha_ * MatrixD::Identity(k, k);
  multiply(Op::transpose, Op::none, alpha_, half_solved_, half_solved_, 1, projection.schur, team);
  projection.residual_gain.resize(k, state.outputs());
  multiply(Op::transpose, Op::none, 1, fresh_, residual_, 0, projection.residual_gain, team);
  projection.penalized_norm = fresh_.colwise().squaredNorm().transpose().array() + alpha_;
  return projection;
}

template <class Scalar>
std::optional<Index> DualFactor<Scalar>::append(Choice& choice, const Projection&, Design<Scalar>&,
                                                RidgeState<Scalar>& state, Team& team) {
  const Index k = choice.size();
  MatrixD solved(l_.rows(), k);
  for (Index j = 0; j < k; ++j) solved.col(j) = half_solved_.col(choice.columns[j]);
  solve_lower_transposed(l_, solved, team);
  solve_lower_from_right(choice.schur_factor, solved, team);
  state.worst_pivot = std::min(state.worst_pivot, choice.worst_pivot);
  if (state.leverage.size() > 0) {
    state.leverage += (alpha_ * alpha_) * solved.rowwise().squaredNorm();
  }
  MatrixD chosen(l_.rows(), k);
  for (Index j = 0; j < k; ++j) chosen.col(j) = fresh_.col(choice.columns[j]);
  trace_ += chosen.squaredNorm();
  cholesky_update(l_, chosen, team);
  solve_targets(state, team);
  own_.push_back(inverse_transposed_columns(choice.schur_factor, 0, team));
  solved_.push_back(std::move(solved));
  return std::nullopt;
}

template <class Scalar>
MatrixD DualFactor<Scalar>::readout(Design<Scalar>& design, Team& team) {
  constexpr double kWorstUnrefined = 1e4;
  MatrixD dual = targets_;
  solve_kernel(dual, team);
  MatrixD omega = design_transposed_times(design, dual, blocks_, team);
  if (condition() > kWorstUnrefined) refine_readout(omega, dual, design, team);
  return omega;
}

template <class Scalar>
Index DualFactor<Scalar>::columns() const {
  Index count = columns_before_;
  for (const MatrixD& block : own_) count += block.cols();
  return count;
}

// Ω = Aᵀu, where u = K⁻¹T is of size ‖R‖/λ: what cancels in Aᵀu leaves errors in Ω that A magnifies, while R = λu is as
// it should be. So the two of them are held against T: what A Ω + λu lacks is taken out by the kernel once more, as often
// as that helps. A step shrinks the error by about 1e-16 times the condition of [A √λI], which is not squared here.
template <class Scalar>
void DualFactor<Scalar>::refine_readout(MatrixD& omega, MatrixD& dual, Design<Scalar>& design,
                                        Team& team) const {
  constexpr int kMostSteps = 6;
  const Index others = omega.rows() - columns();  // units kept that are not in K
  omega.bottomRows(others).setZero();
  const auto lacking = [&](const MatrixD& readout, const MatrixD& u) -> MatrixD {
    return targets_ - design.times(readout, blocks_, team) - alpha_ * u;
  };
  MatrixD gap = lacking(omega, dual);
  for (int step = 0; step < kMostSteps; ++step) {
    MatrixD change = gap;
    solve_kernel(change, team);
    MatrixD better = omega + design_transposed_times(design, change, blocks_, team);
    better.bottomRows(others).setZero();
    change += dual;
    MatrixD smaller = lacking(better, change);
    const double ratio = smaller.norm() / gap.norm();
    if (!(ratio < 1)) return;
    omega.swap(better);
    dual.swap(change);
    gap.swap(smaller);
    if (ratio > 0.1) return;
  }
}

// (AᵀA + λI)⁻¹ = (I − Aᵀ K⁻¹ A) / λ.
template <class Scalar>
MatrixD DualFactor<Scalar>::solve(const MatrixD& rhs, Design<Scalar>& design, Team& team) {
  MatrixD image = design.times(rhs, blocks_, team);
  solve_kernel(image, team);
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

// Q' = λ K⁻¹ G L_s⁻ᵀ.
template <class Scalar>
MatrixD DualFactor<Scalar>::unit_columns(const std::vector<Index>& rows) const {
  Index units = 0;
  for (const MatrixD& block : solved_) units += block.cols();
  MatrixD columns(static_cast<Index>(rows.size()), units);
  Index column = 0;
  for (const MatrixD& block : solved_) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      columns.block(static_cast<Index>(i), column, 1, block.cols()) = alpha_ * block.row(rows[i]);
    }
    column += block.cols();
  }
  return columns;
}

template class DualFactor<float>;
template class DualFactor<double>;

}  // namespace stagenets
