// Feature nodes of a broad learning system: gain·φ(x·w + β) + shift, scaled to [-1, 1] over the training rows.
#pragma once

#include "stagenets/unit_weights.hpp"

namespace stagenets {

struct FeatureNodes {
  UnitWeights units;
  VectorD gain, shift;

  Index count() const { return units.count(); }
};

}  // namespace stagenets
