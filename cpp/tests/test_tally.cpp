// The sums over rows that follow a stage, for every instruction set, against one row at a time from the definitions.
#include <doctest/doctest.h>

#include <cmath>

#include "stagenets/kernels.hpp"
#include "stagenets/types.hpp"

namespace {

using stagenets::Index;
using stagenets::Kernels;
using stagenets::RowTally;

struct Expected {
  Eigen::VectorXd leverage;
  double energy = 0, error = 0, right = 0;
};

template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

template <class Scalar>
Expected row_by_row(const Matrix<Scalar>& residual, const Matrix<Scalar>& fresh,
                    const Eigen::VectorXd& leverage, const Eigen::MatrixXd& targets,
                    const Eigen::VectorXd& roots, const Eigen::VectorXd& left_out) {
  Expected expected;
  expected.leverage = leverage + fresh.template cast<double>().rowwise().squaredNorm();
  expected.energy = residual.template cast<double>().squaredNorm();
  for (Index i = 0; i < residual.rows(); ++i) {
    if (roots[i] == 0) continue;
    const Eigen::RowVectorXd miss = residual.row(i).template cast<double>() / roots[i] /
                                    std::max(1 - left_out[i] * expected.leverage[i], 1e-10);
    Index given = 0, wanted = 0;
    (targets.row(i) - miss).maxCoeff(&given);
    targets.row(i).maxCoeff(&wanted);
    const double weight = roots[i] * roots[i];
    expected.error += weight * miss.squaredNorm();
    expected.right += given == wanted ? weight : 0.0;
  }
  return expected;
}

template <class Scalar>
void check_tally(const Kernels<Scalar>& kernels, Index rows, Index outputs, bool weighted) {
  const Matrix<Scalar> residual = Matrix<Scalar>::Random(rows, outputs) / 4;
  const Matrix<Scalar> fresh = Matrix<Scalar>::Random(rows, 3) / 4;
  const Eigen::MatrixXd targets = Eigen::MatrixXd::Random(rows, outputs);
  Eigen::VectorXd leverage = Eigen::VectorXd::Constant(rows, 0.25), wanted(rows);
  Eigen::VectorXd roots = Eigen::VectorXd::Ones(rows);
  Eigen::VectorXd left_out = Eigen::VectorXd::Ones(rows);
  leverage[0] = 1;  // decides its own fit
  if (weighted) {
    left_out = (Eigen::VectorXd::Random(rows).array() + 1) / 2;
    left_out[0] = 1;
    roots = (Eigen::VectorXd::Random(rows).array() + 1.5).matrix();
    roots[rows - 1] = 0;
  }
  for (Index i = 0; i < rows; ++i) {
    Index column;
    targets.row(i).maxCoeff(&column);
    wanted[i] = static_cast<double>(column);
  }
  Matrix<Scalar> weighted_residual = residual;
  if (weighted) weighted_residual.row(rows - 1).setZero();
  const Expected expected =
      row_by_row(weighted_residual, fresh, leverage, targets, roots, left_out);

  Eigen::VectorXd followed(rows + 1);  // and one more, which must stay
  followed << leverage, 99;
  RowTally<Scalar> tally;
  tally.rows = rows;
  tally.outputs = outputs;
  tally.residual = weighted_residual.data();
  tally.ld_residual = rows;
  tally.fresh = fresh.data();
  tally.ld_fresh = rows;
  tally.fresh_columns = 3;
  tally.leverage = followed.data();
  tally.targets = targets.data();
  tally.ld_targets = rows;
  tally.wanted = wanted.data();
  tally.roots = weighted ? roots.data() : nullptr;
  tally.left_out = weighted ? left_out.data() : nullptr;
  double sums[3] = {1, 2, 3};
  kernels.tally_rows(tally, sums);
  CAPTURE(kernels.name);
  CAPTURE(rows);
  CAPTURE(outputs);
  CHECK((followed.head(rows) - expected.leverage).norm() < 1e-13 * rows);
  CHECK(followed[rows] == 99);
  CHECK(sums[0] - 1 == doctest::Approx(expected.energy).epsilon(1e-12));
  CHECK(sums[1] - 2 == doctest::Approx(expected.error).epsilon(1e-12));
  CHECK(sums[2] - 3 == doctest::Approx(expected.right).epsilon(1e-12));

  // Without targets and leverages only the energy is taken.
  tally.targets = nullptr;
  tally.leverage = nullptr;
  tally.fresh_columns = 0;
  double alone[3] = {0, 0, 0};
  kernels.tally_rows(tally, alone);
  CHECK(alone[0] == doctest::Approx(expected.energy).epsilon(1e-12));
  CHECK(alone[1] == 0);
  CHECK(alone[2] == 0);
}

}  // namespace

TEST_CASE_TEMPLATE("every instruction set tallies rows by the definitions", Scalar, float, double) {
  for (int i = 0; const Kernels<Scalar>* kernels = stagenets::available_kernels<Scalar>(i); ++i) {
    for (const Index rows : {1, 2, 3, 7, 8, 9, 31, 100}) {
      for (const Index outputs : {1, 2, 5}) {
        for (const bool weighted : {false, true}) check_tally(*kernels, rows, outputs, weighted);
      }
    }
  }
}
