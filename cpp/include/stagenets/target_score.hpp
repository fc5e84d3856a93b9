// How good predictions of some targets are: accuracy of the largest score, the fraction of rows with all labels correct
// (those above zero), or R² averaged over the outputs; or what suits the loss that was minimised. Other processes may hold more such rows: what does not depend on
// the predictions is summed up once, and a score takes one more sum.
#pragma once

#include "stagenets/targets.hpp"

namespace stagenets {

// Accuracy or R²; the mean log-likelihood of labels, where probabilities are the softmax of the scores or, of several
// labels, the sigmoid of each; or like R², but with absolute errors in place of squares and medians in place of means.
enum class Measure { usual, likelihood, absolute_errors };
// How networks fitted by a loss are compared: outliers should not decide between those that resist them.
Measure measure_for(Loss loss, Task task);

class TargetScore {
 public:
  // Rows count by these weights, all the same if there are none. The blocks, which only complete sums, must outlive it.
  // Absolute errors need all rows to be here.
  TargetScore(Targets targets, const VectorD& weights, const RowBlocks& blocks,
              Measure measure = Measure::usual);

  double of(const MatrixD& scores) const;

 private:
  double right(const MatrixD& scores) const;
  double log_likelihood(const MatrixD& scores) const;
  double explained(const MatrixD& scores) const;
  // Sums over the rows of the errors, squared or not.
  VectorD total_errors(const MatrixD& errors) const;

  Targets targets_;
  const RowBlocks& blocks_;
  VectorD weights_;
  double total_;
  Measure measure_;
  // Of numbers: the total errors of their means, or medians, in units of their scales.
  TargetScaling scaling_;
  VectorD spread_;
};

}  // namespace stagenets
