// A view of the caller's rows in memory: rows or columns are contiguous, and nothing is owned.
#pragma once

#include "stagenets/index.hpp"

namespace stagenets {

template <class Scalar>
struct InputView {
  const Scalar* data;
  Index rows, columns;
  bool row_major;

  Scalar operator()(Index row, Index column) const {
    return row_major ? data[row * columns + column] : data[column * rows + row];
  }
};

}  // namespace stagenets
