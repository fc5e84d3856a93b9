#include "stagenets/layer.hpp"

#include <algorithm>

#include "stagenets/kernels.hpp"
#include "stagenets/thread_buffers.hpp"

namespace stagenets {

template <class Scalar>
Layer<Scalar>::Layer(const UnitWeights& units, Activation activation, const VectorD& rest)
    : activation_(activation) {
  dense_ = sparse_weights_.assign(units, nullptr, biases_);
  if (dense_.empty()) return;
  const UnitWeights dense = pick(units, dense_);
  weights_ = dense.weights.template cast<Scalar>();
  biases_(dense_) = dense.biases.template cast<Scalar>();
  if (rest.size() > 0) base_ = weights_.template cast<double>().transpose() * rest;
}

template <class Scalar>
void Layer<Scalar>::assign(const UnitWeights& units, const Inputs<Scalar>& inputs) {
  dense_ = sparse_weights_.assign(units, &inputs, biases_);
  if (dense_.empty()) return;
  if (static_cast<Index>(dense_.size()) == units.count()) {
    inputs.adapt(units, weights_, biases_);
  } else {
    Vector<Scalar> dense_biases;
    inputs.adapt(pick(units, dense_), weights_, dense_biases);
    biases_(dense_) = dense_biases;
  }
  base_ = inputs.rest_product(weights_);
}

template <class Scalar>
void Layer<Scalar>::evaluate(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading,
                             double* square_norms, Profile* profile) const {
  Stopwatch watch;
  const auto activate = [&](const Index* unit, Index count) {
    if (profile) profile->map += watch.lap();
    for (const Index* end = unit + count; unit < end; ++unit) {
      const double norm =
          kernels<Scalar>().activate(activation_, out + *unit * leading, rows, biases_[*unit]);
      if (square_norms) square_norms[*unit] += norm;
    }
    if (profile) profile->activation += watch.lap();
  };
  if (!dense_.empty()) {
    map_dense(x, rows, out, leading);
    activate(dense_.data(), static_cast<Index>(dense_.size()));
  }
  const std::vector<Index>& sparse = sparse_weights_.units();
  if (sparse.empty()) return;
  // Columns of a few sparse units are still in the first-level cache when they are activated.
  constexpr Index kFew = 8;
  const std::vector<const Scalar*> columns = sparse_weights_.columns(x, rows);
  const Index count = static_cast<Index>(sparse.size());
  for (Index first = 0; first < count; first += kFew) {
    const Index last = std::min(first + kFew, count);
    sparse_weights_.map(columns, first, last, rows, out, leading);
    activate(sparse.data() + first, last - first);
  }
}

// Columns of out <- x W for the dense units, which form one product even where they are not side by side.
template <class Scalar>
void Layer<Scalar>::map_dense(const InputBlock<Scalar>& x, Index rows, Scalar* out,
                              Index leading) const {
  const Index count = static_cast<Index>(dense_.size());
  if (count == units()) return multiply(x, rows, out, leading);
  std::vector<Scalar>& side_by_side = thread_buffers<Scalar>().side_by_side;
  side_by_side.resize(static_cast<std::size_t>(rows * count));
  multiply(x, rows, side_by_side.data(), rows);
  for (Index j = 0; j < count; ++j) {
    std::copy_n(side_by_side.data() + j * rows, rows,
                out + dense_[static_cast<std::size_t>(j)] * leading);
  }
}

// out <- x weights_ by a matrix product.
template <class Scalar>
void Layer<Scalar>::multiply(const InputBlock<Scalar>& x, Index rows, Scalar* out,
                             Index leading) const {
  if (x.sparse) return multiply_sparse(*x.sparse, weights_, base_, out, leading);
  constexpr Index kHandful = 6;
  if (weights_.cols() <= kHandful) return multiply_handful(x, rows, out, leading);
  blas::gemm<Scalar>(x.op, blas::Op::none, rows, weights_.cols(), weights_.rows(), 1, x.data,
                     x.leading, weights_.data(), weights_.rows(), 0, out, leading);
}

// For a handful of units, the time goes into reading x, which the BLAS would copy first.
template <class Scalar>
void Layer<Scalar>::multiply_handful(const InputBlock<Scalar>& x, Index rows, Scalar* out,
                                     Index leading) const {
  const Index inputs = weights_.rows(), units = weights_.cols();
  MatrixMap<Scalar> result(out, rows, units, Eigen::OuterStride<>(leading));
  if (x.op == blas::Op::transpose) {
    MatrixD& sums = thread_buffers<Scalar>().rows;
    sums.setZero(rows, units);
    kernels<Scalar>().add_transposed_product(x.data, x.leading, rows, weights_.data(), inputs,
                                             units, inputs, sums.data(), rows);
    result = sums.template cast<Scalar>();
  } else {
    const Matrix<Scalar> negated = -weights_;
    result.setZero();
    kernels<Scalar>().subtract_product(x.data, x.leading, inputs, negated.data(), inputs, units,
                                       out, leading, rows);
  }
}

template class Layer<float>;
template class Layer<double>;

}  // namespace stagenets
