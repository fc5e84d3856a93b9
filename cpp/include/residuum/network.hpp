// A fitted network in terms of raw inputs, and its evaluation. With x' the inputs (RVFL, ELM) or the
// feature nodes (BLS), the design of a row is [x' (if linked directly), φ(x' W + β), 1]; scores are
// that times a readout. Rows are taken block by block: n × h is never held.
#pragma once

#include <optional>

#include "residuum/broad_units.hpp"
#include "residuum/layer.hpp"

namespace residuum {

struct Network {
  struct Features {
    FeatureNodes nodes;
    Activation activation = Activation::identity;
  };

  std::optional<Features> features;
  UnitWeights hidden;
  Activation activation = Activation::sigmoid;
  bool direct_links = true;

  Index readout_rows() const {
    const Index linked = features ? features->nodes.gain.size() : hidden.weights.rows();
    return (direct_links ? linked : 0) + hidden.biases.size() + 1;
  }
};

// out (rows × readout.cols(), row-major) <- design · readout.
template <class Scalar>
void evaluate_network(const Network& network, const Inputs<Scalar>& inputs, const MatrixD& readout,
                      Scalar* out, Team& team);

// out (rows × units, row-major) <- activations of the feature nodes, if any, and the hidden units.
template <class Scalar>
void hidden_activations(const Network& network, const Inputs<Scalar>& inputs, Scalar* out,
                        Team& team);

}  // namespace residuum
