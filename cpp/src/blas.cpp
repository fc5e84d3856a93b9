#include "stagenets/blas.hpp"

#include <limits>
#include <stdexcept>

#include "stagenets/fork_gate.hpp"

namespace stagenets::blas {
namespace {

int narrow(Index size) {
  if (size > std::numeric_limits<int>::max()) {
    throw std::length_error("a matrix dimension exceeds what the 32-bit BLAS interface can hold");
  }
  return static_cast<int>(size);
}

// Leading dimensions must be at least 1 even if a matrix is empty.
int leading(Index size) { return narrow(size < 1 ? 1 : size); }

}  // namespace

template <class Scalar>
Table<Scalar>& table() {
  static Table<Scalar> the_table;
  return the_table;
}

template <class Scalar>
void gemm(Op op_a, Op op_b, Index m, Index n, Index k, Scalar alpha, const Scalar* a, Index lda,
          const Scalar* b, Index ldb, Scalar beta, Scalar* c, Index ldc) {
  if (m == 0 || n == 0) return;
  const int mi = narrow(m), ni = narrow(n), ki = narrow(k);
  const int ldai = leading(lda), ldbi = leading(ldb), ldci = leading(ldc);
  const char ta = static_cast<char>(op_a), tb = static_cast<char>(op_b);
  const InsideBlas inside;
  table<Scalar>().gemm(&ta, &tb, &mi, &ni, &ki, &alpha, a, &ldai, b, &ldbi, &beta, c, &ldci);
}

template <class Scalar>
void syrk_transposed(Index n, Index k, const Scalar* a, Index lda, Scalar beta, Scalar* c,
                     Index ldc) {
  if (n == 0) return;
  const int ni = narrow(n), ki = narrow(k), ldai = leading(lda), ldci = leading(ldc);
  const char lower = 'L', transpose = 'T';
  const Scalar one = 1;
  const InsideBlas inside;
  table<Scalar>().syrk(&lower, &transpose, &ni, &ki, &one, a, &ldai, &beta, c, &ldci);
}

template <class Scalar>
void trsm(Side side, Op op, Index m, Index n, const Scalar* l, Index ldl, Scalar* b, Index ldb) {
  constexpr Index kFew = 3;  // columns: to rearrange L for them takes longer than to solve for each
  if (m == 0 || n == 0) return;
  const int mi = narrow(m), ni = narrow(n), ldli = leading(ldl), ldbi = leading(ldb);
  const char s = static_cast<char>(side), t = static_cast<char>(op), lower = 'L', general = 'N';
  const InsideBlas inside;
  if (side == Side::left && n <= kFew) {
    const int next = 1;
    for (Index j = 0; j < n; ++j) {
      table<Scalar>().trsv(&lower, &t, &general, &mi, l, &ldli, b + j * ldb, &next);
    }
    return;
  }
  const Scalar one = 1;
  table<Scalar>().trsm(&s, &lower, &t, &general, &mi, &ni, &one, l, &ldli, b, &ldbi);
}

template <class Scalar>
Index potrf(Index n, Scalar* a, Index lda) {
  if (n == 0) return 0;
  const int ni = narrow(n), ldai = leading(lda);
  const char lower = 'L';
  int info = 0;
  const InsideBlas inside;
  table<Scalar>().potrf(&lower, &ni, a, &ldai, &info);
  return info;
}

#define STAGENETS_INSTANTIATE(Scalar)                                                        \
  template Table<Scalar>& table<Scalar>();                                                   \
  template void gemm<Scalar>(Op, Op, Index, Index, Index, Scalar, const Scalar*, Index,      \
                             const Scalar*, Index, Scalar, Scalar*, Index);                  \
  template void syrk_transposed<Scalar>(Index, Index, const Scalar*, Index, Scalar, Scalar*, \
                                        Index);                                              \
  template void trsm<Scalar>(Side, Op, Index, Index, const Scalar*, Index, Scalar*, Index);  \
  template Index potrf<Scalar>(Index, Scalar*, Index);
STAGENETS_INSTANTIATE(float)
STAGENETS_INSTANTIATE(double)
#undef STAGENETS_INSTANTIATE

}  // namespace stagenets::blas
