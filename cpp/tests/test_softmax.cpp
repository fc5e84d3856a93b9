// Chances of labels, for every instruction set, against one row at a time in long double.
#include <doctest/doctest.h>

#include <cmath>

#include "stagenets/kernels.hpp"
#include "stagenets/types.hpp"

namespace {

using stagenets::Index;
using stagenets::Kernels;

template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
template <class Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

template <class Scalar>
void check_softmax(const Kernels<Scalar>& kernels, Index rows, Index outputs, Scalar size) {
  constexpr Index kMore = 3;  // rows of the matrices that are not asked for, and must stay
  const long double rounding =
      20 * static_cast<long double>(std::numeric_limits<Scalar>::epsilon());
  const Matrix<Scalar> scores = size * Matrix<Scalar>::Random(rows + kMore, outputs);
  Matrix<Scalar> labels = Matrix<Scalar>::Zero(rows + kMore, outputs);
  for (Index i = 0; i < labels.rows(); ++i) labels(i, (5 * i) % outputs) = 1;
  Matrix<Scalar> errors = scores;
  Vector<Scalar> gaps = Vector<Scalar>::Constant(rows + kMore, 99), totals = gaps, squares = gaps;
  kernels.softmax({rows, outputs, errors.data(), errors.rows(), labels.data(), labels.rows(),
                   gaps.data(), totals.data(), squares.data()});
  CAPTURE(kernels.name);
  CAPTURE(rows);
  CAPTURE(outputs);
  for (Index i = 0; i < rows; ++i) {
    const Scalar largest = scores.row(i).maxCoeff();
    long double total = 0, square = 0;
    for (Index c = 0; c < outputs; ++c)
      total += std::exp(static_cast<long double>(scores(i, c)) - largest);
    for (Index c = 0; c < outputs; ++c) {
      const long double chance = std::exp(static_cast<long double>(scores(i, c)) - largest) / total;
      square += chance * chance;
      // Powers are of differences that are rounded.
      CHECK(std::abs(errors(i, c) - (labels(i, c) - chance)) < (1 + 2 * size) * rounding);
    }
    const Scalar own = scores.row(i).dot(labels.row(i));
    CHECK(gaps[i] == largest - own);
    CHECK(std::abs(totals[i] - total) < (1 + 2 * size) * rounding * outputs);
    CHECK(std::abs(squares[i] - square) < (1 + 2 * size) * rounding);
  }
  CHECK(errors.bottomRows(kMore) == scores.bottomRows(kMore));
  CHECK((gaps.tail(kMore).array() == 99).all());
  CHECK((totals.tail(kMore).array() == 99).all());
  CHECK((squares.tail(kMore).array() == 99).all());
}

}  // namespace

TEST_CASE_TEMPLATE("every instruction set turns scores into chances", Scalar, float, double) {
  for (int i = 0; const Kernels<Scalar>* kernels = stagenets::available_kernels<Scalar>(i); ++i) {
    for (const Index rows : {0, 1, 2, 3, 7, 8, 9, 31, 100}) {
      for (const Index outputs : {1, 2, 5, 26}) {
        for (const Scalar size : {Scalar(0), Scalar(2), Scalar(50)}) {
          check_softmax(*kernels, rows, outputs, size);
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("scores far apart leave no chance to the others", Scalar, float, double) {
  for (int i = 0; const Kernels<Scalar>* kernels = stagenets::available_kernels<Scalar>(i); ++i) {
    Matrix<Scalar> scores(1, 2), labels(1, 2);
    scores << Scalar(-1e30), Scalar(1e30);
    labels << 1, 0;
    Scalar gap = 0, total = 0, square = 0;
    kernels->softmax({1, 2, scores.data(), 1, labels.data(), 1, &gap, &total, &square});
    CHECK(scores(0, 0) == 1);
    CHECK(scores(0, 1) == -1);
    CHECK(gap == Scalar(2e30));
    CHECK(total == 1);
    CHECK(square == 1);
  }
}
