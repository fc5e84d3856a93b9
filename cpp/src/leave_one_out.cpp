#include "residuum/leave_one_out.hpp"

#include <algorithm>
#include <cmath>

namespace residuum {

std::vector<Index> calibration_rows(Index rows, const double* root_weights) {
  constexpr Index kMost = 4096;
  std::vector<Index> weighted;
  for (Index row = 0; row < rows; ++row) {
    if (!root_weights || root_weights[row] != 0) weighted.push_back(row);
  }
  const Index all = static_cast<Index>(weighted.size()), count = std::min(all, kMost);
  std::vector<Index> chosen;
  for (Index i = 0; i < count; ++i)
    chosen.push_back(weighted[static_cast<std::size_t>(i * all / count)]);
  return chosen;
}

template <class Scalar>
void leave_one_out(const Design<Scalar>& design, const RidgeState<Scalar>& state,
                   const MatrixD& targets, StagewiseFit& fit) {
  const double* roots = design.root_weights();
  const Index block_rows = state.blocks.block_rows();
  fit.loo_rows = calibration_rows(targets.rows(), roots);
  fit.loo_scores.resize(static_cast<Index>(fit.loo_rows.size()), targets.cols());
  for (Index i = 0; i < fit.loo_scores.rows(); ++i) {
    const Index row = fit.loo_rows[static_cast<std::size_t>(i)];
    const double growth = loo_growth(state.leverage[row]) / (roots ? roots[row] : 1.0);
    for (Index c = 0; c < targets.cols(); ++c) {
      const double residual = state.residual.column(row / block_rows, c)[row % block_rows];
      fit.loo_scores(i, c) = targets(row, c) - residual * growth;
    }
  }
}

double fit_temperature(const MatrixD& scores, const std::vector<Index>& labels,
                       const std::vector<double>& weights) {
  // Where the scores separate the classes the likelihood has no maximum: stop at a finite τ.
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
    // Before the interval has its say: where the slope is down to rounding, a step leads out of it by a hair.
    if (std::abs(next - tau) <= 1e-10 * tau) return tau;
    if (!(next > low && next < high)) next = std::sqrt(low * high);
    tau = next;
  }
  return tau;
}

template void leave_one_out<float>(const Design<float>&, const RidgeState<float>&, const MatrixD&,
                                   StagewiseFit&);
template void leave_one_out<double>(const Design<double>&, const RidgeState<double>&,
                                    const MatrixD&, StagewiseFit&);

}  // namespace residuum
