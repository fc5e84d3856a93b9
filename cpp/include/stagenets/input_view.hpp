// A view of the caller's rows in memory, of which nothing is owned: rows or columns are contiguous, or only the entries
// that are not zero are there.
#pragma once

#include <algorithm>
#include <cstdint>

#include "stagenets/index.hpp"

namespace stagenets {

// Rows of which only some entries are stored, all others being zero (compressed sparse rows): those of row i are at
// [starts[i], starts[i + 1]), by rising column.
template <class Scalar>
struct SparseRows {
  const Scalar* values = nullptr;
  const std::int32_t* columns = nullptr;
  const std::int64_t* starts = nullptr;

  // The place of the first entry of a row that is not left of a column.
  Index find(Index row, Index column) const {
    const std::int32_t *begin = columns + starts[row], *end = columns + starts[row + 1];
    return std::lower_bound(begin, end, column) - columns;
  }
};

template <class Scalar>
struct InputView {
  const Scalar* data;  // null if the rows are sparse
  Index rows, columns;
  bool row_major;
  SparseRows<Scalar> sparse = {};

  bool is_sparse() const { return sparse.starts != nullptr; }
  // The number of values stored.
  Index stored() const {
    return is_sparse() ? static_cast<Index>(sparse.starts[rows]) : rows * columns;
  }

  Scalar operator()(Index row, Index column) const {
    if (is_sparse()) {
      const Index at = sparse.find(row, column);
      const bool found = at < sparse.starts[row + 1] && sparse.columns[at] == column;
      return found ? sparse.values[at] : Scalar{0};
    }
    return row_major ? data[row * columns + column] : data[column * rows + row];
  }
};

}  // namespace stagenets
