// The range of every input over the training rows. Nothing is known about the effect of values outside it, and what a
// linear readout makes of a wild one has no bounds: so predictions take such a value for the nearest one seen.
#pragma once

#include "stagenets/types.hpp"

namespace stagenets {

struct InputBounds {
  VectorD lower, upper;  // one of each per input; both empty if inputs may be anything

  bool unbounded() const { return lower.size() == 0; }
};

// The value in [lower, upper] next to the given one. NaN stays NaN.
template <class Scalar>
Scalar clamped(Scalar value, Scalar lower, Scalar upper) {
  const Scalar raised = lower > value ? lower : value;
  return upper < raised ? upper : raised;
}

}  // namespace stagenets
