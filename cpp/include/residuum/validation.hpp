// Rows that take no part in the fit (their weight is zero) but say after every stage how good it is.
#pragma once

#include "residuum/growing_ridge.hpp"

namespace residuum {

// Accuracy of the largest score against the largest target, or R² averaged over the outputs.
double prediction_score(const MatrixD& targets, const MatrixD& scores, bool classification);

template <class Scalar>
class ValidationRows {
 public:
  ValidationRows(Design<Scalar>& design, const MatrixD& targets, const std::vector<Index>& rows,
                 Index max_units, bool classification);

  // Takes in the units the source has just kept.
  void add_selected(Design<Scalar>& design);
  // Score of the readout so far.
  double score(const MatrixD& readout) const;

 private:
  const std::vector<Index>& rows_;
  bool classification_;
  MatrixD targets_;
  MatrixD columns_;  // the design on these rows
  Index width_;
};

}  // namespace residuum
