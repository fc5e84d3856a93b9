// Sparse maps against Eigen's dense product, and the sums of columns below them for every instruction set.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "residuum/kernels.hpp"
#include "residuum/sparse_weights.hpp"

namespace {

using residuum::Index;
using residuum::InputBlock;
using residuum::Matrix;
using residuum::SparseWeights;

template <class Scalar>
Matrix<Scalar> random_matrix(Index rows, Index columns, unsigned seed) {
  std::mt19937 words(seed);
  std::normal_distribution<Scalar> normal;
  return Matrix<Scalar>::NullaryExpr(rows, columns, [&] { return normal(words); });
}

// `seen` weights in every column, none in the last.
template <class Scalar>
Matrix<Scalar> sparse_matrix(Index inputs, Index units, Index seen) {
  Matrix<Scalar> weights = Matrix<Scalar>::Zero(inputs, units);
  for (Index j = 0; j + 1 < units; ++j) {
    for (Index i = 0; i < seen; ++i) weights((7 * j + 3 * i) % inputs, j) = Scalar(1 + i + j) / 8;
  }
  return weights;
}

template <class Scalar>
constexpr Scalar kClose = Scalar(64) * std::numeric_limits<Scalar>::epsilon();

}  // namespace

TEST_CASE_TEMPLATE("A sparse map is the dense product, whichever way the rows lie", Scalar, float,
                   double) {
  for (const Index rows : {1, 3, 8, 13, 64, 77}) {
    for (const Index seen : {1, 2, 6, 9, 13}) {
      const Matrix<Scalar> x = random_matrix<Scalar>(rows, 61, 1), transposed = x.transpose();
      const Matrix<Scalar> weights = sparse_matrix<Scalar>(61, 12, seen), expected = x * weights;
      SparseWeights<Scalar> sparse;
      REQUIRE(sparse.take(weights));
      const Index leading = rows + 5;
      Matrix<Scalar> out = Matrix<Scalar>::Constant(leading, 12, Scalar(99));
      const Scalar size = expected.cwiseAbs().maxCoeff();
      const auto map = [&](const InputBlock<Scalar>& block) {  // in two goes
        const std::vector<const Scalar*> columns = sparse.columns(block, rows);
        sparse.map(columns, 0, 5, rows, out.data(), leading);
        sparse.map(columns, 5, 12, rows, out.col(5).data(), leading);
      };
      map({x.data(), rows, residuum::blas::Op::none});
      CHECK((out.topRows(rows) - expected).cwiseAbs().maxCoeff() <= kClose<Scalar> * size);
      out.topRows(rows).setConstant(Scalar(99));
      map({transposed.data(), 61, residuum::blas::Op::transpose});
      CHECK((out.topRows(rows) - expected).cwiseAbs().maxCoeff() <= kClose<Scalar> * size);
      CHECK((out.bottomRows(5).array() == Scalar(99)).all());
    }
  }
}

TEST_CASE("Weights with many nonzeros are left to the dense product") {
  SparseWeights<double> sparse;
  CHECK_FALSE(sparse.take(random_matrix<double>(20, 10, 2)));
  CHECK(sparse.take(sparse_matrix<double>(20, 10, 5)));
  CHECK_FALSE(sparse.take(sparse_matrix<double>(20, 10, 6)));
}

TEST_CASE_TEMPLATE("Every instruction set sums any number of columns of any length", Scalar, float,
                   double) {
  const Matrix<Scalar> columns = random_matrix<Scalar>(67, 20, 3);
  const Matrix<Scalar> weights = random_matrix<Scalar>(20, 1, 4);
  std::vector<const Scalar*> pointers;
  for (Index j = 0; j < 20; ++j) pointers.push_back(columns.col(j).data());
  for (int variant = 0; residuum::available_kernels<Scalar>(variant); ++variant) {
    for (Index count = 0; count <= 20; ++count) {
      for (Index rows = 0; rows <= 66; ++rows) {
        Matrix<Scalar> out = Matrix<Scalar>::Constant(67, 1, Scalar(99));
        residuum::available_kernels<Scalar>(variant)->combine_columns(
            pointers.data(), weights.data(), count, rows, out.data());
        const Matrix<Scalar> expected = columns.topLeftCorner(rows, count) * weights.topRows(count);
        REQUIRE((out.topRows(rows) - expected).isZero(kClose<Scalar> * 20));
        REQUIRE(out(rows, 0) == Scalar(99));
      }
    }
  }
}
