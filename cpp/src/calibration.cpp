#include "stagenets/calibration.hpp"

#include <cmath>

#include "stagenets/blas.hpp"

namespace stagenets {
namespace {

std::vector<Index> calibration_rows(Index rows, const double* root_weights,
                                    const RowBlocks& blocks) {
  constexpr Index kMost = 4096;
  std::vector<Index> weighted;
  for (Index row = 0; row < rows; ++row) {
    if (!root_weights || root_weights[row] != 0) weighted.push_back(row);
  }
  const RowNumbers numbers = blocks.number(static_cast<Index>(weighted.size()));
  const Index count = std::min(numbers.all, kMost);
  std::vector<Index> chosen;
  for (Index i = 0; i < count; ++i) {
    const Index number = i * numbers.all / count;
    if (!numbers.holds(number)) continue;
    chosen.push_back(weighted[static_cast<std::size_t>(number - numbers.first)]);
  }
  return chosen;
}

// Rows of all processes from those of each, row by row.
MatrixD gather_rows(const MatrixD& rows, const RowBlocks& blocks) {
  const MatrixD across = rows.transpose();
  const VectorD all = blocks.gather(Eigen::Map<const VectorD>(across.data(), across.size()));
  return Eigen::Map<const MatrixD>(all.data(), rows.cols(), all.size() / rows.cols()).transpose();
}

}  // namespace

Calibration::Calibration(const Targets& targets, const RowWeights& weights, const RowBlocks& blocks)
    : blocks_(blocks),
      rows_(calibration_rows(targets.rows(), weights.root_data(), blocks)),
      targets_(targets.of_rows(rows_).values()),
      roots_(VectorD::Ones(targets_.rows())),
      left_out_(VectorD::Ones(targets_.rows())) {
  MatrixD facts(targets_.rows(), 2);
  for (Index i = 0; i < targets_.rows(); ++i) {
    const Index row = rows_[static_cast<std::size_t>(i)];
    if (weights.root_data()) roots_[i] = weights.roots[row];
    if (weights.left_out_data()) left_out_[i] = weights.left_out[row];
    facts(i, 0) = static_cast<double>(targets.label(row));
    facts(i, 1) = roots_[i] * roots_[i];
  }
  const MatrixD all = gather_rows(facts, blocks);
  for (Index i = 0; i < all.rows(); ++i) {
    labels_.push_back(static_cast<Index>(all(i, 0)));
    if (weights.root_data()) weights_.push_back(all(i, 1));
  }
}

double Calibration::temperature(const CalibrationState& state) const {
  MatrixD scores = targets_;
  for (Index i = 0; i < scores.rows(); ++i) {
    const double growth = loo_growth(left_out_[i] * state.leverage[i]);
    scores.row(i) -= state.residual.row(i) * (growth / roots_[i]);
  }
  return fit_temperature(gather_rows(scores, blocks_), labels_, weights_);
}

std::vector<double> Calibration::temperatures(CalibrationState state, const MatrixD& columns,
                                              const MatrixD& steps,
                                              const std::vector<Index>& counts) const {
  MatrixD& residual = state.residual;
  std::vector<double> found;
  Index done = 0;
  for (const Index count : counts) {
    const Index more = count - done;
    blas::gemm<double>(blas::Op::none, blas::Op::none, residual.rows(), residual.cols(), more, -1,
                       columns.data() + done * columns.rows(), columns.rows(), steps.data() + done,
                       steps.rows(), 1, residual.data(), residual.rows());
    state.leverage += columns.middleCols(done, more).rowwise().squaredNorm();
    done = count;
    found.push_back(temperature(state));
  }
  return found;
}

double fit_temperature(const MatrixD& scores, const std::vector<Index>& labels,
                       const std::vector<double>& weights) {
  // If the scores separate the classes, the likelihood has no maximum: stop at a finite τ.
  constexpr double kLeast = 1e-3, kMost = 1e3;
  const Index outputs = scores.cols();
  double low = kLeast, high = kMost, tau = 1.0;
  for (int iteration = 0; iteration < 60; ++iteration) {
    // The negative log-likelihood is convex in τ: safeguarded Newton steps on its slope.
    double slope = 0, curvature = 0;
    for (Index i = 0; i < scores.rows(); ++i) {
      const double weight = weights.empty() ? 1.0 : weights[i];
      const double top = scores.row(i).maxCoeff();
      double total = 0, mean = 0, square = 0;
      for (Index c = 0; c < outputs; ++c) {
        const double margin = scores(i, c) - top;
        const double share = std::exp(tau * margin);
        total += share;
        mean += share * margin;
        square += share * margin * margin;
      }
      mean /= total;
      slope += weight * (mean - (scores(i, labels[i]) - top));
      curvature += weight * (square / total - mean * mean);
    }
    (slope > 0 ? high : low) = tau;
    double next = curvature > 0 ? tau - slope / curvature : (slope > 0 ? low : high);
    // Tested before the interval: if the slope is mere rounding, a tiny step may leave it.
    if (std::abs(next - tau) <= 1e-10 * tau) return tau;
    if (!(next > low && next < high)) next = std::sqrt(low * high);
    tau = next;
  }
  return tau;
}

}  // namespace stagenets
