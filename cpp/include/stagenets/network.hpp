// A fitted network in terms of raw inputs: layers of units, each reading the one before it. Every layer feeds the
// readout, as do the inputs if they are linked directly: the design of a row is [x (if linked), layers…, 1], where x is
// clamped to the bounds of the inputs if there are any.
#pragma once

#include <vector>

#include "stagenets/activation.hpp"
#include "stagenets/input_bounds.hpp"
#include "stagenets/unit_weights.hpp"

namespace stagenets {

// Units φ(x W + β), or gain·φ(x W + β) + shift where gain and shift are not empty; units of several terms are φ of the
// least of their columns of x W + β.
struct NetworkLayer {
  UnitWeights units;
  Activation activation = Activation::sigmoid;
  VectorD gain, shift;

  Index inputs() const { return units.weights.rows(); }
  Index outputs() const { return units.count(); }
};

struct Network {
  std::vector<NetworkLayer> layers;
  bool direct_links = false;
  InputBounds bounds = {};

  Index inputs() const { return layers.front().inputs(); }
  Index units() const {
    Index count = 0;
    for (const NetworkLayer& layer : layers) count += layer.outputs();
    return count;
  }
  Index linked() const { return direct_links ? inputs() : 0; }
  Index readout_rows() const { return linked() + units() + 1; }
};

}  // namespace stagenets
