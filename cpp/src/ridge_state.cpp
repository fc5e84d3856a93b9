#include "residuum/factor.hpp"
#include "residuum/kernels.hpp"

namespace residuum {

LeftOutErrors::LeftOutErrors(const MatrixD& unweighted_targets, const double* root_weights)
    : targets(unweighted_targets),
      roots(root_weights),
      wanted(targets.rows()),
      total_weight(roots ? Eigen::Map<const VectorD>(roots, targets.rows()).squaredNorm()
                         : static_cast<double>(targets.rows())) {
  for (Index i = 0; i < targets.rows(); ++i) {
    Index column;
    targets.row(i).maxCoeff(&column);
    wanted[i] = static_cast<double>(column);
  }
}

template <class Scalar>
void RidgeState<Scalar>::measure_block(Index block, const Scalar* fresh, Index ld_fresh,
                                       Index fresh_columns, double* sums) {
  const RowRange range = blocks.block(block);
  RowTally<Scalar> tally;
  tally.rows = range.count;
  tally.outputs = outputs();
  tally.residual = residual.column(block, 0);
  tally.ld_residual = residual.leading();
  if (leverage.size() > 0) {
    tally.leverage = leverage.data() + range.first;
    tally.fresh = fresh;
    tally.ld_fresh = ld_fresh;
    tally.fresh_columns = fresh_columns;
  }
  if (left_out) {
    tally.targets = left_out->targets.data() + range.first;
    tally.ld_targets = left_out->targets.rows();
    tally.wanted = left_out->wanted.data() + range.first;
    tally.roots = left_out->roots ? left_out->roots + range.first : nullptr;
  }
  kernels<Scalar>().tally_rows(tally, sums);
}

template <class Scalar>
void RidgeState<Scalar>::measured(const VectorD& sums) {
  residual_energy = sums[0];
  if (!left_out) return;
  left_out->squared_error = sums[1] / left_out->total_weight;
  left_out->accuracy = sums[2] / left_out->total_weight;
}

template struct RidgeState<float>;
template struct RidgeState<double>;

}  // namespace residuum
