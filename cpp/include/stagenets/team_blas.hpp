// Products and triangular solves of matrices in memory, by all threads of a team. The result is divided into
// pieces according to its shape alone and each piece is computed by one thread, so the bits do not depend on the
// number of threads; Ctrl-C is noticed between pieces.
#pragma once

#include "stagenets/blas.hpp"
#include "stagenets/team.hpp"

namespace stagenets {

// Matrices, blocks and maps; the latter two are not copied.
using MatrixIn = const Eigen::Ref<const MatrixD>&;
using MatrixOut = Eigen::Ref<MatrixD>;

// C ← alpha op(A) op(B) + beta C.
void multiply(blas::Op op_a, blas::Op op_b, double alpha, MatrixIn a, MatrixIn b, double beta,
              MatrixOut c, Team& team);

// Lower triangle of C += alpha A Aᵀ.
void add_outer_product(double alpha, MatrixIn a, MatrixOut c, Team& team);
// Lower triangle of C += alpha UᵀU, where U is upper triangular with zeros below.
void add_gram_of_upper(double alpha, MatrixIn u, MatrixOut c, Team& team);

// L M, where both factors and the result are lower triangular with zeros above.
MatrixD multiply_lower(MatrixIn l, MatrixIn m, Team& team);

// X ← L⁻¹ X, X ← L⁻ᵀ X and X ← X L⁻ᵀ, where L is the lower triangle of `l`.
void solve_lower(MatrixIn l, MatrixOut x, Team& team);
void solve_lower_transposed(MatrixIn l, MatrixOut x, Team& team);
void solve_lower_from_right(MatrixIn l, MatrixOut x, Team& team);

// The part done by one thread, for a caller with lanes of its own: X ← op(L)⁻¹ X for about a hundred columns at most,
// and X ← X L⁻ᵀ for some hundreds of rows.
void solve_columns(blas::Op op, MatrixIn l, MatrixOut x, Team& team, int worker);
void solve_rows(MatrixIn l, MatrixOut x, Team& team, int worker);

// Calls body(first, count, worker) for runs of up to `most` out of `size` items, all of about the same length.
template <class Body>
void for_each_run(Team& team, Index size, Index most, Body&& body) {
  const Index runs = (size + most - 1) / most;
  team.for_each(runs, [&](Index run, int worker) {
    team.poll(worker);
    const Index first = run * size / runs;
    body(first, (run + 1) * size / runs - first, worker);
  });
}

constexpr Index kSolvedTogether = 128;  // columns that a thread solves for at a time

}  // namespace stagenets
