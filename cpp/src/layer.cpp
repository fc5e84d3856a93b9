#include "residuum/layer.hpp"

#include "residuum/kernels.hpp"

namespace residuum {

template <class Scalar>
void Layer<Scalar>::evaluate(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading,
                             double* square_norms, Profile* profile) const {
  Stopwatch watch;
  map(x, rows, out, leading);
  if (profile) profile->map += watch.lap();
  for (Index j = 0; j < units(); ++j) {
    const double norm = kernels<Scalar>().activate(activation, out + j * leading, rows, biases[j]);
    if (square_norms) square_norms[j] += norm;
  }
  if (profile) profile->activation += watch.lap();
}

// out <- x W. A handful of units is bound by reading x, which the BLAS would copy first.
template <class Scalar>
void Layer<Scalar>::map(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading) const {
  constexpr Index kHandful = 6;
  const Index inputs = weights.rows();
  if (units() > kHandful) {
    blas::gemm<Scalar>(x.op, blas::Op::none, rows, units(), inputs, 1, x.data, x.leading,
                       weights.data(), inputs, 0, out, leading);
    return;
  }
  MatrixMap<Scalar> result(out, rows, units(), Eigen::OuterStride<>(leading));
  if (x.op == blas::Op::transpose) {
    thread_local MatrixD sums;
    sums.setZero(rows, units());
    kernels<Scalar>().add_transposed_product(x.data, x.leading, rows, weights.data(), inputs,
                                             units(), inputs, sums.data(), rows);
    result = sums.template cast<Scalar>();
  } else {
    const Matrix<Scalar> negated = -weights;
    result.setZero();
    kernels<Scalar>().subtract_product(x.data, x.leading, inputs, negated.data(), inputs, units(),
                                       out, leading, rows);
  }
}

template struct Layer<float>;
template struct Layer<double>;

}  // namespace residuum
