// X = L Q against Eigen's Householder QR of Xᵀ, for well and ill conditioned rows.
#include <doctest/doctest.h>

#include <Eigen/QR>
#include <cmath>

#include "stagenets/cholesky_qr.hpp"

using namespace stagenets;

namespace {

// Rows of norms from 1 down to `least`, each of them almost a multiple of the first: they differ by `least`.
MatrixD nearly_dependent_rows(Index rows, Index columns, double least) {
  const MatrixD random = MatrixD::Random(rows, columns);
  MatrixD x(rows, columns);
  for (Index i = 0; i < rows; ++i) {
    const double size = std::pow(least, static_cast<double>(i) / static_cast<double>(rows));
    x.row(i) = size * (random.row(0) + (i > 0 ? size : 0.0) * random.row(i));
  }
  return x;
}

// L of Householder's X = L Q with a positive diagonal.
MatrixD householder_lower(const MatrixD& x) {
  const Index n = x.rows();
  const Eigen::HouseholderQR<MatrixD> qr(x.transpose());
  MatrixD upper = qr.matrixQR().topRows(n).triangularView<Eigen::Upper>();
  for (Index i = 0; i < n; ++i) {
    if (upper(i, i) < 0) upper.row(i) *= -1;
  }
  return upper.transpose();
}

bool orthonormalize(MatrixD& x, double least_pivot) {
  bool done = false;
  Team::run(2, nullptr, [&](Team& team) { done = orthonormalize_rows(x, least_pivot, team); });
  return done;
}

bool find_lower(MatrixD x, MatrixD& l) {
  bool done = false;
  Team::run(2, nullptr, [&](Team& team) { done = lower_of_rows(x, l, team); });
  return done;
}

}  // namespace

TEST_CASE("rows become orthonormal and keep their span and order") {
  for (const double least : {1.0, 1e-2, 1e-3}) {
    for (const Index n : {1, 7, 60}) {
      const MatrixD x = nearly_dependent_rows(n, 80, least);
      MatrixD q = x;
      REQUIRE(orthonormalize(q, 1e-14));
      CHECK((q * q.transpose() - MatrixD::Identity(n, n)).norm() < 1e-13 * double(n));
      const MatrixD l = x * q.transpose();  // lower, with a positive diagonal
      CHECK((l * q - x).norm() < 1e-12 * x.norm());
      for (Index i = 0; i < n; ++i) {
        CHECK(l(i, i) > 0);
        CHECK(l.row(i).tail(n - i - 1).norm() < 1e-12 * x.norm());
      }
    }
  }
}

TEST_CASE("a row too close to those before it is told by its pivot") {
  // The second row is at an angle to the first whose sine has the square 0.01.
  MatrixD x = MatrixD::Zero(2, 5);
  x.row(0) << 3, 0, 0, 0, 0;
  x.row(1) << std::sqrt(0.99), 0.1, 0, 0, 0;
  x.row(1) *= 7;
  MatrixD copy = x;
  CHECK(orthonormalize(copy, 0.009));
  copy = x;
  CHECK_FALSE(orthonormalize(copy, 0.011));
  x.row(1) = 2 * x.row(0);
  CHECK_FALSE(orthonormalize(x, 1e-12));
}

TEST_CASE("L is Householder's, also of rows whose products lose all digits") {
  for (const double least : {1.0, 1e-4, 1e-7}) {
    for (const Index n : {1, 5, 50}) {
      const MatrixD x = nearly_dependent_rows(n, 70, least);
      const MatrixD expected = householder_lower(x);
      MatrixD l;
      REQUIRE(find_lower(x, l));
      CHECK(l.triangularView<Eigen::StrictlyUpper>().toDenseMatrix().isZero(0));
      // Exact for rows with relative errors of the size of rounding: to those, later pivots are as sensitive as they
      // are small.
      const double error = (l - expected).cwiseAbs().maxCoeff();
      CHECK(error < 1e-12 * expected.norm());
      CHECK((l * l.transpose() - x * x.transpose()).norm() < 1e-13 * x.squaredNorm());
      for (Index i = 0; i < n; ++i) {
        const double sensitive = 1e-13 * x.row(i).norm() / expected(i, i);
        CHECK(l(i, i) == doctest::Approx(expected(i, i)).epsilon(10 * sensitive));
      }
    }
  }
}

TEST_CASE("L of rows in any units, and none of zeros or of what is not finite") {
  const MatrixD x = nearly_dependent_rows(6, 9, 1e-3);
  MatrixD plain, l;
  REQUIRE(find_lower(x, plain));
  for (const double unit : {0x1p-100, 0x1p100}) {
    REQUIRE(find_lower(unit * x, l));
    CHECK(l == unit * plain);
  }
  CHECK_FALSE(find_lower(MatrixD::Zero(3, 5), l));
  MatrixD broken = x;
  broken(2, 3) = std::nan("");
  CHECK_FALSE(find_lower(broken, l));
}

TEST_CASE("dependent rows leave at most rounding errors on the diagonal") {
  MatrixD x = MatrixD::Random(5, 20);
  x.row(3) = x.row(0) - 2 * x.row(2);
  MatrixD l;
  if (find_lower(x, l)) {
    CHECK(l(3, 3) < 1e-12 * x.row(3).norm());
    CHECK((l * l.transpose() - x * x.transpose()).norm() < 1e-12 * x.squaredNorm());
  }
}
