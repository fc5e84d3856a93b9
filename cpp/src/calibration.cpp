#include "stagenets/calibration.hpp"

#include <cmath>

#include "stagenets/blas.hpp"

namespace stagenets {
namespace {

std::vector<Index> calibration_rows(Index rows, const double* root_weights) {
  constexpr Index kMost = 4096;
  std::vector<Index> weighted;
  for (Index row = 0; row < rows; ++row) {
    if (!root_weights || root_weights[row] != 0) weighted.push_back(row);
  }
  const Index all = static_cast<Index>(weighted.size()), count = std::min(all, kMost);
  std::vector<Index> chosen;
  for (Index i = 0; i < count; ++i) {
    chosen.push_back(weighted[static_cast<std::size_t>(i * all / count)]);
  }
  return chosen;
}

}  // namespace

Calibration::Calibration(const Targets& targets, const double* root_weights)
    : rows_(calibration_rows(targets.rows(), root_weights)),
      targets_(targets.of_rows(rows_).values()) {
  for (const Index row : rows_) {
    labels_.push_back(targets.label(row));
    if (root_weights) weights_.push_back(root_weights[row] * root_weights[row]);
  }
}

double Calibration::temperature(const CalibrationState& state) const {
  MatrixD scores = targets_;
  for (Index i = 0; i < scores.rows(); ++i) {
    const double root = weights_.empty() ? 1.0 : std::sqrt(weights_[static_cast<std::size_t>(i)]);
    scores.row(i) -= state.residual.row(i) * (loo_growth(state.leverage[i]) / root);
  }
  return fit_temperature(scores, labels_, weights_);
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
