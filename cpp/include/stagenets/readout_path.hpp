// The readouts of a network as it grew.
#pragma once

#include <vector>

#include "stagenets/types.hpp"

namespace stagenets {

// The readout after every stage t: start + directions[:, :ends[t]] · steps[:ends[t], :].
struct ReadoutPath {
  MatrixD start;
  MatrixD directions;
  MatrixD steps;
  std::vector<Index> ends;
  bool column_per_unit = false;  // each unit has its own direction: the path can be cut at any unit

  // The readout at the end of the path.
  MatrixD last() const { return start + directions * steps; }
  // Drops all but the first stages and design columns.
  void cut(Index stages, Index design_columns);
};

// The path through several readouts, which are side by side with `outputs` columns each.
ReadoutPath path_between(const MatrixD& readouts, Index outputs);
// The same for readouts of growing height.
ReadoutPath path_between(const std::vector<MatrixD>& readouts);

}  // namespace stagenets
