// Units φ(x·w + β) side by side: the arithmetic all three architectures share.
#pragma once

#include "residuum/activation.hpp"
#include "residuum/inputs.hpp"
#include "residuum/profile.hpp"
#include "residuum/unit_weights.hpp"

namespace residuum {

template <class Scalar>
struct Layer {
  Matrix<Scalar> weights;  // inputs × units
  Vector<Scalar> biases;
  Activation activation = Activation::sigmoid;

  Layer() = default;
  Layer(const UnitWeights& units, Activation phi)
      : weights(units.weights.template cast<Scalar>()),
        biases(units.biases.template cast<Scalar>()),
        activation(phi) {}
  // Units that read these inputs, in whatever scale they are loaded.
  Layer(const UnitWeights& units, const Inputs<Scalar>& inputs, Activation phi) : activation(phi) {
    inputs.adapt(units, weights, biases);
  }

  Index units() const { return biases.size(); }

  // out (rows × units, column-major) <- φ(x W + β). Adds squared norms and times unless null.
  void evaluate(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading,
                double* square_norms = nullptr, Profile* profile = nullptr) const;

 private:
  void map(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading) const;
};

}  // namespace residuum
