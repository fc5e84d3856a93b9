// How good predictions of some targets are: accuracy of the largest score, the fraction of rows with all labels correct
// (those above zero), or R² averaged over the outputs. Other processes may hold more such rows: what does not depend on
// the predictions is summed up once, and a score takes one more sum.
#pragma once

#include "stagenets/targets.hpp"

namespace stagenets {

class TargetScore {
 public:
  // Rows count by these weights, all the same if there are none. The blocks, which only complete sums, must outlive it.
  TargetScore(Targets targets, const VectorD& weights, const RowBlocks& blocks);

  double of(const MatrixD& scores) const;
  // The mean log-likelihood of labels, where probabilities are the softmax of the scores or, of several labels, the
  // sigmoid of each.
  double log_likelihood(const MatrixD& scores) const;

 private:
  double right(const MatrixD& scores) const;
  double r_squared(const MatrixD& scores) const;

  Targets targets_;
  const RowBlocks& blocks_;
  VectorD weights_;
  double total_;
  // Of numbers: their sums of squares about their means, in units of their deviations.
  TargetScaling scaling_;
  VectorD spread_;
};

}  // namespace stagenets
