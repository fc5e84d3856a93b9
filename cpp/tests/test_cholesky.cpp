#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>

#include "stagenets/cholesky.hpp"

using namespace stagenets;

namespace {

MatrixD positive_definite(Index n) {
  const MatrixD root = MatrixD::Random(n, n + 3);
  return root * root.transpose() + MatrixD::Identity(n, n);
}

MatrixD lower(const MatrixD& m) { return m.triangularView<Eigen::Lower>(); }

}  // namespace

TEST_CASE("the tiled factor is Eigen's factor, across tile boundaries and thread counts") {
  for (const Index n : {1, 5, 191, 192, 193, 450}) {
    const MatrixD a = positive_definite(n);
    const MatrixD expected = a.llt().matrixL();
    MatrixD first;
    for (const int threads : {1, 3}) {
      MatrixD l = a;
      Team::run(threads, nullptr, [&](Team& team) { CHECK(cholesky(l, team)); });
      CHECK((lower(l) - expected).norm() < 1e-11 * expected.norm());
      if (threads == 1) first = lower(l);
      CHECK(lower(l) == first);
    }
  }
}

TEST_CASE("a matrix that is not positive definite is reported") {
  MatrixD a = positive_definite(300);
  a(250, 250) = -1;
  Team::run(2, nullptr, [&](Team& team) { CHECK_FALSE(cholesky(a, team)); });
}

TEST_CASE("dependent columns are dropped and the rest is factored") {
  MatrixD columns = MatrixD::Random(40, 6);
  columns.col(3) = 2 * columns.col(1) - columns.col(0);
  columns.col(5).setZero();
  MatrixD a = columns.transpose() * columns;
  std::vector<Index> kept;
  Team::run(1, nullptr, [&](Team& team) { kept = cholesky_dropping(a, 1e-12, team); });
  CHECK(kept == std::vector<Index>{0, 1, 2, 4});
  MatrixD some(40, 4);
  for (Index j = 0; j < 4; ++j) some.col(j) = columns.col(kept[j]);
  CHECK((a * a.transpose() - some.transpose() * some).norm() < 1e-12);
}

TEST_CASE("an updated factor is the factor of the updated matrix") {
  for (const Index n : {1, 60, 64, 65, 900}) {
    const MatrixD a = positive_definite(n);
    for (const Index rank : {1, 3}) {
      const MatrixD g = MatrixD::Random(n, rank);
      MatrixD first;
      for (const int threads : {1, 3}) {
        MatrixD l = a.llt().matrixL(), spoilt = g;
        Team::run(threads, nullptr, [&](Team& team) { cholesky_update(l, spoilt, team); });
        CHECK((lower(l) * lower(l).transpose() - a - g * g.transpose()).norm() < 1e-11 * a.norm());
        if (threads == 1) first = lower(l);
        CHECK(lower(l) == first);
      }
    }
  }
}

TEST_CASE("dependent columns are dropped across panels, the same ones for any number of threads") {
  const Index n = 500, rank = 300;
  MatrixD columns = MatrixD::Random(600, n);
  // Every column whose number leaves 3 or 4 divided by 5 depends on some before it.
  std::vector<Index> expected;
  for (Index j = 0; j < n; ++j) {
    if (j % 5 < 3) {
      expected.push_back(j);
    } else {
      columns.col(j) = columns.col(j - 2) - 2 * columns.col(j / 2);
    }
  }
  REQUIRE(static_cast<Index>(expected.size()) == rank);
  const MatrixD gram = columns.transpose() * columns;
  MatrixD some(600, rank), first;
  for (Index j = 0; j < rank; ++j) some.col(j) = columns.col(expected[j]);
  for (const int threads : {1, 3}) {
    MatrixD l = gram;
    std::vector<Index> kept;
    Team::run(threads, nullptr, [&](Team& team) { kept = cholesky_dropping(l, 1e-12, team); });
    CHECK(kept == expected);
    CHECK((l * l.transpose() - some.transpose() * some).norm() < 1e-12 * gram.norm());
    if (threads == 1) first = l;
    CHECK(l == first);
  }
}

TEST_CASE("a kept factor drops what depends on other columns, and tells how close it came") {
  for (const Index n : {8, 300}) {
    MatrixD columns = MatrixD::Random(400, n);
    MatrixD a = columns.transpose() * columns;
    // Pivots are the diagonal of the factor squared: what is left of A_jj after the columns before j.
    const MatrixD expected = a.llt().matrixL();
    const double worst = (expected.diagonal().array().square() / a.diagonal().array()).minCoeff();
    Team::run(1, nullptr, [&](Team& team) {
      const KeptCholesky all(a, team);
      CHECK(static_cast<Index>(all.kept.size()) == n);
      CHECK(all.kept.front() == 0);
      CHECK(all.kept.back() == n - 1);
      CHECK((lower(all.l) - expected).norm() < 1e-11 * expected.norm());
      CHECK(all.worst_pivot == doctest::Approx(worst).epsilon(1e-10));
      const MatrixD rows = MatrixD::Random(n, 2);
      CHECK(all.compress(rows) == rows);
      CHECK(all.expand(rows, n) == rows);

      // One column nearly depends on others: within the tolerance of n·eps, or not.
      for (const double distance : {1e-4, 1e-9}) {
        MatrixD close = columns;
        close.col(5) = columns.col(2) - columns.col(1) + distance * columns.col(5);
        const MatrixD gram = close.transpose() * close;
        const KeptCholesky some(gram, team);
        if (distance > 1e-6) {
          CHECK(static_cast<Index>(some.kept.size()) == n);
          CHECK(some.worst_pivot > 0);
          CHECK(some.worst_pivot < 1e-7);
          CHECK((lower(some.l) * lower(some.l).transpose() - gram).norm() < 1e-12 * gram.norm());
          continue;
        }
        REQUIRE(static_cast<Index>(some.kept.size()) == n - 1);
        CHECK(some.kept[4] == 4);
        CHECK(some.kept[5] == 6);
        CHECK(some.worst_pivot > 1e-3);
        const MatrixD reduced = gram(some.kept, some.kept);
        CHECK((lower(some.l) * lower(some.l).transpose() - reduced).norm() < 1e-12 * gram.norm());
        const MatrixD compressed = some.compress(rows);
        REQUIRE(compressed.rows() == n - 1);
        CHECK(compressed.row(5) == rows.row(6));
        const MatrixD expanded = some.expand(compressed, n);
        CHECK(expanded.row(5).isZero(0));
        CHECK(expanded.topRows(5) == rows.topRows(5));
        CHECK(expanded.bottomRows(n - 6) == rows.bottomRows(n - 6));
      }
    });
  }
}

TEST_CASE("pivots at the tolerance are dropped, above it they are kept") {
  // Two columns at a right angle to the first but for a remainder of a given squared length.
  for (const double remainder : {0.02, 0.005}) {
    MatrixD a(2, 2);
    a << 4, 2, 2, 1 + remainder;
    const double relative = remainder / (1 + remainder);
    std::vector<Index> kept;
    Team::run(1, nullptr, [&](Team& team) { kept = cholesky_dropping(a, 0.01, team); });
    CHECK(kept.size() == (relative > 0.01 ? 2 : 1));
    CHECK(a(0, 0) == 2);
    if (kept.size() == 2) CHECK(a(1, 1) == doctest::Approx(std::sqrt(remainder)).epsilon(1e-14));
  }
}

TEST_CASE("columns of the inverse transposed factor, and norms of the inverse's") {
  for (const Index n : {6, 12, 700}) {
    const MatrixD l = positive_definite(n).llt().matrixL();
    const MatrixD inverse =
        l.transpose().triangularView<Eigen::Upper>().solve(MatrixD::Identity(n, n));
    Team::run(2, nullptr, [&](Team& team) {
      CHECK((inverse_transposed_columns(l, 5, team) - inverse.rightCols(n - 5)).norm() < 1e-11);
      const VectorD norms = inverse.rowwise().squaredNorm();
      CHECK((inverse_square_norms(l, team) - norms).norm() < 1e-11);
    });
  }
}
