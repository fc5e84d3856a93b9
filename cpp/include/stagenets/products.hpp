// Products of tall blocks (rows × few columns). Narrow ones run in our own kernels at memory speed;
// above a certain width the BLAS is faster. Either way, sums over rows end in double. Arguments are
// Eigen's matrices, blocks and maps, as in blas.hpp.
#pragma once

#include "stagenets/blas.hpp"
#include "stagenets/kernels.hpp"
#include "stagenets/thread_buffers.hpp"

namespace stagenets {

constexpr Index kNarrow = 16;

// out (a × b, double) += Aᵀ B, with A rows × a and B rows × b.
template <class A, class B, class Out>
void add_transposed_product(const A& a, const B& b, Out&& out) {
  using Scalar = typename A::Scalar;
  constexpr auto transpose = blas::Op::transpose, none = blas::Op::none;
  if (b.cols() <= kNarrow) {
    kernels<Scalar>().add_transposed_product(a.data(), a.outerStride(), a.cols(), b.data(),
                                             b.outerStride(), b.cols(), a.rows(), out.data(),
                                             out.outerStride());
  } else if constexpr (std::is_same_v<Scalar, double>) {
    blas::gemm(transpose, none, 1, a, b, 1, out);
  } else {
    Matrix<Scalar>& product = thread_buffers<Scalar>().product;
    product.resize(a.cols(), b.cols());
    blas::gemm(transpose, none, 1, a, b, 0, product);
    out += product.template cast<double>();
  }
}

// Y (rows × b) -= A (rows × a) C (a × b).
template <class A, class C, class Y>
void subtract_product(const A& a, const C& c, Y&& y) {
  using Scalar = typename A::Scalar;
  if (c.cols() <= kNarrow) {
    kernels<Scalar>().subtract_product(a.data(), a.outerStride(), a.cols(), c.data(),
                                       c.outerStride(), c.cols(), y.data(), y.outerStride(),
                                       y.rows());
  } else {
    blas::gemm(blas::Op::none, blas::Op::none, -1, a, c, 1, y);
  }
}

}  // namespace stagenets
