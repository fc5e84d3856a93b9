// Makes Eigen's containers survive a lack of memory. Where Eigen 3.4 gives a container another size, by resize() or by
// assignment, it frees the old block and asks for a new one; if there is none it keeps the old address, which the
// destructor then frees again. Here the container is empty while it asks.
//
// The storages of all containers that the core resizes are listed below, since a member function can only be replaced
// for one type at a time; one that is missing shows in tests/test_allocation_failures.py. This must be seen before
// anything uses these containers, which types.hpp is for.
#pragma once

#include <Eigen/Core>

namespace Eigen {
namespace internal {

template <class Storage>
void replace_block(Storage& storage, Index size, Index rows, Index columns) {
  if (size == storage.rows() * storage.cols()) return;
  Storage().swap(storage);
  Storage(size, rows, columns).swap(storage);
}

}  // namespace internal

#define STAGENETS_MATRIX_STORAGE(Scalar, Order)                               \
  template <>                                                                 \
  inline void DenseStorage<Scalar, Dynamic, Dynamic, Dynamic, Order>::resize( \
      Index size, Index rows, Index columns) {                                \
    internal::replace_block(*this, size, rows, columns);                      \
    m_rows = rows;                                                            \
    m_cols = columns;                                                         \
  }
#define STAGENETS_COLUMN_STORAGE(Scalar)                                                          \
  template <>                                                                                     \
  inline void DenseStorage<Scalar, Dynamic, Dynamic, 1, ColMajor>::resize(Index size, Index rows, \
                                                                          Index columns) {        \
    internal::replace_block(*this, size, rows, columns);                                          \
    m_rows = rows;                                                                                \
  }
#define STAGENETS_ROW_STORAGE(Scalar)                                                             \
  template <>                                                                                     \
  inline void DenseStorage<Scalar, Dynamic, 1, Dynamic, RowMajor>::resize(Index size, Index rows, \
                                                                          Index columns) {        \
    internal::replace_block(*this, size, rows, columns);                                          \
    m_cols = columns;                                                                             \
  }

STAGENETS_MATRIX_STORAGE(double, ColMajor)
STAGENETS_MATRIX_STORAGE(double, RowMajor)
STAGENETS_MATRIX_STORAGE(float, ColMajor)
STAGENETS_MATRIX_STORAGE(float, RowMajor)
STAGENETS_COLUMN_STORAGE(double)
STAGENETS_COLUMN_STORAGE(float)
STAGENETS_ROW_STORAGE(double)
STAGENETS_ROW_STORAGE(float)

#undef STAGENETS_MATRIX_STORAGE
#undef STAGENETS_COLUMN_STORAGE
#undef STAGENETS_ROW_STORAGE

}  // namespace Eigen
