// BLAS and LAPACK as the core sees them: a table of Fortran-style function pointers, installed once
// by whoever embeds the core (SciPy's pointers in the Python module, a linked library in the unit
// tests), and thin typed wrappers over it. Everything is column-major; sizes are checked to fit the
// 32-bit integers of the interface.
#pragma once

#include "residuum/types.hpp"

namespace residuum::blas {

template <class Scalar>
struct Table {
  using Gemm = void(const char*, const char*, const int*, const int*, const int*, const Scalar*,
                    const Scalar*, const int*, const Scalar*, const int*, const Scalar*, Scalar*,
                    const int*);
  using Syrk = void(const char*, const char*, const int*, const int*, const Scalar*, const Scalar*,
                    const int*, const Scalar*, Scalar*, const int*);
  using Trsm = void(const char*, const char*, const char*, const char*, const int*, const int*,
                    const Scalar*, const Scalar*, const int*, Scalar*, const int*);
  using Potrf = void(const char*, const int*, Scalar*, const int*, int*);

  Gemm* gemm = nullptr;
  Syrk* syrk = nullptr;
  Trsm* trsm = nullptr;
  Potrf* potrf = nullptr;
};

// The process-wide table; empty until install() has been called.
template <class Scalar>
Table<Scalar>& table();

enum class Op : char { none = 'N', transpose = 'T' };
enum class Side : char { left = 'L', right = 'R' };

// C (m x n) <- alpha op(A) op(B) + beta C, the inner dimension being k.
template <class Scalar>
void gemm(Op op_a, Op op_b, Index m, Index n, Index k, Scalar alpha, const Scalar* a, Index lda,
          const Scalar* b, Index ldb, Scalar beta, Scalar* c, Index ldc);

// Lower triangle of C (n x n) <- A^T A + beta C, with A k x n.
template <class Scalar>
void syrk_transposed(Index n, Index k, const Scalar* a, Index lda, Scalar beta, Scalar* c,
                     Index ldc);

// B (m x n) <- op(L)^-1 B (left) or B op(L)^-1 (right), L lower triangular.
template <class Scalar>
void trsm(Side side, Op op, Index m, Index n, const Scalar* l, Index ldl, Scalar* b, Index ldb);

// Lower Cholesky factor in place; returns 0, or the 1-based column whose pivot was not positive.
template <class Scalar>
Index potrf(Index n, Scalar* a, Index lda);

}  // namespace residuum::blas
