#include "stagenets/wide_factor.hpp"

#include "stagenets/cholesky.hpp"
#include "stagenets/dual_factor.hpp"
#include "stagenets/gram.hpp"
#include "stagenets/products.hpp"

namespace stagenets {

using blas::Op;

template <class Scalar>
WideFactor<Scalar>::WideFactor(Design<Scalar>& design, RidgeState<Scalar>& state, Index units,
                               Index spare, Team& team)
    : design_(design),
      blocks_(state.blocks),
      alpha_(state.alpha),
      l0_(design.fixed_products_of_rows(state.blocks, team)),
      rank_(std::min(design.fixed(), design.sparse_links().distinct_rows())),
      q_(state.blocks, units + spare),
      l_(units, units),
      z_(units, state.outputs()) {
  l0_.diagonal().array() += alpha_;
  trace_ = l0_.diagonal().sum();
  check_squares(trace_);
  check_squares(state.targets.squaredNorm());
  largest_ = l0_.diagonal().maxCoeff();
  if (!cholesky(l0_, team)) throw dual_form_is_singular();
}

// Residual, objective and leverages before the first unit: R = λK₀⁻¹T, J = λ TᵀK₀⁻¹T, h = 1 − λ diag(K₀⁻¹).
template <class Scalar>
void WideFactor<Scalar>::initialize(RidgeState<Scalar>& state, Team& team) {
  state.worst_pivot =
      std::min(state.worst_pivot, l0_.diagonal().array().square().minCoeff() / largest_);
  dual_ = state.targets;
  solve_lower(l0_, dual_, team);
  state.objective = alpha_ * dual_.squaredNorm();
  solve_lower_transposed(l0_, dual_, team);
  if (state.leverage.size() > 0) {
    state.leverage = 1.0 - alpha_ * inverse_square_norms(l0_, team).array();
  }
  state.measured(blocks_.sum(team, state.kSums, [&](double* sums, Index b, int) {
    const RowRange range = blocks_.block(b);
    state.residual.block(b, 0, state.outputs()) =
        (alpha_ * dual_.middleRows(range.first, range.count)).template cast<Scalar>();
    state.measure_block(b, q_.block(b, 0, 0), sums);
  }));
}

template <class Scalar>
void WideFactor<Scalar>::solve_kernel(MatrixD& x, Team& team) const {
  solve_lower(l0_, x, team);
  solve_lower_transposed(l0_, x, team);
}

template <class Scalar>
MatrixD WideFactor<Scalar>::image(const MatrixD& values, Team& team) const {
  MatrixD solved = values;
  solve_kernel(solved, team);
  return values - alpha_ * solved;
}

template <class Scalar>
Projection WideFactor<Scalar>::project(Design<Scalar>& design, RidgeState<Scalar>& state,
                                       Team& team) {
  const Index k = design.source().count(Units::selected), q = state.outputs();
  half_solved_.resize(design.rows(), k);
  const Index size = width_ * k + k * q;
  const RowBlocks blocks = blocks_.for_sums(size);
  const VectorD total = blocks.sum(team, size, [&](double* sums, Index b, int worker) {
    const RowRange range = blocks.block(b);
    const MatrixMap<Scalar> fresh = q_.block(b, width_, k);
    design.evaluate(Units::selected, range, q_.column(b, width_), fresh.outerStride(), nullptr,
                    worker);
    half_solved_.middleRows(range.first, range.count) = fresh.template cast<double>();
    add_transposed_product(q_.block(b, 0, width_), fresh, matrix_map(sums, width_, k, width_));
    add_transposed_product(fresh, state.residual.block(b, 0, q),
                           matrix_map(sums + width_ * k, k, q, k));
  });
  overlap_ = Eigen::Map<const MatrixD>(total.data(), width_, k);
  Projection projection;
  projection.residual_gain = Eigen::Map<const MatrixD>(total.data() + width_ * k, k, q);
  projection.penalized_norm = half_solved_.colwise().squaredNorm().transpose().array() + alpha_;
  solve_lower(l0_, half_solved_, team);
  projection.schur = alpha_ * MatrixD::Identity(k, k);
  multiply(Op::transpose, Op::none, alpha_, half_solved_, half_solved_, 1, projection.schur, team);
  multiply(Op::transpose, Op::none, -1, overlap_, overlap_, 1, projection.schur, team);
  return projection;
}

template <class Scalar>
std::optional<Index> WideFactor<Scalar>::append(Choice& choice, const Projection&, Design<Scalar>&,
                                                RidgeState<Scalar>& state, Team& team) {
  const Index k = choice.size();
  MatrixD fresh(half_solved_.rows(), k), overlap(width_, k);
  for (Index j = 0; j < k; ++j) {
    fresh.col(j) = alpha_ * half_solved_.col(choice.columns[j]);
    overlap.col(j) = overlap_.col(choice.columns[j]);
  }
  solve_lower_transposed(l0_, fresh, team);
  const Matrix<Scalar> scalar_step = choice.step.template cast<Scalar>();
  state.measured(blocks_.sum(team, state.kSums, [&](double* sums, Index b, int) {
    const RowRange range = blocks_.block(b);
    MatrixD rows = fresh.middleRows(range.first, range.count);
    if (width_ > 0) {
      const MatrixD before = q_.block(b, 0, width_).template cast<double>();
      blas::gemm(Op::none, Op::none, -1, before, overlap, 1, rows);
    }
    blas::trsm(blas::Side::right, Op::transpose, choice.schur_factor, rows);
    MatrixMap<Scalar> columns = q_.block(b, width_, k);
    columns = rows.template cast<Scalar>();
    subtract_product(columns, scalar_step, state.residual.block(b, 0, state.outputs()));
    state.measure_block(b, columns, sums);
  }));
  state.worst_pivot = std::min(state.worst_pivot, choice.worst_pivot);
  l_.block(width_, 0, k, width_) = overlap.transpose();
  l_.block(width_, width_, k, k) = choice.schur_factor;
  z_.middleRows(width_, k) = choice.step;
  state.objective -= choice.step.squaredNorm();
  width_ += k;
  return std::nullopt;
}

template <class Scalar>
MatrixD WideFactor<Scalar>::times(const MatrixD& x, Team& team) const {
  MatrixD product = MatrixD::Zero(l0_.rows(), x.cols());
  if (x.rows() == 0) return product;
  blocks_.sweep(team, [&](Index, Index b, int) {
    const RowRange range = blocks_.block(b);
    const MatrixD columns = q_.block(b, 0, x.rows()).template cast<double>();
    blas::gemm(Op::none, Op::none, 1, columns, x, 0, product.middleRows(range.first, range.count));
  });
  return product;
}

template <class Scalar>
MatrixD WideFactor<Scalar>::transposed_times(const MatrixD& x, Team& team) const {
  const Index q = x.cols();
  if (width_ == 0) return MatrixD::Zero(0, q);
  const VectorD total = blocks_.sum(team, width_ * q, [&](double* sums, Index b, int) {
    const RowRange range = blocks_.block(b);
    const MatrixD columns = q_.block(b, 0, width_).template cast<double>();
    const MatrixD rows = x.middleRows(range.first, range.count);
    blas::gemm(Op::transpose, Op::none, 1, columns, rows, 1, matrix_map(sums, width_, q, width_));
  });
  return Eigen::Map<const MatrixD>(total.data(), width_, q);
}

// Q' = AΓ' has −A₀ᵀQ'/λ above L⁻ᵀ, so coordinates Θ' of the units add Γ'Θ' to the readout A₀ᵀK₀⁻¹V of the fixed columns.
template <class Scalar>
MatrixD WideFactor<Scalar>::readout_of(MatrixD solved, const MatrixD& unit_coordinates,
                                       Team& team) const {
  const Index units = unit_coordinates.rows();
  solved -= times(unit_coordinates, team) / alpha_;
  MatrixD omega(design_.fixed() + units, solved.cols());
  omega.topRows(design_.fixed()) = design_.fixed_transposed_times(solved, team);
  MatrixD own = unit_coordinates;
  solve_lower_transposed(l_.topLeftCorner(units, units), own, team);
  omega.bottomRows(units) = own;
  return omega;
}

template <class Scalar>
MatrixD WideFactor<Scalar>::readout_of(const MatrixD& coordinates, Team& team) const {
  MatrixD solved = coordinates.topRows(fixed_width());
  solve_kernel(solved, team);
  return readout_of(std::move(solved), coordinates.bottomRows(coordinates.rows() - fixed_width()),
                    team);
}

template <class Scalar>
MatrixD WideFactor<Scalar>::readout(Design<Scalar>&, Team& team) {
  return readout_of(dual_, z_.topRows(width_), team);
}

// (AᵀA + λI)⁻¹ = (I − Aᵀ K⁻¹ A) / λ, where λK⁻¹ = λK₀⁻¹ − Q'Q'ᵀ.
template <class Scalar>
MatrixD WideFactor<Scalar>::solve(const MatrixD& rhs, Design<Scalar>& design, Team& team) {
  const MatrixD image = design.times(rhs, blocks_, team);
  MatrixD solved = image;
  solve_kernel(solved, team);
  solved -= times(transposed_times(image, team), team) / alpha_;
  return (rhs - design.transposed_times(solved, blocks_, team)) / alpha_;
}

template <class Scalar>
MatrixD WideFactor<Scalar>::directions(Design<Scalar>& design, Team& team) {
  const MatrixD q = times(MatrixD::Identity(width_, width_), team);
  MatrixD all(design.fixed() + width_, width_);
  all.topRows(design.fixed()) = design.fixed_transposed_times(q, team) / -alpha_;
  all.bottomRows(width_) = inverse_transposed_columns(l_.topLeftCorner(width_, width_), 0, team);
  return all;
}

template <class Scalar>
MatrixD WideFactor<Scalar>::unit_columns(const std::vector<Index>& rows) const {
  MatrixD columns(static_cast<Index>(rows.size()), width_);
  const Index block_rows = blocks_.block_rows();
  for (Index j = 0; j < width_; ++j) {
    for (Index i = 0; i < columns.rows(); ++i) {
      const Index row = rows[static_cast<std::size_t>(i)];
      columns(i, j) = q_.column(row / block_rows, j)[row % block_rows];
    }
  }
  return columns;
}

template class WideFactor<float>;
template class WideFactor<double>;

}  // namespace stagenets
