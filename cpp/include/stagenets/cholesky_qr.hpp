// X = L Q with orthonormal rows in Q and a positive diagonal in L, for a matrix with fewer rows than columns: by
// Cholesky factors of X Xᵀ, which need only products and solves, repeated until Q is orthonormal.
#pragma once

#include "stagenets/team.hpp"
#include "stagenets/types.hpp"

namespace stagenets {

// X ← Q by CholeskyQR2. Returns false, with X overwritten, if a row is so close to the span of the rows before it that
// the squared length of its remainder is less than `least_pivot` times its squared length.
bool orthonormalize_rows(MatrixD& x, double least_pivot, Team& team);

// L alone; overwrites X. By shifted CholeskyQR3 (Fukaya et al., 2020): the shift makes the first factor exist however
// ill-conditioned X is, and the next factors correct its error. So the condition number is not squared in effect: L is
// exact for an X with relative errors of the size of rounding. Returns false if no L was found; even if one was, its
// diagonal may consist of rounding errors.
bool lower_of_rows(MatrixD& x, MatrixD& l, Team& team);

}  // namespace stagenets
