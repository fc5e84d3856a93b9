#include "residuum/layer.hpp"

#include "residuum/kernels.hpp"

namespace residuum {

template <class Scalar>
void Layer<Scalar>::evaluate(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading,
                             double* square_norms) const {
  blas::gemm<Scalar>(x.op, blas::Op::none, rows, units(), weights.rows(), 1, x.data, x.leading,
                     weights.data(), weights.rows(), 0, out, leading);
  for (Index j = 0; j < units(); ++j) {
    const double norm =
        kernels<Scalar>().activate(activation, out + j * leading, rows, biases[j]);
    if (square_norms) square_norms[j] += norm;
  }
}

UnitWeights pick(const UnitWeights& units, const std::vector<Index>& columns) {
  const Index count = static_cast<Index>(columns.size());
  UnitWeights picked{MatrixD(units.weights.rows(), count), VectorD(count)};
  for (Index j = 0; j < count; ++j) {
    picked.weights.col(j) = units.weights.col(columns[j]);
    picked.biases[j] = units.biases[columns[j]];
  }
  return picked;
}

UnitWeights UnitList::joined() const {
  UnitWeights all{MatrixD(inputs_, count_), VectorD(count_)};
  Index column = 0;
  for (const UnitWeights& piece : pieces_) {
    all.weights.middleCols(column, piece.biases.size()) = piece.weights;
    all.biases.segment(column, piece.biases.size()) = piece.biases;
    column += piece.biases.size();
  }
  return all;
}

template struct Layer<float>;
template struct Layer<double>;

}  // namespace residuum
