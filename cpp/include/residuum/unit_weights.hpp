// Weights and biases of some hidden units, a column a unit, and lists of them that grow by stages.
#pragma once

#include "residuum/types.hpp"

namespace residuum {

struct UnitWeights {
  MatrixD weights;  // inputs × units
  VectorD biases;
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
