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
  explicit UnitList(Index inputs) : inputs_(inputs) {}
  void append(const UnitWeights& units) {
    count_ += units.biases.size();
    pieces_.push_back(units);
  }
  Index count() const { return count_; }
  UnitWeights joined() const;

 private:
  Index inputs_;
  Index count_ = 0;
  std::vector<UnitWeights> pieces_;
};

}  // namespace residuum
