#include "stagenets/cholesky_qr.hpp"

#include <cmath>
#include <limits>

#include "stagenets/cholesky.hpp"
#include "stagenets/team_blas.hpp"

namespace stagenets {
namespace {

// Lower triangle of X Xᵀ.
MatrixD gram_of_rows(const MatrixD& x, Team& team) {
  MatrixD gram = MatrixD::Zero(x.rows(), x.rows());
  add_outer_product(1, x, gram, team);
  return gram;
}

// Smallest pivot relative to its value before the elimination.
double smallest_pivot(const MatrixD& l, const VectorD& diagonal) {
  return (l.diagonal().array().square() / diagonal.array()).minCoeff();
}

// ‖G − I‖, from the lower triangle of G.
double distance_from_identity(const MatrixD& gram) {
  double square = 0;
  for (Index j = 0; j < gram.cols(); ++j) {
    square += std::pow(gram(j, j) - 1, 2) + 2 * gram.col(j).tail(gram.rows() - j - 1).squaredNorm();
  }
  return std::sqrt(square);
}

// The factor of G or, if rounding would affect its pivots, of G plus the smallest multiple of I that suffices.
bool shifted_cholesky(const MatrixD& gram, MatrixD& l, Team& team) {
  const double largest = gram.diagonal().maxCoeff();
  const double rounding =
      10 * static_cast<double>(gram.rows()) * std::numeric_limits<double>::epsilon() * largest;
  for (double shift = 0; shift < largest; shift = std::max(2 * rounding, 10 * shift)) {
    l = gram;
    l.diagonal().array() += shift;
    if (!cholesky(l, team) || l.diagonal().array().square().minCoeff() < rounding) continue;
    l.triangularView<Eigen::StrictlyUpper>().setZero();
    return true;
  }
  return false;  // all zeros, or not finite
}

}  // namespace

bool orthonormalize_rows(MatrixD& x, double least_pivot, Team& team) {
  for (int pass = 0; pass < 2; ++pass) {
    MatrixD l = gram_of_rows(x, team);
    const VectorD diagonal = l.diagonal();
    if (!cholesky(l, team) || !(smallest_pivot(l, diagonal) >= least_pivot)) return false;
    solve_lower(l, x, team);
  }
  return true;
}

bool lower_of_rows(MatrixD& x, MatrixD& l, Team& team) {
  constexpr int kMostPasses = 8;  // usually three
  MatrixD correction;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const MatrixD gram = gram_of_rows(x, team);
    if (!shifted_cholesky(gram, correction, team)) return false;
    l = pass == 0 ? correction : multiply_lower(l, correction, team);
    // Rows this close to independent lose no accuracy in their Gram matrix: the last correction is exact.
    if (distance_from_identity(gram) < 0.5) return true;
    solve_lower(correction, x, team);
  }
  return false;
}

}  // namespace stagenets
