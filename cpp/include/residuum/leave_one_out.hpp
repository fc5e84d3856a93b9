// Exact leave-one-out scores of the readout, and the temperature that makes probabilities of them.
// Leaving row i out moves its score from t − r to t − r / (1 − leverage_i).
#pragma once

#include "residuum/factor.hpp"
#include "residuum/stagewise.hpp"

namespace residuum {

// Rows to fit a temperature by: some thousands of those that have weight, evenly spaced. One number needs no more.
std::vector<Index> calibration_rows(Index rows, const double* root_weights);

// Fills in fit.loo_rows, those above, and fit.loo_scores, from the residual and the leverages.
template <class Scalar>
void leave_one_out(const Design<Scalar>& design, const RidgeState<Scalar>& state,
                   const MatrixD& targets, StagewiseFit& fit);

// What leaving its row out makes of a residual: 1 / (1 − leverage). A row that alone decides its fit (leverage 1)
// scores nothing.
inline double loo_growth(double leverage) { return 1 / std::max(1.0 - leverage, 1e-10); }

// τ > 0 that maximises the likelihood of labels (by row of the fit) under softmax(τ · scores).
double fit_temperature(const MatrixD& scores, const std::vector<Index>& labels,
                       const std::vector<double>& weights);

}  // namespace residuum
