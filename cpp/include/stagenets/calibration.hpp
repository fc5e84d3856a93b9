// The temperature τ that turns a classifier's scores into probabilities softmax(τ · scores): the likeliest value given
// the exact leave-one-out scores of some rows. Leaving row i out changes its score from t − r to
// t − r / (1 − leverage_i).
#pragma once

#include <algorithm>
#include <vector>

#include "stagenets/row_weights.hpp"

namespace stagenets {

// The factor 1 / (1 − leverage) by which a residual grows when its row is left out; bounded for rows that alone
// determine their fit (leverage 1).
inline double loo_growth(double leverage) { return 1 / std::max(1.0 - leverage, 1e-10); }

// τ > 0 that maximises the likelihood of labels under softmax(τ · scores), one row per label; `weights` may be empty.
double fit_temperature(const MatrixD& scores, const std::vector<Index>& labels,
                       const std::vector<double>& weights);

// The state of the rows used for calibration: residuals, scaled by the roots of their weights, and leverages.
struct CalibrationState {
  MatrixD residual;
  VectorD leverage;
};

class Calibration {
 public:
  // Selects a few thousand rows with nonzero weight, evenly spaced: enough to determine one number. The blocks must
  // outlive it.
  Calibration(const Targets& targets, const RowWeights& weights, const RowBlocks& blocks);

  // The local ones of these rows, whose state a process gives.
  const std::vector<Index>& rows() const { return rows_; }
  double temperature(const CalibrationState& state) const;
  // The same for networks that grow from that state by columns of Q and their steps z, after each of `counts` columns
  // (increasing).
  std::vector<double> temperatures(CalibrationState state, const MatrixD& columns,
                                   const MatrixD& steps, const std::vector<Index>& counts) const;

 private:
  const RowBlocks& blocks_;
  std::vector<Index> rows_;
  MatrixD targets_;              // of these rows
  VectorD roots_;                // of their weights
  VectorD left_out_;             // shares of these, as in RowWeights
  std::vector<Index> labels_;    // from here on, of the rows of all processes
  std::vector<double> weights_;  // empty if all are equal
};

}  // namespace stagenets
