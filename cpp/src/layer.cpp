#include "residuum/layer.hpp"

#include "residuum/kernels.hpp"

namespace residuum {

template <class Scalar>
Layer<Scalar>::Layer(const UnitWeights& units, Activation activation)
    : weights_(units.weights.template cast<Scalar>()),
      biases_(units.biases.template cast<Scalar>()),
      activation_(activation),
      sparse_(sparse_weights_.take(weights_)) {}

template <class Scalar>
void Layer<Scalar>::assign(const UnitWeights& units, const Inputs<Scalar>& inputs) {
  sparse_ = sparse_weights_.take(units, inputs, biases_);
  if (sparse_) return;
  inputs.adapt(units, weights_, biases_);
  sparse_ = sparse_weights_.take(weights_);
}

template <class Scalar>
void Layer<Scalar>::evaluate(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading,
                             double* square_norms, Profile* profile) const {
  // Columns of a few sparse units are still in the first-level cache when they are activated.
  constexpr Index kFew = 8;
  const Index together = sparse_ ? kFew : units();
  Stopwatch watch;
  std::vector<const Scalar*> columns;
  if (sparse_) columns = sparse_weights_.columns(x, rows);
  for (Index first = 0; first < units(); first += together) {
    const Index last = std::min(first + together, units());
    if (sparse_) {
      sparse_weights_.map(columns, first, last, rows, out + first * leading, leading);
    } else {
      map(x, rows, out, leading);
    }
    if (profile) profile->map += watch.lap();
    for (Index j = first; j < last; ++j) {
      const double norm =
          kernels<Scalar>().activate(activation_, out + j * leading, rows, biases_[j]);
      if (square_norms) square_norms[j] += norm;
    }
    if (profile) profile->activation += watch.lap();
  }
}

// out <- x W by a matrix product.
template <class Scalar>
void Layer<Scalar>::map(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading) const {
  constexpr Index kHandful = 6;
  if (units() <= kHandful) return map_handful(x, rows, out, leading);
  const Index inputs = weights_.rows();
  blas::gemm<Scalar>(x.op, blas::Op::none, rows, units(), inputs, 1, x.data, x.leading,
                     weights_.data(), inputs, 0, out, leading);
}

// A handful of units is bound by reading x, which the BLAS would copy first.
template <class Scalar>
void Layer<Scalar>::map_handful(const InputBlock<Scalar>& x, Index rows, Scalar* out,
                                Index leading) const {
  const Index inputs = weights_.rows();
  MatrixMap<Scalar> result(out, rows, units(), Eigen::OuterStride<>(leading));
  if (x.op == blas::Op::transpose) {
    thread_local MatrixD sums;
    sums.setZero(rows, units());
    kernels<Scalar>().add_transposed_product(x.data, x.leading, rows, weights_.data(), inputs,
                                             units(), inputs, sums.data(), rows);
    result = sums.template cast<Scalar>();
  } else {
    const Matrix<Scalar> negated = -weights_;
    result.setZero();
    kernels<Scalar>().subtract_product(x.data, x.leading, inputs, negated.data(), inputs, units(),
                                       out, leading, rows);
  }
}

template class Layer<float>;
template class Layer<double>;

}  // namespace residuum
