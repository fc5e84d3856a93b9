#include "residuum/leave_one_out.hpp"

#include <algorithm>
#include <cmath>

namespace residuum {

template <class Scalar>
void leave_one_out(const Design<Scalar>& design, const RidgeState<Scalar>& state,
                   const MatrixD& targets, StagewiseFit& fit) {
  const Index rows = targets.rows(), outputs = targets.cols();
  const double* roots = design.root_weights();
  fit.loo_rows.clear();
  fit.loo_scores.resize(rows, outputs);
  for (Index b = 0; b < state.blocks.blocks(); ++b) {
    const RowRange range = state.blocks.block(b);
    const ConstMatrixMap<Scalar> residual(state.residual.column(b, 0), range.count, outputs,
                                          Eigen::OuterStride<>(state.residual.leading()));
    for (Index i = 0; i < range.count; ++i) {
      const Index row = range.first + i;
      const double root = roots ? roots[row] : 1.0;
      if (root == 0) continue;  // a row without weight has no say in the fit, nor here
      fit.loo_scores.row(static_cast<Index>(fit.loo_rows.size())) = left_out(
          targets.row(row), residual.row(i).template cast<double>() / root, state.leverage[row]);
      fit.loo_rows.push_back(row);
    }
  }
  fit.loo_scores.conservativeResize(static_cast<Index>(fit.loo_rows.size()), outputs);
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
