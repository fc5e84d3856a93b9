// A worker's buffers, grown on demand and reused from block to block.
#pragma once

#include "stagenets/profile.hpp"
#include "stagenets/types.hpp"

namespace stagenets {

template <class Scalar>
struct Scratch {
  Matrix<Scalar> inputs, features, pool, residual, columns;
  Matrix<float> rough_inputs, rough_pool, rough_residual;  // in a float64 fit
  MatrixD wide;
  Profile profile;
};

}  // namespace stagenets
