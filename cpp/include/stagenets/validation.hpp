// Rows that are excluded from the fit (their weight is zero) and used to score it after every stage. A process may have
// none of them, and knows the score of all.
#pragma once

#include "stagenets/calibration.hpp"
#include "stagenets/design.hpp"
#include "stagenets/target_score.hpp"

namespace stagenets {

template <class Scalar>
class ValidationRows {
 public:
  // `targets` are those of the rows, and so are `weights`, if any; all but the targets must outlive this.
  ValidationRows(Design<Scalar>& design, Targets targets, const std::vector<Index>& rows,
                 const VectorD& weights, const RowBlocks& blocks, Measure measure);

  // Evaluates the units that the source has just kept.
  void add_selected(Design<Scalar>& design);
  // Score of the readout so far.
  double score(const MatrixD& readout, const Link& link) const;

 private:
  const std::vector<Index>& rows_;
  TargetScore score_;
  const Design<Scalar>& design_;
  MatrixD columns_;  // the design on these rows, without links of sparse inputs
  Index width_;
};

}  // namespace stagenets
