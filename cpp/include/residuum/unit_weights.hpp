// Weights and biases of some hidden units, a column a unit, and lists of them that grow by stages.
#pragma once

#include <vector>

#include "residuum/types.hpp"

namespace residuum {

// Which inputs units see, where that is known: all other weights are zero.
struct SeenInputs {
  std::vector<Index> inputs;  // unit after unit
  std::vector<Index> ends;    // of each unit's part of them; none if nothing is known

  bool known() const { return !ends.empty(); }
  Index begin_of(Index unit) const {
    return unit == 0 ? 0 : ends[static_cast<std::size_t>(unit) - 1];
  }
  Index end_of(Index unit) const { return ends[static_cast<std::size_t>(unit)]; }
};

struct UnitWeights {
  MatrixD weights;  // inputs × units
  VectorD biases;
  SeenInputs seen = {};
};

// The given columns of `units`, in the given order.
UnitWeights pick(const UnitWeights& units, const std::vector<Index>& columns);

// Units gathered stage by stage; joined once, when someone wants them all.
class UnitList {
 public:
  void append(const UnitWeights& units) {
    count_ += units.biases.size();
    pieces_.push_back(units);
  }
  Index count() const { return count_; }
  // All of them; `inputs` is the height of the weights where there are none.
  UnitWeights joined(Index inputs) const;

 private:
  Index count_ = 0;
  std::vector<UnitWeights> pieces_;
};

}  // namespace residuum
