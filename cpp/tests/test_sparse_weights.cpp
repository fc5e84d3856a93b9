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

TEST_CASE(
    "Sparse rows are gathered, with what is not stored, by units that see at most 64 inputs") {
  const Index rows = 12;
  for (const Index inputs : {20, 400}) {
    Matrix<double> x = Matrix<double>::Zero(rows, inputs);
    std::vector<double> values;
    std::vector<std::int32_t> columns;
    std::vector<std::int64_t> starts{0};
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < inputs; ++j) {
        if (j != 3 && (2 * i + j) % 5 != 0) continue;  // the fourth is in all rows, above zero
        x(i, j) = 1 + 0.1 * static_cast<double>((i * j) % 7);
        values.push_back(x(i, j));
        columns.push_back(static_cast<std::int32_t>(j));
      }
      starts.push_back(static_cast<std::int64_t>(values.size()));
    }
    const stagenets::InputView<double> view{
        nullptr, rows, inputs, true, {values.data(), columns.data(), starts.data()}};
    const Index most = inputs == 20 ? 5 : 64;
    Matrix<double> weights = Matrix<double>::Zero(inputs, 4);
    weights.col(0).head(most).setLinSpaced(1, 2);
    weights.col(1).tail(most).setLinSpaced(-1, -2);
    weights.col(2).head(most + 1).setOnes();
    weights(3, 3) = 0.5;
    for (const bool scaled : {false, true}) {
      stagenets::Inputs<double> of_rows(view);
      if (scaled) {
        stagenets::Team::run(1, nullptr, [&](stagenets::Team& team) {
          of_rows.learn_scales(stagenets::Scaling::deviation, nullptr, team);
        });
      }
      SparseWeights<double> sparse;
      Vector<double> biases;
      CHECK(sparse.assign(units_of(weights), &of_rows, biases) == std::vector<Index>{2});
      CHECK(sparse.units() == std::vector<Index>{0, 1, 3});
      stagenets::LoadedRows<double> loaded;
      const InputBlock<double> block = of_rows.load({0, rows, nullptr}, loaded);
      REQUIRE(block.sparse != nullptr);
      Matrix<double> out(rows, 4), seen(rows, inputs);
      sparse.map(sparse.columns(block, rows), 0, 3, rows, out.data(), rows);
      of_rows.copy_columns({0, rows, nullptr}, 0, inputs, seen.data(), rows);
      if (!scaled) CHECK(seen == x);
      const Matrix<double> expected = seen * weights;
      for (const Index unit : {0, 1, 3}) {
        const auto actual = out.col(unit).array() + biases[unit];
        CHECK((actual - expected.col(unit).array()).abs().maxCoeff() < 1e-12 * 100);
      }
      // Values of entries that are not stored, where they are not zero.
      stagenets::SparseBlock<double> centred = *block.sparse;
      const stagenets::VectorD rest = stagenets::VectorD::LinSpaced(inputs, -1, 1);
      centred.rest = &rest;
      sparse.map(sparse.columns({nullptr, 0, stagenets::blas::Op::none, &centred}, rows), 2, 3,
                 rows, out.data(), rows);
      sparse.map(sparse.columns({nullptr, 0, stagenets::blas::Op::none, &centred}, rows), 0, 1,
                 rows, out.data(), rows);
      for (Index i = 0; i < rows; ++i) {
        double sum = 0;
        for (Index j = 0; j < most; ++j) {
          const bool stored = x(i, j) != 0;
          const double factor = of_rows.weight_factor(j);
          sum += weights(j, 0) * factor * (stored ? x(i, j) : rest[j]);
        }
        CHECK(out(i, 0) == doctest::Approx(sum).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("A map assigned again has nothing left of the one before") {
  const Matrix<double> x = random_matrix<double>(9, 40, 1);
  SparseWeights<double> sparse;
  Vector<double> biases;
  const auto check = [&](const Matrix<double>& weights, Index seen) {
    REQUIRE(sparse.assign(units_of(weights), nullptr, biases).empty());
    CHECK(biases.size() == weights.cols());
    const Matrix<double> own = x.leftCols(weights.rows());
    const std::vector<const double*> columns =
        sparse.columns({own.data(), 9, stagenets::blas::Op::none}, 9);
    CHECK(static_cast<Index>(columns.size()) == seen);  // those that some unit sees, no others
    Matrix<double> out(9, weights.cols());
    sparse.map(columns, 0, weights.cols(), 9, out.data(), 9);
    CHECK((out - own * weights).isZero(1e-12));
  };
  Matrix<double> weights = Matrix<double>::Zero(40, 3);
  weights(4, 0) = weights(30, 1) = weights(4, 2) = 2;
  check(weights, 2);
  weights.setZero();
  weights(31, 0) = weights(0, 1) = weights(4, 1) = weights(39, 2) = -1;
  check(weights, 4);
  check(weights.topRows(32).leftCols(2), 3);
  weights(20, 2) = 1;
  check(weights, 5);
  check(Matrix<double>::Zero(40, 2), 0);
}

TEST_CASE("Weights that are known to be seen are read in the scale of the inputs") {
  const Index rows = 20, inputs = 24;
  Matrix<double> x = random_matrix<double>(rows, inputs, 1);
  for (Index j = 0; j < inputs; ++j)
    x.col(j) = x.col(j) * (1.0 + double(j)) + Vector<double>::Constant(rows, 5);
  stagenets::Inputs<double> scaled(stagenets::InputView<double>{x.data(), rows, inputs, false});
  stagenets::Team::run(1, nullptr, [&](stagenets::Team& team) {
    scaled.learn_scales(stagenets::Scaling::deviation, nullptr, team);
  });
  Matrix<double> standardized(rows, inputs);
  scaled.copy_columns({0, rows, nullptr}, 0, inputs, standardized.data(), rows);
  UnitWeights units = units_of(sparse_matrix<double>(inputs, 8, 3));
  for (const Index seen : {1, 2}) {  // of other terms
    for (const Index j : {seen, seen + 4}) {
      units.weights.col(j) = sparse_matrix<double>(inputs, 8, seen).col(j);
    }
  }
  units.biases = random_matrix<double>(8, 1, 3);
  SUBCASE("units of one term") {}
  SUBCASE("units of several terms") { units.ends = {1, 3, 4, 5, 8}; }
  for (const bool known : {false, true}) {
    units.seen = {};
    for (Index j = 0; known && j < 8; ++j) {
      for (Index i = 0; i < inputs; ++i) {
        if (units.weights(i, j) != 0) units.seen.inputs.push_back(i);
      }
      units.seen.ends.push_back(static_cast<Index>(units.seen.inputs.size()));
    }
    SparseWeights<double> sparse;
    Vector<double> biases;
    REQUIRE(sparse.assign(units, &scaled, biases).empty());
    stagenets::LoadedRows<double> loaded;
    const InputBlock<double> block = scaled.load({0, rows, nullptr}, loaded);
    Matrix<double> out(rows, units.count());
    sparse.map(sparse.columns(block, rows), 0, units.count(), rows, out.data(), rows);
    const stagenets::MatrixD terms =
        (standardized * units.weights).rowwise() + units.biases.transpose();
    for (Index unit = 0; unit < units.count(); ++unit) {
      const Vector<double> expected =
          terms.middleCols(units.first_term(unit), units.terms(unit)).rowwise().minCoeff();
      CHECK((out.col(unit).array() + biases[unit] - expected.array()).abs().maxCoeff() < 1e-12);
    }
  }
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
