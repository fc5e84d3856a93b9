// A tall matrix of rows × columns that grows by columns and is swept block of rows by block of rows.
// Each block of rows is column-major and contiguous, so a sweep over the first d columns of a block
// is one straight run through memory. All of it is reserved at once: a fit that cannot fit fails
// before any work, with std::bad_alloc.
#pragma once

#include <limits>
#include <memory>
#include <new>

#include "residuum/row_blocks.hpp"

namespace residuum {

template <class Scalar>
class Panels {
 public:
  Panels(const RowBlocks& blocks, Index columns)
      : leading_(blocks.block_rows()),
        stride_(leading_ * columns),
        values_(allocate(blocks.blocks(), stride_)) {}

  Index leading() const { return leading_; }
  Scalar* column(Index block, Index column) {
    return values_.get() + block * stride_ + column * leading_;
  }
  const Scalar* column(Index block, Index column) const {
    return values_.get() + block * stride_ + column * leading_;
  }

 private:
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

  Index leading_, stride_;
  std::unique_ptr<Scalar, Free> values_;
};

}  // namespace residuum
