#include "residuum/design.hpp"

#include "residuum/blas.hpp"

namespace residuum {

template <class Scalar>
void Design<Scalar>::evaluate(Units units, RowRange range, Scalar* out, Index leading,
                              double* square_norms, int worker) {
  source_.evaluate(units, range, out, leading, root_weights_ ? nullptr : square_norms,
                   scratch(worker));
  if (!root_weights_) return;
  const Vector<Scalar> scalar_roots = roots_of(range).template cast<Scalar>();
  for (Index j = 0; j < source_.count(units); ++j) {
    Eigen::Map<Vector<Scalar>> column(out + j * leading, range.count);
    column.array() *= scalar_roots.array();
    if (square_norms) square_norms[j] += column.template cast<double>().squaredNorm();
  }
}

template <class Scalar>
void Design<Scalar>::copy_fixed_columns(RowRange range, Index first, Index count, double* out,
                                        Index leading) const {
  const Index ones = intercept_ && first == 0 && count > 0 ? 1 : 0;
  if (ones) Eigen::Map<VectorD>(out, range.count).setOnes();
  const Index first_input = first + ones - (intercept_ ? 1 : 0);
  inputs_.copy_columns(range, first_input, count - ones, out + ones * leading, leading);
}

template <class Scalar>
void Design<Scalar>::fixed_columns(RowRange range, Index first, Index count, double* out,
                                   Index leading) const {
  copy_fixed_columns(range, first, count, out, leading);
  if (!root_weights_) return;
  MatrixMap<double> block(out, range.count, count, Eigen::OuterStride<>(leading));
  block.array().colwise() *= roots_of(range).array();
}

template <class Scalar>
void Design<Scalar>::all_columns(RowRange range, double* out, Index leading, int worker) {
  fixed_columns(range, 0, fixed(), out, leading);
  const Index units = source_.count(Units::kept);
  if (units == 0) return;
  Matrix<Scalar>& hidden = scratch(worker).pool;
  if (hidden.rows() < range.count || hidden.cols() < units) hidden.resize(range.count, units);
  evaluate(Units::kept, range, hidden.data(), hidden.rows(), nullptr, worker);
  MatrixMap<double>(out + fixed() * leading, range.count, units, Eigen::OuterStride<>(leading)) =
      hidden.topLeftCorner(range.count, units).template cast<double>();
}

template <class Scalar>
MatrixD Design<Scalar>::times(const MatrixD& x, const RowBlocks& blocks, Team& team) {
  MatrixD product(rows(), x.cols());
  blocks.sweep(team, [&](Index, Index b, int worker) {
    const RowRange range = blocks.block(b);
    MatrixD& block = scratch(worker).wide;
    block.resize(range.count, columns());
    all_columns(range, block.data(), range.count, worker);
    blas::gemm<double>(blas::Op::none, blas::Op::none, range.count, x.cols(), columns(), 1,
                       block.data(), range.count, x.data(), x.rows(), 0,
                       product.data() + range.first, product.rows());
  });
  return product;
}

template <class Scalar>
MatrixD Design<Scalar>::residual_gradient(const MatrixD& readout, const MatrixD& targets,
                                          const RowBlocks& blocks, double& residual_energy,
                                          Team& team) {
  using blas::Op;
  const Index width = columns(), outputs = targets.cols();
  LaneSums sums(blocks.lanes(), width * outputs + 1);
  blocks.sweep(team, [&](Index lane, Index b, int worker) {
    const RowRange range = blocks.block(b);
    MatrixD& block = scratch(worker).wide;
    block.resize(range.count, width);
    all_columns(range, block.data(), range.count, worker);
    MatrixD residual = targets.middleRows(range.first, range.count);
    blas::gemm<double>(Op::none, Op::none, range.count, outputs, width, -1, block.data(),
                       range.count, readout.data(), width, 1, residual.data(), range.count);
    blas::gemm<double>(Op::transpose, Op::none, width, outputs, range.count, 1, block.data(),
                       range.count, residual.data(), range.count, 1, sums.lane(lane), width);
    sums.lane(lane)[width * outputs] += residual.squaredNorm();
  });
  const VectorD total = sums.total();
  residual_energy = total[width * outputs];
  return Eigen::Map<const MatrixD>(total.data(), width, outputs);
}

template class Design<float>;
template class Design<double>;

}  // namespace residuum
