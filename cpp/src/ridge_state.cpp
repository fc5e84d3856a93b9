#include <algorithm>

#include "stagenets/factor.hpp"
#include "stagenets/kernels.hpp"

namespace stagenets {

LeftOutErrors::LeftOutErrors(const MatrixD& unweighted_targets, const RowWeights& weights,
                             const RowBlocks& blocks)
    : targets(unweighted_targets),
      roots(weights.root_data()),
      left_out(weights.left_out_data()),
      wanted(targets.rows()),
      total_weight(
          blocks.complete(roots ? Eigen::Map<const VectorD>(roots, targets.rows()).squaredNorm()
                                : static_cast<double>(targets.rows()))) {
  for (Index i = 0; i < targets.rows(); ++i) {
    Index column;
    targets.row(i).maxCoeff(&column);
    wanted[i] = static_cast<double>(column);
  }
}

template <class Scalar>
void RidgeState<Scalar>::measure_block(Index block, const MatrixMap<Scalar>& fresh, double* sums) {
  const RowRange range = blocks.block(block);
  const MatrixMap<Scalar> errors = residual.block(block, 0, outputs());
  const auto tally_part = [&](Index first, Index count, bool with_left_out) {
    if (count == 0) return;
    const Index row = range.first + first;
    RowTally<Scalar> tally;
    tally.rows = count;
    tally.outputs = outputs();
    tally.residual = errors.data() + first;
    tally.ld_residual = errors.outerStride();
    if (leverage.size() > 0) {
      tally.leverage = leverage.data() + row;
      tally.fresh = fresh.data() + first;
      tally.ld_fresh = fresh.outerStride();
      tally.fresh_columns = fresh.cols();
    }
    if (with_left_out) {
      tally.targets = left_out->targets.data() + row;
      tally.ld_targets = left_out->targets.rows();
      tally.wanted = left_out->wanted.data() + row;
      tally.roots = left_out->roots ? left_out->roots + row : nullptr;
      tally.left_out = left_out->left_out ? left_out->left_out + row : nullptr;
    }
    kernels<Scalar>().tally_rows(tally, sums);
  };
  // Samples can be left out, pairs of a graph, which come last, cannot.
  const Index samples =
      left_out ? std::clamp<Index>(left_out->targets.rows() - range.first, 0, range.count) : 0;
  tally_part(0, samples, true);
  tally_part(samples, range.count - samples, false);
}

template <class Scalar>
void RidgeState<Scalar>::measured(const VectorD& sums) {
  residual_energy = sums[0];
  if (!left_out) return;
  left_out->squared_error = sums[1] / left_out->total_weight;
  left_out->accuracy = sums[2] / left_out->total_weight;
}

template <class Scalar>
CalibrationState RidgeState<Scalar>::of_rows(const std::vector<Index>& rows) const {
  const Index block_rows = blocks.block_rows();
  CalibrationState some{MatrixD(rows.size(), outputs()), VectorD(rows.size())};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Index block = rows[i] / block_rows, row = rows[i] % block_rows;
    for (Index c = 0; c < outputs(); ++c) {
      some.residual(static_cast<Index>(i), c) = residual.column(block, c)[row];
    }
    some.leverage[static_cast<Index>(i)] = leverage[rows[i]];
  }
  return some;
}

template struct RidgeState<float>;
template struct RidgeState<double>;

}  // namespace stagenets
