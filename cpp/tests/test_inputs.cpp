#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "random_matrix.hpp"
#include "stagenets/inputs.hpp"

namespace {

using stagenets::Index;
using stagenets::InputView;
using stagenets::MatrixD;
using stagenets::Scaling;
using stagenets::VectorD;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// One matrix in each of the layouts that inputs may have.
struct Layouts {
  MatrixD by_columns;
  RowMajor by_rows;
  std::vector<std::int32_t> columns;
  std::vector<std::int64_t> starts{0};

  explicit Layouts(const MatrixD& values) : by_columns(values), by_rows(values) {
    for (Index i = 0; i < values.rows(); ++i) {
      for (Index j = 0; j < values.cols(); ++j) columns.push_back(static_cast<std::int32_t>(j));
      starts.push_back(static_cast<std::int64_t>(columns.size()));
    }
  }
  InputView<double> view(const std::string& layout) const {
    const Index n = by_rows.rows(), p = by_rows.cols();
    if (layout == "columns") return {by_columns.data(), n, p, false};
    if (layout == "rows") return {by_rows.data(), n, p, true};
    return {nullptr, n, p, true, {by_rows.data(), columns.data(), starts.data()}};
  }
};

// The first `count` rows as a network sees them, once the scales are learnt from all.
MatrixD standardized(const InputView<double>& view, Scaling scaling, const VectorD& root_weights,
                     Index count) {
  MatrixD result(count, view.columns);
  stagenets::Team::run(1, nullptr, [&](stagenets::Team& team) {
    stagenets::Inputs<double> inputs(view);
    inputs.learn_scales(scaling, root_weights.data(), team);
    inputs.copy_columns({0, count}, 0, view.columns, result.data(), count);
  });
  return result;
}

}  // namespace

TEST_CASE("Rows without weight do not move the scales, not even by squares that overflow") {
  const Index rows = 40, columns = 3;
  const MatrixD kept = random_matrix(rows, columns, 1);
  MatrixD all(rows + 2, columns);
  all << kept, MatrixD::Constant(1, columns, 1e200), MatrixD::Constant(1, columns, -1e300);
  VectorD roots = VectorD::Ones(rows + 2);
  roots.tail(2).setZero();
  const Layouts without(kept), with(all);
  for (const Scaling scaling : {Scaling::deviation, Scaling::robust, Scaling::common}) {
    for (const std::string layout : {"rows", "columns", "sparse"}) {
      CAPTURE(static_cast<int>(scaling));
      CAPTURE(layout);
      const MatrixD expected =
          standardized(without.view(layout), scaling, VectorD::Ones(rows), rows);
      const MatrixD found = standardized(with.view(layout), scaling, roots, rows);
      REQUIRE(expected.allFinite());
      CHECK((found - expected).cwiseAbs().maxCoeff() <= 1e-14);
      if (scaling == Scaling::deviation) {
        const auto centred = (kept.rowwise() - kept.colwise().mean()).array();
        const Eigen::RowVectorXd deviation = centred.square().colwise().mean().sqrt();
        const MatrixD formula = centred.rowwise() / deviation.array();
        CHECK((found - formula).cwiseAbs().maxCoeff() <= 1e-13);
      }
    }
  }
}
