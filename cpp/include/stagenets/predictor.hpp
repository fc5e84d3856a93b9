// A network ready to be evaluated in a feature type: weights and readout are cast, and sparse weights detected, once.
// Rows are processed block by block, so an n × h matrix is never held. Rows of floats may be evaluated in double.
#pragma once

#include "stagenets/layer.hpp"
#include "stagenets/network.hpp"
#include "stagenets/scratch.hpp"

namespace stagenets {

// Whether float would lose what the network has learnt, because it says φ(x·w − µ·w) with a mean µ far off zero, has
// weights that a float cannot hold, or adds small differences to a large offset.
bool needs_double(const Network& network, const MatrixD& readout);

// The number of threads worth starting to evaluate a network on this many rows.
int prediction_threads(const Network& network, Index rows, int threads);

template <class Scalar>
class Predictor {
 public:
  Predictor(const Network& network, const MatrixD& readout);

  Index outputs() const { return readout_.cols(); }
  Index units() const { return units_; }

  // out (rows × outputs, row-major) <- design · readout, for all rows or for a list of them.
  template <class Given>
  void scores(const Inputs<Given>& inputs, Scalar* out, Team& team,
              const std::vector<Index>* rows = nullptr) const;
  // out (rows × units, row-major) <- activations of all units.
  template <class Given>
  void activations(const Inputs<Given>& inputs, Given* out, Team& team) const;

 private:
  struct PreparedLayer {
    Layer<Scalar> layer;
    Vector<Scalar> gain, shift;
  };

  // Rows of the inputs within the bounds, in the type they are evaluated in: written to `place` (rows × inputs) unless
  // that is null or they are sparse, otherwise where they are or in `converted`.
  template <class Given>
  InputBlock<Scalar> load(const Inputs<Given>& inputs, RowRange range, LoadedRows<Given>& loaded,
                          LoadedRows<Scalar>& converted, Scalar* place) const;
  // The layers side by side, starting at column `first` of a block (rows × …).
  void evaluate_layers(const InputBlock<Scalar>& x, Index rows, Matrix<Scalar>& block,
                       Index first) const;

  std::vector<PreparedLayer> layers_;
  bool bounded_;
  Vector<Scalar> lower_, upper_;  // infinite if inputs are unbounded
  VectorD rest_;                  // what zeros are within the bounds; empty if they are zeros
  Index linked_;
  Index units_;
  Matrix<Scalar> readout_;
  VectorD links_base_;  // what the rest values give with the readout of linked inputs
};

}  // namespace stagenets
