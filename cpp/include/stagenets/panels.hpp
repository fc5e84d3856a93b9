// A tall matrix of rows × columns that grows by columns and is processed one block of rows at a time.
// Each block of rows is column-major and contiguous, so a sweep over the first d columns of a block
// reads memory sequentially. All memory is reserved at once: a fit that is too large fails with
// std::bad_alloc before any work is done.
#pragma once

#include <limits>
#include <memory>
#include <new>

#include "stagenets/row_blocks.hpp"

namespace stagenets {

template <class Scalar>
class Panels {
 public:
  Panels(const RowBlocks& blocks, Index columns)
      : rows_(blocks.rows()),
        leading_(blocks.block_rows()),
        stride_(leading_ * columns),
        values_(allocate(blocks.blocks(), stride_)) {}

  // Columns [first, first + count) of a block of rows.
  MatrixMap<Scalar> block(Index b, Index first, Index count) {
    return matrix_map(column(b, first), rows_of(b), count, leading_);
  }
  ConstMatrixMap<Scalar> block(Index b, Index first, Index count) const {
    return matrix_map(column(b, first), rows_of(b), count, leading_);
  }

  Scalar* column(Index block, Index column) {
    return values_.get() + block * stride_ + column * leading_;
  }
  const Scalar* column(Index block, Index column) const {
    return values_.get() + block * stride_ + column * leading_;
  }

 private:
  Index rows_of(Index block) const { return std::min(leading_, rows_ - block * leading_); }

  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(Scalar* values) const { ::operator delete(values, kAlignment); }
  };
  static std::unique_ptr<Scalar, Free> allocate(Index blocks, Index stride) {
    const double bytes = static_cast<double>(blocks) * static_cast<double>(stride) * sizeof(Scalar);
    if (bytes > static_cast<double>(std::numeric_limits<Index>::max() / 2)) throw std::bad_alloc();
    const std::size_t size = static_cast<std::size_t>(blocks * stride) * sizeof(Scalar);
    return std::unique_ptr<Scalar, Free>(
        static_cast<Scalar*>(::operator new(std::max<std::size_t>(size, 1), kAlignment)));
  }

  Index rows_, leading_, stride_;
  std::unique_ptr<Scalar, Free> values_;
};

}  // namespace stagenets
