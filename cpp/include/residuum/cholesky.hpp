// Cholesky factorisations of symmetric matrices held in their lower triangle: threaded in tiles (the
// same bits for any thread count, and Ctrl-C between tiles), with columns dropped, and updated.
#pragma once

#include "residuum/team.hpp"
#include "residuum/types.hpp"

namespace residuum {

// L Lᵀ = A in place. Returns false if A is not positive definite to working precision; A is then
// spoilt.
bool cholesky(MatrixD& a, Team& team);

// L Lᵀ = A over the columns that count: column j is passed over when its pivot falls below
// tolerance × A_jj. Returns the columns kept; `a` shrinks to their factor.
std::vector<Index> cholesky_dropping(MatrixD& a, double tolerance);

// L Lᵀ = A over the columns that count (a relative pivot above n·eps): all of them as a rule, and then
// fast; else the ones that cholesky_dropping keeps.
struct KeptCholesky {
  KeptCholesky(const MatrixD& a, Team& team);

  MatrixD l;
  std::vector<Index> kept;
  double worst_pivot = 1;  // smallest pivot relative to its A_jj

  // Rows of `all` that belong to columns kept, and back again with zeros for the others.
  MatrixD compress(const MatrixD& all) const;
  MatrixD expand(const MatrixD& some, Index rows) const;
};

// L Lᵀ ← L Lᵀ + G Gᵀ by plane rotations, O(n²) a column of G. Spoils G.
void cholesky_update(MatrixD& l, MatrixD& g);

// X ← L⁻¹ X and X ← L⁻ᵀ X for the leading `size` rows and columns of L.
void solve_lower(const MatrixD& l, Index size, MatrixD& x);
void solve_lower_transposed(const MatrixD& l, Index size, MatrixD& x);

// The leading `size` part of L⁻ᵀ's columns [first, size): size × (size - first).
MatrixD inverse_transposed_columns(const MatrixD& l, Index size, Index first);

}  // namespace residuum
