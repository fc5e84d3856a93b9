// How the n rows of a problem are cut up. Blocks are small enough for a core's cache; lanes are runs
// of consecutive blocks and the unit of work that threads claim. Both depend on the problem's shape
// alone, never on the number of threads, and sums are formed lane by lane in a fixed order: that is
// why every fit has the same bits whatever the thread count.
#pragma once

#include <algorithm>

#include "residuum/team.hpp"
#include "residuum/types.hpp"

namespace residuum {

// Some rows: consecutive ones, or entries [first, first + count) of a list of row numbers.
struct RowRange {
  Index first;
  Index count;
  const Index* list = nullptr;

  Index operator[](Index i) const { return list ? list[first + i] : first + i; }
};

class RowBlocks {
 public:
  RowBlocks(Index rows, Index block_rows)
      : rows_(rows),
        block_rows_(std::max<Index>(1, std::min(block_rows, rows))),
        blocks_((rows + block_rows_ - 1) / block_rows_),
        lanes_(std::min<Index>(blocks_, kMaxLanes)) {}

  // Cuts `rows` rows so that what is made of a block, `width` scalars a row, fills about half of a 512 KiB
  // cache: a fixed size, for bits must not depend on the machine's cache either. There are some blocks for
  // every thread even in a small problem, but few when `inputs` is large, since the BLAS repacks the
  // weights for each.
  static RowBlocks for_width(Index rows, Index inputs, Index width) {
    const Index in_cache = kCacheScalars / std::max<Index>(1, width);
    const Index blocks_wanted = inputs > 256 ? 4 : 16;
    const Index most = std::clamp<Index>(rows / blocks_wanted, 96, kMostRows);
    const Index blocks = std::max<Index>(1, rows / std::clamp<Index>(in_cache, 96, most));
    return RowBlocks(rows, ((rows + blocks - 1) / blocks + 7) / 8 * 8);
  }

  // For a fit, which sweeps over Q again and again: as large as will do for the threads, since a product with few
  // columns likes long ones.
  static RowBlocks for_fit(Index rows, Index inputs) { return for_width(rows, inputs, 1); }

  // The same on one thread.
  static RowBlocks for_one_thread(Index rows) {
    const Index blocks = (rows + kMostRows - 1) / kMostRows;
    return RowBlocks(rows, ((rows + blocks - 1) / blocks + 7) / 8 * 8);
  }

  // Rows of a block that are worked on at a time when `width` scalars are made of each: equal shares of it
  // that fill about half of that cache.
  Index piece_rows(Index width) const {
    const Index in_cache = std::max<Index>(96, kCacheScalars / std::max<Index>(1, width));
    const Index pieces = (block_rows_ + in_cache - 1) / in_cache;
    return ((block_rows_ + pieces - 1) / pieces + 7) / 8 * 8;
  }

  // The same blocks in fewer lanes, where each of them has `size` doubles to sum: some megabytes are enough.
  RowBlocks for_sums(Index size) const {
    RowBlocks fewer = *this;
    fewer.lanes_ =
        std::min(lanes_, std::max<Index>(16, (Index{1} << 18) / std::max<Index>(1, size)));
    return fewer;
  }

  Index rows() const { return rows_; }
  Index block_rows() const { return block_rows_; }
  Index blocks() const { return blocks_; }
  Index lanes() const { return lanes_; }
  RowRange block(Index b) const {
    const Index first = b * block_rows_;
    return {first, std::min(block_rows_, rows_ - first), nullptr};
  }

  // body(lane, block, worker) for every block; the blocks of a lane come one after another, in order.
  template <class Body>
  void sweep(Team& team, Body&& body) const {
    team.for_each(lanes_, [&](Index lane, int worker) {
      for (Index b = lane * blocks_ / lanes_; b < (lane + 1) * blocks_ / lanes_; ++b) {
        team.poll(worker);
        body(lane, b, worker);
      }
    });
  }

 private:
  static constexpr Index kMaxLanes = 64;
  static constexpr Index kMostRows = 512;
  static constexpr Index kCacheScalars = 32 * 1024;

  Index rows_, block_rows_, blocks_, lanes_;
};

// One accumulator of `size` doubles a lane, summed in lane order.
class LaneSums {
 public:
  LaneSums(Index lanes, Index size) : sums_(MatrixD::Zero(size, lanes)) {}
  double* lane(Index l) { return sums_.col(l).data(); }
  VectorD total() const {
    VectorD sum = VectorD::Zero(sums_.rows());
    for (Index l = 0; l < sums_.cols(); ++l) sum += sums_.col(l);
    return sum;
  }

 private:
  MatrixD sums_;
};

}  // namespace residuum
