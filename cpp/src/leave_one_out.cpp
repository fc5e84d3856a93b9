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

template <class Scalar>
LeaveOneOutErrors leave_one_out_errors(const Design<Scalar>& design,
                                       const RidgeState<Scalar>& state, const MatrixD& targets,
                                       Team& team) {
  const Index outputs = targets.cols();
  const double* roots = design.root_weights();
  LaneSums sums(state.blocks.lanes(), 3);
  state.blocks.sweep(team, [&](Index lane, Index b, int) {
    const RowRange range = state.blocks.block(b);
    const Scalar* residual = state.residual.column(b, 0);
    double* sum = sums.lane(lane);
    for (Index i = 0; i < range.count; ++i) {
      const Index row = range.first + i;
      const double weight = roots ? roots[row] * roots[row] : 1.0;
      if (weight == 0) continue;
      const double grown = loo_growth(state.leverage[row]) / (roots ? roots[row] : 1.0);
      double error = 0, best_score = 0, best_target = 0;
      Index given = 0, wanted = 0;
      for (Index c = 0; c < outputs; ++c) {
        const double target = targets(row, c);
        const double miss = static_cast<double>(residual[i + c * state.residual.leading()]) * grown;
        error += miss * miss;
        if (c == 0 || target - miss > best_score) best_score = target - miss, given = c;
        if (c == 0 || target > best_target) best_target = target, wanted = c;
      }
      sum[0] += weight * error;
      sum[1] += given == wanted ? weight : 0.0;
      sum[2] += weight;
    }
  });
  const VectorD total = sums.total();
  return {total[0] / total[2], total[1] / total[2]};
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
    if (!(next > low && next < high)) next = std::sqrt(low * high);
    if (std::abs(next - tau) <= 1e-12 * tau) return next;
    tau = next;
  }
  return tau;
}

template LeaveOneOutErrors leave_one_out_errors<float>(const Design<float>&,
                                                       const RidgeState<float>&, const MatrixD&,
                                                       Team&);
template LeaveOneOutErrors leave_one_out_errors<double>(const Design<double>&,
                                                        const RidgeState<double>&, const MatrixD&,
                                                        Team&);
template void leave_one_out<float>(const Design<float>&, const RidgeState<float>&, const MatrixD&,
                                   StagewiseFit&);
template void leave_one_out<double>(const Design<double>&, const RidgeState<double>&,
                                    const MatrixD&, StagewiseFit&);

}  // namespace residuum
