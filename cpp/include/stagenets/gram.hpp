// AᵀA for a tall A that is never held as a whole: rows are produced a few megabytes at a time and
// multiplied tile by tile of the result, each tile by one thread in the order of the rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "stagenets/blas.hpp"
#include "stagenets/row_blocks.hpp"
#include "stagenets/tiles.hpp"

namespace stagenets {

// Refuses data whose squares do not sum up to a finite number.
inline void check_squares(double sum) {
  if (std::isfinite(sum)) return;
  throw std::domain_error(
      "squared inputs or targets overflow; scale them (standardize=True scales the inputs)");
}

// fill(range, out, worker) writes `columns` columns of A for those rows, in double.
// Returns AᵀA over all rows; only the lower triangle is filled.
template <class Fill>
MatrixD gram(const RowBlocks& blocks, Index columns, Team& team, Fill&& fill) {
  constexpr Index kChunkDoubles = Index{1} << 21;
  constexpr Index kTile = 128;
  MatrixD result = MatrixD::Zero(columns, columns);
  if (columns == 0) return result;
  const Index wanted = kChunkDoubles / (columns * blocks.block_rows());
  const Index blocks_a_chunk = std::clamp<Index>(wanted, 4, std::max<Index>(4, blocks.blocks()));
  const Index leading = std::min(blocks_a_chunk, blocks.blocks()) * blocks.block_rows();
  MatrixD chunk(leading, columns);
  const Index tiles = (columns + kTile - 1) / kTile;

  for (Index b0 = 0; b0 < blocks.blocks(); b0 += blocks_a_chunk) {
    const Index b1 = std::min(b0 + blocks_a_chunk, blocks.blocks());
    const Index first_row = blocks.block(b0).first;
    const Index rows = blocks.block(b1 - 1).first + blocks.block(b1 - 1).count - first_row;
    team.for_each(b1 - b0, [&](Index b, int worker) {
      team.poll(worker);
      const RowRange range = blocks.block(b0 + b);
      double* out = chunk.data() + (range.first - first_row);
      fill(range, matrix_map(out, range.count, columns, leading), worker);
    });
    for_each_lower_tile(team, tiles, [&](Index i, Index j) {
      const Index height = std::min(kTile, columns - i * kTile);
      const Index width = std::min(kTile, columns - j * kTile);
      const auto left = chunk.block(0, i * kTile, rows, height);
      const auto right = chunk.block(0, j * kTile, rows, width);
      auto out = result.block(i * kTile, j * kTile, height, width);
      if (i == j) {
        blas::syrk_transposed(right, 1, out);
      } else {
        blas::gemm(blas::Op::transpose, blas::Op::none, 1, left, right, 1, out);
      }
    });
  }
  blocks.complete(result.data(), result.size());
  check_squares(result.diagonal().sum());
  return result;
}

}  // namespace stagenets
