#include "residuum/layer.hpp"

#include "residuum/kernels.hpp"

namespace residuum {

template <class Scalar>
void Layer<Scalar>::evaluate(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading,
                             double* square_norms, Profile* profile) const {
  Stopwatch watch;
  blas::gemm<Scalar>(x.op, blas::Op::none, rows, units(), weights.rows(), 1, x.data, x.leading,
                     weights.data(), weights.rows(), 0, out, leading);
  if (profile) profile->map += watch.lap();
  for (Index j = 0; j < units(); ++j) {
    const double norm =
        kernels<Scalar>().activate(activation, out + j * leading, rows, biases[j]);
    if (square_norms) square_norms[j] += norm;
  }
  if (profile) profile->activation += watch.lap();
}

template struct Layer<float>;
template struct Layer<double>;

}  // namespace residuum
