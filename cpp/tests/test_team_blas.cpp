// Threaded products, solves and CholeskyQR against Eigen's, and the same bits for any number of threads.
#include <doctest/doctest.h>

#include <Eigen/QR>

#include "stagenets/cholesky_qr.hpp"
#include "stagenets/team_blas.hpp"

using namespace stagenets;
using blas::Op;

namespace {

MatrixD random_lower(Index n) {
  MatrixD l = MatrixD::Random(n, n).triangularView<Eigen::StrictlyLower>();
  l /= std::sqrt(static_cast<double>(n));
  l.diagonal().setConstant(1.5);
  return l;
}

// What `make` gives, which must be the same for one thread and for three.
template <class Make>
MatrixD by_any_threads(Make&& make) {
  MatrixD alone, together;
  Team::run(1, nullptr, [&](Team& team) { alone = make(team); });
  Team::run(3, nullptr, [&](Team& team) { together = make(team); });
  CHECK(alone == together);
  return alone;
}

bool close(const MatrixD& a, const MatrixD& b) { return (a - b).norm() <= 1e-12 * b.norm(); }

// rows × columns with singular values from 1 down to `smallest`.
MatrixD with_spectrum(Index rows, Index columns, double smallest) {
  const MatrixD left = Eigen::HouseholderQR<MatrixD>(MatrixD::Random(rows, rows)).householderQ();
  const MatrixD right =
      MatrixD(Eigen::HouseholderQR<MatrixD>(MatrixD::Random(columns, rows)).householderQ() *
              MatrixD::Identity(columns, rows));
  const VectorD values = VectorD::LinSpaced(rows, 0, std::log(smallest)).array().exp();
  return left * values.asDiagonal() * right.transpose();
}

MatrixD householder_lower(const MatrixD& x) {
  const Eigen::HouseholderQR<MatrixD> qr(x.transpose());
  MatrixD l = MatrixD(qr.matrixQR().topRows(x.rows()).triangularView<Eigen::Upper>()).transpose();
  for (Index j = 0; j < l.cols(); ++j) {
    if (l(j, j) < 0) l.col(j) = -l.col(j);
  }
  return l;
}

}  // namespace

TEST_CASE("products and solves by a team are Eigen's") {
  for (const Index n : {1, 100, 193, 700}) {
    const MatrixD a = MatrixD::Random(n, 250), b = MatrixD::Random(250, n + 7), l = random_lower(n);
    const MatrixD m = random_lower(n), x = MatrixD::Random(n, 300);
    const auto lower = l.triangularView<Eigen::Lower>();
    const MatrixD half = MatrixD::Constant(n, n + 7, 0.5);
    CHECK(close(by_any_threads([&](Team& team) {
                  MatrixD c = half;
                  multiply(Op::none, Op::none, 2, a, b, 3, c, team);
                  return c;
                }),
                2 * a * b + 3 * half));
    CHECK(close(by_any_threads([&](Team& team) {
                  MatrixD c(n, n + 7);
                  const MatrixD at = a.transpose(), bt = b.transpose();
                  multiply(Op::transpose, Op::transpose, 1, at, bt, 0, c, team);
                  return c;
                }),
                a * b));
    const MatrixD outer = a * a.transpose(), gram = l * l.transpose();
    CHECK(close(by_any_threads([&](Team& team) -> MatrixD {
                  MatrixD c = MatrixD::Zero(n, n);
                  add_outer_product(1, a, c, team);
                  return c.triangularView<Eigen::Lower>();
                }),
                outer.triangularView<Eigen::Lower>()));
    CHECK(close(by_any_threads([&](Team& team) -> MatrixD {
                  MatrixD c = MatrixD::Zero(n, n);
                  add_gram_of_upper(1, MatrixD(l.transpose()), c, team);
                  return c.triangularView<Eigen::Lower>();
                }),
                gram.triangularView<Eigen::Lower>()));
    CHECK(close(by_any_threads([&](Team& team) { return multiply_lower(l, m, team); }), l * m));
    CHECK(close(by_any_threads([&](Team& team) {
                  MatrixD y = x;
                  solve_lower(l, y, team);
                  return y;
                }),
                lower.solve(x)));
    CHECK(close(by_any_threads([&](Team& team) {
                  MatrixD y = x;
                  solve_lower_transposed(l, y, team);
                  return y;
                }),
                lower.transpose().solve(x)));
    CHECK(close(by_any_threads([&](Team& team) {
                  MatrixD y = x.transpose();
                  solve_lower_from_right(l, y, team);
                  return y;
                }),
                lower.solve(x).transpose()));
  }
}

TEST_CASE("CholeskyQR2 gives orthonormal rows, those of Householder") {
  for (const Index rows : {1, 60, 200}) {
    const MatrixD x = with_spectrum(rows, rows + 20, 1e-2);
    const MatrixD q = by_any_threads([&](Team& team) {
      MatrixD y = x;
      CHECK(orthonormalize_rows(y, 1e-7, team));
      return y;
    });
    CHECK((q * q.transpose() - MatrixD::Identity(rows, rows)).norm() < 1e-13 * rows);
    CHECK((householder_lower(x) * q - x).norm() < 1e-13 * rows);
  }
  MatrixD twins = MatrixD::Random(5, 30);
  twins.row(3) = twins.row(1);
  Team::run(1, nullptr, [&](Team& team) { CHECK_FALSE(orthonormalize_rows(twins, 1e-7, team)); });
}

TEST_CASE("shifted CholeskyQR3 is as good as Householder whatever the conditioning") {
  for (const double smallest : {1e-3, 1e-8, 1e-12, 1e-14}) {
    const Index rows = 150;
    const MatrixD x = with_spectrum(rows, 400, smallest), expected = householder_lower(x);
    const MatrixD l = by_any_threads([&](Team& team) {
      MatrixD y = x, lower;
      CHECK(lower_of_rows(y, lower, team));
      return lower;
    });
    // Backward errors: L⁻¹X is orthonormal to within what perturbing X by rounding makes of it.
    const MatrixD q = l.triangularView<Eigen::Lower>().solve(x);
    const double deviation = (q * q.transpose() - MatrixD::Identity(rows, rows)).norm();
    CHECK(deviation < 1e-13 / smallest);
    const MatrixD reference = expected.triangularView<Eigen::Lower>().solve(x);
    CHECK(deviation <
          100 * (reference * reference.transpose() - MatrixD::Identity(rows, rows)).norm());
    CHECK((l * l.transpose() - x * x.transpose()).norm() < 1e-13);
    // The smallest singular value, which a Gram matrix would have lost, is still there.
    CHECK(
        l.diagonal().minCoeff() ==
        doctest::Approx(expected.diagonal().minCoeff()).epsilon(std::max(1e-10, 1e-14 / smallest)));
  }
  Team::run(1, nullptr, [&](Team& team) {
    MatrixD zeros = MatrixD::Zero(3, 9), l;
    CHECK_FALSE(lower_of_rows(zeros, l, team));
  });
}
