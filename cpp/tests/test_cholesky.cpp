#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "residuum/cholesky.hpp"

using namespace residuum;

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
  const std::vector<Index> kept = cholesky_dropping(a, 1e-12);
  CHECK(kept == std::vector<Index>{0, 1, 2, 4});
  MatrixD some(40, 4);
  for (Index j = 0; j < 4; ++j) some.col(j) = columns.col(kept[j]);
  CHECK((a * a.transpose() - some.transpose() * some).norm() < 1e-12);
}

TEST_CASE("an updated factor is the factor of the updated matrix") {
  const MatrixD a = positive_definite(60);
  for (const Index rank : {1, 3}) {
    const MatrixD g = MatrixD::Random(60, rank);
    MatrixD l = a.llt().matrixL();
    MatrixD spoilt = g;
    cholesky_update(l, spoilt);
    CHECK((lower(l) * lower(l).transpose() - a - g * g.transpose()).norm() < 1e-11 * a.norm());
  }
}

TEST_CASE("columns of the inverse transposed factor") {
  const MatrixD l = positive_definite(12).llt().matrixL();
  const MatrixD inverse = l.transpose().inverse();
  CHECK((inverse_transposed_columns(l, 12, 5) - inverse.rightCols(7)).norm() < 1e-12);
}
