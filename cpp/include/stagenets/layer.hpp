// Units φ(x·w + β), or φ of the least of several such terms, side by side: the arithmetic shared by all three
// architectures.
#pragma once

#include "stagenets/activation.hpp"
#include "stagenets/inputs.hpp"
#include "stagenets/profile.hpp"
#include "stagenets/sparse_weights.hpp"
#include "stagenets/unit_weights.hpp"

namespace stagenets {

template <class Scalar>
class Layer {
 public:
  explicit Layer(Activation activation = Activation::sigmoid) : activation_(activation) {}
  // Units that read any inputs as they are; `rest` has the values of sparse ones that are not stored, empty if zero.
  Layer(const UnitWeights& units, Activation activation, const VectorD& rest = {});
  // Units that read these inputs, in the scale in which they are loaded.
  Layer(const UnitWeights& units, const Inputs<Scalar>& inputs, Activation activation)
      : activation_(activation) {
    assign(units, inputs);
  }

  // Replaces the units.
  void assign(const UnitWeights& units, const Inputs<Scalar>& inputs);

  Index units() const { return biases_.size(); }

  // out (rows × units, column-major) <- φ(x W + β). Adds squared norms and times unless null.
  void evaluate(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading,
                double* square_norms = nullptr, Profile* profile = nullptr) const;

 private:
  void map_dense(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading) const;
  void multiply(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading) const;
  void multiply_handful(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading) const;

  SparseWeights<Scalar> sparse_weights_;  // of the units that see few inputs
  std::vector<Index> dense_;              // the others
  Matrix<Scalar> weights_;                // inputs × these others
  VectorD base_;           // what the rest values of sparse inputs give with these weights, if any
  Vector<Scalar> biases_;  // of all units, that of the first term if there are several
  Activation activation_;
};

}  // namespace stagenets
