#include "residuum/scores.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "residuum/products.hpp"

namespace residuum {

template <class Scalar>
VectorD score_pool(Design<Scalar>& design, const RidgeState<Scalar>& state, Team& team) {
  const RowBlocks& blocks = state.blocks;
  const Index pool = design.source().count(Units::pool), outputs = state.outputs();
  LaneSums sums(blocks.lanes(), pool * (outputs + 1));
  blocks.sweep(team, [&](Index lane, Index b, int worker) {
    const RowRange range = blocks.block(b);
    Matrix<Scalar>& activations = design.scratch(worker).pool;
    if (activations.rows() < range.count || activations.cols() < pool) {
      activations.resize(blocks.block_rows(), pool);
    }
    double* square_norms = sums.lane(lane);
    design.evaluate(Units::pool, range, activations.data(), activations.rows(), square_norms,
                    worker);
    add_transposed_product<Scalar>(activations.data(), activations.rows(), pool,
                                   state.residual.column(b, 0), state.residual.leading(), outputs,
                                   range.count, square_norms + pool, pool);
  });
  const VectorD total = sums.total();
  const Eigen::Map<const MatrixD> products(total.data() + pool, pool, outputs);
  VectorD scores(pool);
  for (Index j = 0; j < pool; ++j) {
    const double denominator = total[j] + state.alpha;
    scores[j] = denominator > 0 ? products.row(j).squaredNorm() / denominator : 0.0;
    if (!std::isfinite(scores[j])) {
      throw std::domain_error(
          "candidate activations overflow: the inputs, weight_scale or targets are too large; "
          "scale the inputs (standardize=True) or use a bounded activation");
    }
  }
  return scores;
}

std::vector<Index> rank_scores(const VectorD& scores) {
  std::vector<Index> order(static_cast<std::size_t>(scores.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return scores[a] > scores[b]; });
  return order;
}

template VectorD score_pool<float>(Design<float>&, const RidgeState<float>&, Team&);
template VectorD score_pool<double>(Design<double>&, const RidgeState<double>&, Team&);

}  // namespace residuum
