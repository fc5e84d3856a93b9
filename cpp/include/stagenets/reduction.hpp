// Reductions over rows held by several processes. Each process computes its part from its own rows, and a
// Reduction combines the parts. Everything that is summed or compared over rows passes through RowBlocks
// (row_blocks.hpp) and from there, once it is complete for the local rows, through here.
#pragma once

#include "stagenets/types.hpp"

namespace stagenets {

// All processes make the same calls in the same order with the same counts (of gather(), each has a count of its own), and
// all of them must get the same bits back, as their next decisions depend on these numbers. Called only on the fit's
// calling thread.
class Reduction {
 public:
  virtual ~Reduction() = default;

  // Each value becomes its sum, minimum or maximum over all processes.
  virtual void add(double* values, Index count) const = 0;
  virtual void least(double* values, Index count) const = 0;
  virtual void greatest(double* values, Index count) const = 0;

  // The values of all processes one after another, in the order of their rows; and the place of this process in it.
  virtual VectorD gather(const VectorD& values) const = 0;
  virtual Index process() const = 0;
};

}  // namespace stagenets
