// What a network looks at: how much its scores change when an input is exchanged between rows while all others stay as
// they are. ½ mean (s(x) − s(x with x_k of another row))² is the part of the variance of a score that input k has to do
// with, alone or with others (Jansen's estimate of Sobol's total effect). Unlike squared gradients it is not misled by
// steep units and by inputs of few values, which no row lies between.
#pragma once

#include <vector>

#include "stagenets/input_view.hpp"
#include "stagenets/network.hpp"
#include "stagenets/team.hpp"

namespace stagenets {

// Total effects, blocks × outputs, over these rows. `ends` says where each block of inputs ends: those of a block are
// exchanged together. Scores are taken in these units, one per output: the effects are squares, and overflow sooner.
template <class Scalar>
MatrixD input_effects(const Network& network, const MatrixD& readout, const VectorD& units,
                      const InputView<Scalar>& rows, const std::vector<Index>& ends, int threads,
                      const Team::Poll& poll);

}  // namespace stagenets
