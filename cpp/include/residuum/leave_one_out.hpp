// Exact leave-one-out scores of the readout, and the temperature that makes probabilities of them.
// Leaving row i out moves its score from t − r to t − r / (1 − leverage_i).
#pragma once

#include "residuum/factor.hpp"
#include "residuum/stagewise.hpp"

namespace residuum {

// Fills in fit.loo_rows and fit.loo_scores for all rows, from the residual and the leverages.
template <class Scalar>
void leave_one_out(const Design<Scalar>& design, const RidgeState<Scalar>& state,
                   const MatrixD& targets, StagewiseFit& fit);

// What leaving its row out makes of a residual: 1 / (1 − leverage).
inline double loo_growth(double leverage) { return 1 / std::max(1.0 - leverage, 1e-10); }

// One row of leave-one-out scores. A row that alone decides its fit (leverage 1) scores nothing.
inline Eigen::RowVectorXd left_out(const Eigen::RowVectorXd& target,
                                   const Eigen::RowVectorXd& residual, double leverage) {
  return target - residual * loo_growth(leverage);
}

// τ > 0 that maximises the likelihood of labels (by row of the fit) under softmax(τ · scores).
double fit_temperature(const MatrixD& scores, const std::vector<Index>& labels,
                       const std::vector<double>& weights);

}  // namespace residuum
