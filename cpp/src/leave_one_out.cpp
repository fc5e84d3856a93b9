#include "residuum/leave_one_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

namespace {

// Of some rows, as columns pass by: the squared error, and in which column the largest score and the
// largest target were. In doubles without branches, which compilers turn into vector code.
struct RowTallies {
  explicit RowTallies(Index rows)
      : error(VectorD::Zero(rows)),
        best_score(VectorD::Constant(rows, -std::numeric_limits<double>::infinity())),
        best_target(best_score),
        given(VectorD::Zero(rows)),
        wanted(VectorD::Zero(rows)) {}

  VectorD error, best_score, best_target, given, wanted;
};

template <class Scalar>
void meet_column(double number, const Scalar* __restrict residual, const double* __restrict target,
                 const double* __restrict growth, RowTallies& tallies) {
  const Index rows = tallies.error.size();
  double* __restrict error = tallies.error.data();
  double* __restrict best_score = tallies.best_score.data();
  double* __restrict best_target = tallies.best_target.data();
  double* __restrict given = tallies.given.data();
  double* __restrict wanted = tallies.wanted.data();
  for (Index i = 0; i < rows; ++i) {
    const double miss = static_cast<double>(residual[i]) * growth[i], score = target[i] - miss;
    error[i] += miss * miss;
    given[i] = score > best_score[i] ? number : given[i];
    best_score[i] = score > best_score[i] ? score : best_score[i];
    wanted[i] = target[i] > best_target[i] ? number : wanted[i];
    best_target[i] = target[i] > best_target[i] ? target[i] : best_target[i];
  }
}

}  // namespace

template <class Scalar>
LeaveOneOutErrors leave_one_out_errors(const Design<Scalar>& design,
                                       const RidgeState<Scalar>& state, const MatrixD& targets,
                                       Team& team) {
  const double* roots = design.root_weights();
  LaneSums sums(state.blocks.lanes(), 3);
  state.blocks.sweep(team, [&](Index lane, Index b, int) {
    const RowRange range = state.blocks.block(b);
    VectorD weight = VectorD::Ones(range.count), growth(range.count);
    for (Index i = 0; i < range.count; ++i) growth[i] = loo_growth(state.leverage[range.first + i]);
    if (roots) {
      weight = Eigen::Map<const VectorD>(roots + range.first, range.count);
      // Rows without weight have no say in the fit, nor here: their residuals are zero.
      growth = (weight.array() > 0).select(growth.array() / weight.array(), 0.0);
      weight = weight.cwiseAbs2();
    }
    RowTallies tallies(range.count);
    for (Index c = 0; c < targets.cols(); ++c) {
      meet_column(static_cast<double>(c), state.residual.column(b, c),
                  targets.data() + c * targets.rows() + range.first, growth.data(), tallies);
    }
    double* sum = sums.lane(lane);
    sum[0] += weight.dot(tallies.error);
    sum[1] += (tallies.given.array() == tallies.wanted.array()).select(weight, 0.0).sum();
    sum[2] += weight.sum();
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
