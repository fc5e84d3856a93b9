// Units φ(x·w + β) side by side: the arithmetic all three architectures share.
#pragma once

#include "residuum/activation.hpp"
#include "residuum/inputs.hpp"
#include "residuum/weight_draws.hpp"

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

  Index units() const { return biases.size(); }

  // out (rows × units, column-major) <- φ(x W + β); adds squared norms unless square_norms is null.
  void evaluate(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading,
                double* square_norms) const;
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
