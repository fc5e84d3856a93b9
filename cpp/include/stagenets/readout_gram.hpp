// The ridge problem of a network whose units are fixed, by its normal equations. All that the rows contribute is the Gram
// matrix of [A T], to which further rows can be added at any time; readout and posterior follow from it.
#pragma once

#include "stagenets/fitted_network.hpp"
#include "stagenets/network_fit.hpp"

namespace stagenets {

// The matrix that maps the columns of a network's design, [x?, units, 1], to those that the penalty of its fit applies
// to: A = [1?, U? (standardised as for these rows), units] = [x?, units, 1] · map. root_weights may be
// null.
template <class Scalar>
MatrixD design_map(const InputView<Scalar>& inputs, const double* root_weights,
                   const NetworkSettings& settings, const Network& network, int threads,
                   const Team::Poll& poll);

// The lower triangle of the Gram matrix of [A T] over these rows.
template <class Scalar>
MatrixD readout_gram(const Network& network, const MatrixD& map, const InputView<Scalar>& inputs,
                     const MatrixD& targets, const double* root_weights, int threads,
                     const Team::Poll& poll);

// min ‖AΩ − T‖² + λ‖Ω‖², in terms of the network's design: the readout, and C with C Cᵀ = (AᵀA + λI)⁻¹.
struct GramSolution {
  MatrixD readout;
  MatrixD root;
};
GramSolution solve_gram(const MatrixD& gram, const MatrixD& map, double alpha, int threads,
                        const Team::Poll& poll);

// aᵀ (AᵀA + λI)⁻¹ a for each row, from that root.
template <class Scalar>
VectorD leverages(const Network& network, const MatrixD& root, const InputView<Scalar>& inputs,
                  int threads, const Team::Poll& poll);

}  // namespace stagenets
