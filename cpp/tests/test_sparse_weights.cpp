// Sparse maps against Eigen's dense product, and the sums of columns below them for every instruction set.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "stagenets/kernels.hpp"
#include "stagenets/sparse_weights.hpp"

namespace {

using stagenets::Index;
using stagenets::InputBlock;
using stagenets::Matrix;
using stagenets::SparseWeights;
using stagenets::UnitWeights;
using stagenets::Vector;

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
UnitWeights units_of(const Matrix<Scalar>& weights) {
  return {weights.template cast<double>(), stagenets::VectorD::Zero(weights.cols()), {}, {}};
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
      Vector<Scalar> biases;
      REQUIRE(sparse.assign(units_of(weights), nullptr, biases).empty());
      const Index leading = rows + 5;
      Matrix<Scalar> out = Matrix<Scalar>::Constant(leading, 12, Scalar(99));
      const Scalar size = expected.cwiseAbs().maxCoeff();
      const auto map = [&](const InputBlock<Scalar>& block) {  // in two goes
        const std::vector<const Scalar*> columns = sparse.columns(block, rows);
        sparse.map(columns, 0, 5, rows, out.data(), leading);
        sparse.map(columns, 5, 12, rows, out.data(), leading);
      };
      map({x.data(), rows, stagenets::blas::Op::none});
      CHECK((out.topRows(rows) - expected).cwiseAbs().maxCoeff() <= kClose<Scalar> * size);
      out.topRows(rows).setConstant(Scalar(99));
      map({transposed.data(), 61, stagenets::blas::Op::transpose});
      CHECK((out.topRows(rows) - expected).cwiseAbs().maxCoeff() <= kClose<Scalar> * size);
      CHECK((out.bottomRows(5).array() == Scalar(99)).all());
    }
  }
}

TEST_CASE("Units with many nonzeros are left to the dense product, and only those") {
  SparseWeights<double> sparse;
  Vector<double> biases;
  const auto others = [&](const Matrix<double>& weights) {
    return sparse.assign(units_of(weights), nullptr, biases);
  };
  Matrix<double> weights = random_matrix<double>(20, 10, 2);
  CHECK(others(weights).size() == 10);
  CHECK(sparse.units().empty());
  weights.leftCols(5) = sparse_matrix<double>(20, 6, 5).leftCols(5);
  weights.col(7).setZero();
  CHECK(others(weights) == std::vector<Index>{5, 6, 8, 9});
  CHECK(sparse.units() == std::vector<Index>{0, 1, 2, 3, 4, 7});
  CHECK(others(sparse_matrix<double>(20, 2, 6)) == std::vector<Index>{0});
}

TEST_CASE_TEMPLATE("Units of several terms are the least of them, however many inputs they see",
                   Scalar, float, double) {
  const Index rows = 50;
  const Matrix<Scalar> x = random_matrix<Scalar>(rows, 7, 1);
  UnitWeights units = units_of(random_matrix<Scalar>(7, 6, 2));
  units.biases = random_matrix<double>(6, 1, 3);
  units.ends = {1, 4, 6};  // one term, three, two
  SparseWeights<Scalar> sparse;
  Vector<Scalar> biases;
  CHECK(sparse.assign(units, nullptr, biases) == std::vector<Index>{0});
  CHECK(sparse.units() == std::vector<Index>{1, 2});
  Matrix<Scalar> out(rows, 3);
  sparse.map(sparse.columns({x.data(), rows, stagenets::blas::Op::none}, rows), 0, 2, rows,
             out.data(), rows);
  const stagenets::MatrixD terms =
      (x.template cast<double>() * units.weights).rowwise() + units.biases.transpose();
  const auto check = [&](Index unit, Index first, Index count) {
    const stagenets::VectorD expected = terms.middleCols(first, count).rowwise().minCoeff();
    const auto actual = (out.col(unit).array() + biases[unit]).template cast<double>();
    CHECK((actual - expected.array()).abs().maxCoeff() <= 10 * double(kClose<Scalar>));
  };
  check(1, 1, 3);
  check(2, 4, 2);
}

TEST_CASE_TEMPLATE("Every instruction set lowers columns of any length to others", Scalar, float,
                   double) {
  const Matrix<Scalar> column = random_matrix<Scalar>(67, 1, 3),
                       start = random_matrix<Scalar>(67, 1, 4);
  for (int variant = 0; stagenets::available_kernels<Scalar>(variant); ++variant) {
    for (Index rows = 0; rows <= 66; ++rows) {
      Matrix<Scalar> out = start;
      stagenets::available_kernels<Scalar>(variant)->lower_to_column(column.data(), Scalar(-0.7),
                                                                     Scalar(0.2), rows, out.data());
      const Matrix<Scalar> term = (Scalar(-0.7) * column).array() + Scalar(0.2);
      REQUIRE((out - start.cwiseMin(term)).topRows(rows).isZero(kClose<Scalar>));
      REQUIRE(out.bottomRows(67 - rows) == start.bottomRows(67 - rows));
    }
  }
}

TEST_CASE_TEMPLATE("Every instruction set sums any number of columns of any length", Scalar, float,
                   double) {
  const Matrix<Scalar> columns = random_matrix<Scalar>(67, 20, 3);
  const Matrix<Scalar> weights = random_matrix<Scalar>(20, 1, 4);
  std::vector<const Scalar*> pointers;
  for (Index j = 0; j < 20; ++j) pointers.push_back(columns.col(j).data());
  for (int variant = 0; stagenets::available_kernels<Scalar>(variant); ++variant) {
    for (Index count = 0; count <= 20; ++count) {
      for (Index rows = 0; rows <= 66; ++rows) {
        Matrix<Scalar> out = Matrix<Scalar>::Constant(67, 1, Scalar(99));
        stagenets::available_kernels<Scalar>(variant)->combine_columns(
            pointers.data(), weights.data(), count, rows, out.data());
        const Matrix<Scalar> expected = columns.topLeftCorner(rows, count) * weights.topRows(count);
        REQUIRE((out.topRows(rows) - expected).isZero(kClose<Scalar> * 20));
        REQUIRE(out(rows, 0) == Scalar(99));
      }
    }
  }
}
