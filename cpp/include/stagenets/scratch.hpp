// A worker's buffers, grown on demand and reused from block to block.
#pragma once

#include "stagenets/input_block.hpp"
#include "stagenets/profile.hpp"
#include "stagenets/types.hpp"

namespace stagenets {

template <class Scalar>
struct Scratch {
  LoadedRows<Scalar> inputs;
  Matrix<Scalar> features, pool, residual;
  MatrixD wide;
  Profile profile;
};

}  // namespace stagenets
