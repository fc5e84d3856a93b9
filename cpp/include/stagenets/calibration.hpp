// What turns a classifier's scores into probabilities: the likeliest temperatures and thresholds given the exact
// leave-one-out scores of some rows. Leaving row i out changes its score from t − r to t − r / (1 − leverage_i).
#pragma once

#include <algorithm>
#include <vector>

#include "stagenets/row_weights.hpp"

namespace stagenets {

// The factor 1 / (1 − leverage) by which a residual grows when its row is left out; bounded for rows that alone
// determine their fit (leverage 1).
inline double loo_growth(double leverage) { return 1 / std::max(1.0 - leverage, 1e-10); }

// Probabilities are softmax(τ · scores) where a row has one label. Where it has several, they are σ(τ_c (s_c − t_c)), so
// that those above their thresholds t are likelier than not.
struct Link {
  Eigen::RowVectorXd temperatures, thresholds;  // one per output

  // That of scores which need no calibration.
  static Link identity(Index outputs);
};

// τ > 0 that maximises the likelihood of labels under softmax(τ · scores), one row per label; `weights` may be empty.
double fit_temperature(const MatrixD& scores, const std::vector<Index>& labels,
                       const std::vector<double>& weights);

// τ > 0 and t that maximise the likelihood of a label, present (1) or not (0) in each row, under σ(τ (score − t)), with
// Platt's prior: one row more of either kind, of which nothing is known. So there is a maximum even where the label is in
// all rows or none, or the scores separate them.
struct Logistic {
  double temperature, threshold;
};
Logistic fit_logistic(const VectorD& scores, const VectorD& present,
                      const std::vector<double>& weights);

// The state of the rows used for calibration: residuals, scaled by the roots of their weights, and leverages.
struct CalibrationState {
  MatrixD residual;
  VectorD leverage;
};

class Calibration {
 public:
  // Selects a few thousand rows with nonzero weight, evenly spaced: enough to determine a few numbers. The blocks must
  // outlive it.
  Calibration(const Targets& targets, const RowWeights& weights, const RowBlocks& blocks);

  // The local ones of these rows, whose state a process gives.
  const std::vector<Index>& rows() const { return rows_; }
  Link link(const CalibrationState& state) const;
  // The same for networks that grow from that state by columns of Q and their steps z, after each of `counts` columns
  // (increasing).
  std::vector<Link> links(CalibrationState state, const MatrixD& columns, const MatrixD& steps,
                          const std::vector<Index>& counts) const;

 private:
  const RowBlocks& blocks_;
  std::vector<Index> rows_;
  MatrixD targets_;   // of these rows
  VectorD roots_;     // of their weights
  VectorD left_out_;  // shares of these, as in RowWeights
  Task task_;
  MatrixD wanted_;               // targets; from here on, of the rows of all processes
  std::vector<Index> labels_;    // in a task of one label
  std::vector<double> weights_;  // empty if all are equal
};

}  // namespace stagenets
