// How the n rows of a problem are divided. Blocks are small enough for a core's cache; lanes are runs of
// consecutive blocks and the unit of work that threads claim. Both depend only on the shape of the
// problem, never on the number of threads, and sums are formed lane by lane in a fixed order: that is why
// a fit has the same bits for any thread count. Sums over rows are also completed here, and nowhere else:
// if there is a Reduction, it adds the rows held by other processes.
#pragma once

#include <algorithm>
#include <limits>

#include "stagenets/reduction.hpp"
#include "stagenets/team.hpp"
#include "stagenets/types.hpp"

namespace stagenets {

// Some rows: consecutive ones, or entries [first, first + count) of a list of row numbers.
struct RowRange {
  Index first;
  Index count;
  const Index* list = nullptr;

  Index operator[](Index i) const { return list ? list[first + i] : first + i; }
};

// Sums, minima and maxima over rows: of one lane while they are formed, and of all rows.
struct LaneTotals {
  double* sums;
  double* least;
  double* greatest;
};
struct RowTotals {
  VectorD sums, least, greatest;
};

// The numbers of some local rows when those of all processes are counted together.
struct RowNumbers {
  Index first, count, all;

  bool holds(Index number) const { return number >= first && number < first + count; }
};

class RowBlocks {
 public:
  RowBlocks(Index rows, Index block_rows)
      : rows_(rows),
        block_rows_(std::max<Index>(1, std::min(block_rows, rows))),
        blocks_((rows + block_rows_ - 1) / block_rows_),
        lanes_(std::min<Index>(blocks_, kMaxLanes)) {}

  // Divides `rows` rows so that the results for a block, `width` scalars per row, fill about half of a 512 KiB
  // cache: a fixed size, since the bits must not depend on the machine's cache either. Even a small problem has
  // several blocks for the threads to share, but few when `inputs` is large, since the BLAS repacks the weights
  // for each.
  static RowBlocks for_width(Index rows, Index inputs, Index width) {
    const Index in_cache = kCacheScalars / std::max<Index>(1, width);
    const Index blocks_wanted = inputs > 256 ? 4 : 16;
    const Index most = std::clamp<Index>(rows / blocks_wanted, 96, kMostRows);
    const Index blocks = std::max<Index>(1, rows / std::clamp<Index>(in_cache, 96, most));
    return RowBlocks(rows, ((rows + blocks - 1) / blocks + 7) / 8 * 8);
  }

  // For a fit, which sweeps over Q repeatedly: blocks as large as the threads allow, since products with few columns
  // are faster on long ones.
  static RowBlocks for_fit(Index rows, Index inputs) { return for_width(rows, inputs, 1); }

  // The same for one thread.
  static RowBlocks for_one_thread(Index rows) {
    const Index blocks = (rows + kMostRows - 1) / kMostRows;
    return RowBlocks(rows, ((rows + blocks - 1) / blocks + 7) / 8 * 8);
  }

  // Rows of a block to process at a time when each gives `width` scalars: equal shares of the block that fill about
  // half of that cache.
  Index piece_rows(Index width) const {
    const Index in_cache = std::max<Index>(96, kCacheScalars / std::max<Index>(1, width));
    const Index pieces = (block_rows_ + in_cache - 1) / in_cache;
    return ((block_rows_ + pieces - 1) / pieces + 7) / 8 * 8;
  }

  // The same blocks in fewer lanes, for sums of `size` doubles per lane: limits them to a few megabytes in total.
  RowBlocks for_sums(Index size) const {
    RowBlocks fewer = *this;
    fewer.lanes_ =
        std::min(lanes_, std::max<Index>(16, (Index{1} << 18) / std::max<Index>(1, size)));
    return fewer;
  }

  // The same blocks when the rows are only a part of all rows: results over them are completed by `reduction`,
  // which must outlive them. Null means that all rows are local.
  RowBlocks completed_by(const Reduction* reduction) const {
    RowBlocks blocks = *this;
    blocks.reduction_ = reduction;
    return blocks;
  }
  const Reduction* reduction() const { return reduction_; }

  // The number of local rows; other processes may hold more.
  Index rows() const { return rows_; }
  Index block_rows() const { return block_rows_; }
  Index blocks() const { return blocks_; }
  Index lanes() const { return lanes_; }
  RowRange block(Index b) const {
    const Index first = b * block_rows_;
    return {first, std::min(block_rows_, rows_ - first), nullptr};
  }

  // Calls body(lane, block, worker) for every block; the blocks of a lane are processed one after another, in order.
  template <class Body>
  void sweep(Team& team, Body&& body) const {
    team.for_each(lanes_, [&](Index lane, int worker) {
      for (Index b = lane * blocks_ / lanes_; b < (lane + 1) * blocks_ / lanes_; ++b) {
        team.poll(worker);
        body(lane, b, worker);
      }
    });
  }

  // Totals over all rows of `sums` sums and of `extremes` minima and maxima; body(totals, block, worker) adds
  // a block to the totals of its lane.
  template <class Body>
  RowTotals totals(Team& team, Index sums, Index extremes, Body&& body) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    MatrixD lane_sums = MatrixD::Zero(sums, lanes_);
    MatrixD least = MatrixD::Constant(extremes, lanes_, kInfinity), greatest = -least;
    sweep(team, [&](Index lane, Index b, int worker) {
      body(
          LaneTotals{lane_sums.col(lane).data(), least.col(lane).data(), greatest.col(lane).data()},
          b, worker);
    });
    RowTotals all{VectorD::Zero(sums), VectorD::Constant(extremes, kInfinity),
                  VectorD::Constant(extremes, -kInfinity)};
    for (Index lane = 0; lane < lanes_; ++lane) {
      all.sums += lane_sums.col(lane);
      all.least = all.least.cwiseMin(least.col(lane));
      all.greatest = all.greatest.cwiseMax(greatest.col(lane));
    }
    complete(all.sums.data(), sums);
    complete_range(all.least, all.greatest);
    return all;
  }

  // `size` sums over all rows; body(sums, block, worker) adds a block to the sums of its lane.
  template <class Body>
  VectorD sum(Team& team, Index size, Body&& body) const {
    return totals(team, size, 0,
                  [&](const LaneTotals& lane, Index b, int worker) { body(lane.sums, b, worker); })
        .sums;
  }

  // Turns sums over the local rows that were formed in another way into sums over all rows.
  void complete(double* sums, Index count) const {
    if (reduction_ && count > 0) reduction_->add(sums, count);
  }
  double complete(double sum) const {
    complete(&sum, 1);
    return sum;
  }
  // The same for minima and maxima.
  void complete_range(VectorD& least, VectorD& greatest) const {
    if (!reduction_ || least.size() == 0) return;
    reduction_->least(least.data(), least.size());
    reduction_->greatest(greatest.data(), greatest.size());
  }
  // Values from some of the local rows become those from all such rows, in order.
  VectorD gather(const VectorD& values) const {
    return reduction_ ? reduction_->gather(values) : values;
  }
  // Numbers `count` local rows, which may be any selection of them.
  RowNumbers number(Index count) const {
    if (!reduction_) return {0, count, count};
    const VectorD counts = reduction_->gather(VectorD::Constant(1, static_cast<double>(count)));
    return {static_cast<Index>(counts.head(reduction_->process()).sum()), count,
            static_cast<Index>(counts.sum())};
  }

 private:
  static constexpr Index kMaxLanes = 64;
  static constexpr Index kMostRows = 512;
  static constexpr Index kCacheScalars = 32 * 1024;

  Index rows_, block_rows_, blocks_, lanes_;
  const Reduction* reduction_ = nullptr;
};

}  // namespace stagenets
