// Cholesky factorisations of symmetric matrices held in their lower triangle: threaded by tiles (with
// the same bits for any thread count, and Ctrl-C between tiles), dropping dependent columns, and updates.
#pragma once

#include "stagenets/team_blas.hpp"

namespace stagenets {

// L Lᵀ = A in place. Returns false if A is not positive definite to working precision; A is then
// overwritten with partial results.
bool cholesky(MatrixD& a, Team& team);

// L Lᵀ = A over the independent columns: column j is skipped when its pivot falls below
// tolerance × A_jj. Returns the columns kept; `a` shrinks to their factor.
std::vector<Index> cholesky_dropping(MatrixD& a, double tolerance, Team& team);

// L Lᵀ = A over the independent columns (relative pivot above n·eps): usually all of them, which is
// fast; otherwise the ones that cholesky_dropping keeps.
struct KeptCholesky {
  KeptCholesky(const MatrixD& a, Team& team);

  MatrixD l;
  std::vector<Index> kept;
  double worst_pivot = 1;  // smallest pivot relative to its A_jj

  // The rows of `all` that belong to columns kept, and the reverse with zeros for the others.
  MatrixD compress(const MatrixD& all) const;
  MatrixD expand(const MatrixD& some, Index rows) const;
};

// L Lᵀ ← L Lᵀ + G Gᵀ by plane rotations, O(n²) per column of G. Overwrites G.
void cholesky_update(MatrixD& l, MatrixD& g, Team& team);

// Columns [first, n) of L⁻ᵀ.
MatrixD inverse_transposed_columns(MatrixIn l, Index first, Team& team);

// Squared norms of the columns of L⁻¹, that is, the diagonal of (L Lᵀ)⁻¹.
VectorD inverse_square_norms(MatrixIn l, Team& team);

}  // namespace stagenets
