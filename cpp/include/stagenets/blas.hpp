// BLAS and LAPACK as the core sees them: a table of Fortran-style function pointers, installed once
// by whoever embeds the core (SciPy's pointers in the Python module, a linked library in the unit
// tests), and thin typed wrappers over it: on pointers, and on Eigen's matrices, blocks and maps, which know
// their sizes and strides. Everything is column-major; sizes are checked to fit the 32-bit integers of the
// interface.
#pragma once

#include <type_traits>

#include "stagenets/types.hpp"

namespace stagenets::blas {

template <class Scalar>
struct Table {
  using Gemm = void(const char*, const char*, const int*, const int*, const int*, const Scalar*,
                    const Scalar*, const int*, const Scalar*, const int*, const Scalar*, Scalar*,
                    const int*);
  using Syrk = void(const char*, const char*, const int*, const int*, const Scalar*, const Scalar*,
                    const int*, const Scalar*, Scalar*, const int*);
  using Trsm = void(const char*, const char*, const char*, const char*, const int*, const int*,
                    const Scalar*, const Scalar*, const int*, Scalar*, const int*);
  using Trsv = void(const char*, const char*, const char*, const int*, const Scalar*, const int*,
                    Scalar*, const int*);
  using Potrf = void(const char*, const int*, Scalar*, const int*, int*);

  Gemm* gemm = nullptr;
  Syrk* syrk = nullptr;
  Trsm* trsm = nullptr;
  Trsv* trsv = nullptr;
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

// Whether an expression is a matrix in memory that the BLAS can use directly. Anything else would have to be copied
// and does not compile.
template <class Expression>
constexpr bool lies_in_memory() {
  using Plain = std::decay_t<Expression>;
  return (Plain::Flags & Eigen::DirectAccessBit) != 0 && !Plain::IsRowMajor &&
         Plain::InnerStrideAtCompileTime == 1;
}

// C <- alpha op(A) op(B) + beta C.
template <class A, class B, class C>
void gemm(Op op_a, Op op_b, typename A::Scalar alpha, const A& a, const B& b,
          typename A::Scalar beta, C&& c) {
  static_assert(lies_in_memory<A>() && lies_in_memory<B>() && lies_in_memory<C>());
  const Index inner = op_a == Op::none ? a.cols() : a.rows();
  eigen_assert(c.rows() == (op_a == Op::none ? a.rows() : a.cols()));
  eigen_assert(c.cols() == (op_b == Op::none ? b.cols() : b.rows()));
  eigen_assert(inner == (op_b == Op::none ? b.rows() : b.cols()));
  gemm<typename A::Scalar>(op_a, op_b, c.rows(), c.cols(), inner, alpha, a.data(), a.outerStride(),
                           b.data(), b.outerStride(), beta, c.data(), c.outerStride());
}

// Lower triangle of C <- A^T A + beta C.
template <class A, class C>
void syrk_transposed(const A& a, typename A::Scalar beta, C&& c) {
  static_assert(lies_in_memory<A>() && lies_in_memory<C>());
  eigen_assert(c.rows() == a.cols() && c.cols() == a.cols());
  syrk_transposed<typename A::Scalar>(a.cols(), a.rows(), a.data(), a.outerStride(), beta, c.data(),
                                      c.outerStride());
}

// B <- op(L)^-1 B (left) or B op(L)^-1 (right), L being the lower triangle of `l`.
template <class L, class B>
void trsm(Side side, Op op, const L& l, B&& b) {
  static_assert(lies_in_memory<L>() && lies_in_memory<B>());
  eigen_assert(l.rows() == l.cols() && l.rows() == (side == Side::left ? b.rows() : b.cols()));
  trsm<typename L::Scalar>(side, op, b.rows(), b.cols(), l.data(), l.outerStride(), b.data(),
                           b.outerStride());
}

template <class A>
Index potrf(A&& a) {
  static_assert(lies_in_memory<A>());
  eigen_assert(a.rows() == a.cols());
  return potrf<typename std::decay_t<A>::Scalar>(a.rows(), a.data(), a.outerStride());
}

}  // namespace stagenets::blas
