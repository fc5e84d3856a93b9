// A worker's buffers, grown on demand and reused from block to block.
#pragma once

#include "stagenets/input_block.hpp"
#include "stagenets/profile.hpp"
#include "stagenets/types.hpp"

namespace stagenets {

template <class Scalar>
struct Scratch {
  LoadedRows<Scalar> inputs;
  LoadedRows<float> rough_inputs;  // this and the next two in a float64 fit
  Matrix<Scalar> features, pool, residual, columns;
  Matrix<float> rough_pool, rough_residual;
  MatrixD wide;
  Profile profile;
};

}  // namespace stagenets
