// Products of tall blocks (rows × few columns). Narrow ones run in our own kernels at the speed of
// memory; from some width on the BLAS is faster. Sums over rows end in double either way.
#pragma once

#include "residuum/blas.hpp"
#include "residuum/kernels.hpp"

namespace residuum {

constexpr Index kNarrow = 12;

// out (a × b, double) += Aᵀ B, with A rows × a and B rows × b.
template <class Scalar>
void add_transposed_product(const Scalar* A, Index lda, Index a, const Scalar* B, Index ldb,
                            Index b, Index rows, double* out, Index ld_out) {
  if (b <= kNarrow) {
    kernels<Scalar>().add_transposed_product(A, lda, a, B, ldb, b, rows, out, ld_out);
  } else if constexpr (std::is_same_v<Scalar, double>) {
    blas::gemm<double>(blas::Op::transpose, blas::Op::none, a, b, rows, 1, A, lda, B, ldb, 1, out,
                       ld_out);
  } else {
    thread_local Matrix<Scalar> product;
    product.resize(a, b);
    blas::gemm<Scalar>(blas::Op::transpose, blas::Op::none, a, b, rows, 1, A, lda, B, ldb, 0,
                       product.data(), a);
    MatrixMap<double>(out, a, b, Eigen::OuterStride<>(ld_out)) += product.template cast<double>();
  }
}

// Y (rows × b) -= A (rows × a) C (a × b).
template <class Scalar>
void subtract_product(const Scalar* A, Index lda, Index a, const Scalar* C, Index ldc, Index b,
                      Scalar* Y, Index ldy, Index rows) {
  if (b <= kNarrow) {
    kernels<Scalar>().subtract_product(A, lda, a, C, ldc, b, Y, ldy, rows);
  } else {
    blas::gemm<Scalar>(blas::Op::none, blas::Op::none, rows, b, a, -1, A, lda, C, ldc, 1, Y, ldy);
  }
}

}  // namespace residuum
