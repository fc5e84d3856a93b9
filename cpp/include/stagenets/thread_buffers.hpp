// Buffers of a thread, reused from call to call where no Scratch is at hand. They are one object, so that a helper can make
// sure of it when it starts: where there is no memory to register its destructor, the C library ends the process.
#pragma once

#include <type_traits>
#include <vector>

#include "stagenets/types.hpp"

namespace stagenets {

template <class Scalar>
struct ThreadBuffers {
  std::vector<Scalar> side_by_side, gathered, values;
  std::vector<const Scalar*> seen;
  Matrix<Scalar> product;
  MatrixD rows;
};

struct AllThreadBuffers {
  ThreadBuffers<float> single_precision;
  ThreadBuffers<double> double_precision;
};

inline AllThreadBuffers& all_thread_buffers() {
  thread_local AllThreadBuffers buffers;
  return buffers;
}

template <class Scalar>
ThreadBuffers<Scalar>& thread_buffers() {
  if constexpr (std::is_same_v<Scalar, float>) {
    return all_thread_buffers().single_precision;
  } else {
    return all_thread_buffers().double_precision;
  }
}

}  // namespace stagenets
