// Units φ(x·w + β) side by side: the arithmetic all three architectures share.
#pragma once

#include "residuum/activation.hpp"
#include "residuum/inputs.hpp"
#include "residuum/profile.hpp"
#include "residuum/sparse_weights.hpp"
#include "residuum/unit_weights.hpp"

namespace residuum {

template <class Scalar>
class Layer {
 public:
  explicit Layer(Activation activation = Activation::sigmoid) : activation_(activation) {}
  Layer(const UnitWeights& units, Activation activation);
  // Units that read these inputs, in whatever scale they are loaded.
  Layer(const UnitWeights& units, const Inputs<Scalar>& inputs, Activation activation)
      : activation_(activation) {
    assign(units, inputs);
  }

  // Other units in place of those there are.
  void assign(const UnitWeights& units, const Inputs<Scalar>& inputs);

  Index units() const { return biases_.size(); }

  // out (rows × units, column-major) <- φ(x W + β). Adds squared norms and times unless null.
  void evaluate(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading,
                double* square_norms = nullptr, Profile* profile = nullptr) const;

 private:
  void map(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading) const;
  void map_handful(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading) const;

  Matrix<Scalar> weights_;  // inputs × units; not kept up where sparse_weights_ will do
  Vector<Scalar> biases_;
  Activation activation_;
  SparseWeights<Scalar> sparse_weights_;  // in use if `sparse_`
  bool sparse_ = false;
};

}  // namespace residuum
