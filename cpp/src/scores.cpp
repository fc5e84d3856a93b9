#include "residuum/scores.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "residuum/philox.hpp"
#include "residuum/products.hpp"
#include "residuum/weight_draws.hpp"

namespace residuum {

namespace {

// The residuals of some rows side by side: where they lie, or gathered into scratch.
template <class Scalar>
const Scalar* residual_rows(const std::vector<const RidgeState<Scalar>*>& states, RowRange range,
                            Matrix<Scalar>& scratch, Index& leading) {
  const RowBlocks& blocks = states.front()->blocks;
  if (states.size() == 1 && !range.list) {
    leading = states.front()->residual.leading();
    return states.front()->residual.column(range.first / blocks.block_rows(), 0);
  }
  leading = range.count;
  const Index outputs = states.front()->outputs();
  scratch.resize(range.count, static_cast<Index>(states.size()) * outputs);
  Scalar* out = scratch.data();
  for (const RidgeState<Scalar>* state : states) {
    for (Index c = 0; c < outputs; ++c, out += range.count) {
      if (!range.list) {
        std::copy_n(state->residual.column(range.first / blocks.block_rows(), c), range.count, out);
        continue;
      }
      for (Index i = 0; i < range.count; ++i) {
        const Index block = range[i] / blocks.block_rows();
        out[i] = state->residual.column(block, c)[range[i] - block * blocks.block_rows()];
      }
    }
  }
  return scratch.data();
}

}  // namespace

template <class Scalar>
MatrixD score_pool(Design<Scalar>& design, const std::vector<const RidgeState<Scalar>*>& states,
                   const std::vector<Index>& rows, Team& team) {
  const Index scored = rows.empty() ? design.rows() : static_cast<Index>(rows.size());
  const RowBlocks blocks(scored, states.front()->blocks.block_rows());
  const Index pool = design.source().count(Units::pool), outputs = states.front()->outputs();
  const Index problems = static_cast<Index>(states.size());
  LaneSums sums(blocks.lanes(), pool * (problems * outputs + 1));
  blocks.sweep(team, [&](Index lane, Index b, int worker) {
    RowRange range = blocks.block(b);
    if (!rows.empty()) range.list = rows.data();
    Scratch<Scalar>& scratch = design.scratch(worker);
    Matrix<Scalar>& activations = scratch.pool;
    if (activations.rows() < range.count || activations.cols() < pool) {
      activations.resize(blocks.block_rows(), pool);
    }
    double* square_norms = sums.lane(lane);
    design.evaluate(Units::pool, range, activations.data(), activations.rows(), square_norms,
                    worker);
    Stopwatch watch;
    Index leading;
    const Scalar* residuals = residual_rows(states, range, scratch.residual, leading);
    add_transposed_product<Scalar>(activations.data(), activations.rows(), pool, residuals, leading,
                                   problems * outputs, range.count, square_norms + pool, pool);
    scratch.profile.score += watch.lap();
  });
  // On a share of the rows everything but the penalty shrinks by that share.
  const double share = static_cast<double>(scored) / static_cast<double>(design.rows());
  const VectorD total = sums.total();
  MatrixD scores(pool, problems);
  for (Index i = 0; i < problems; ++i) {
    const Eigen::Map<const MatrixD> products(total.data() + pool * (1 + i * outputs), pool,
                                             outputs);
    const double alpha = share * states[static_cast<std::size_t>(i)]->alpha;
    for (Index j = 0; j < pool; ++j) {
      const double denominator = total[j] + alpha;
      scores(j, i) = denominator > 0 ? products.row(j).squaredNorm() / denominator : 0.0;
    }
  }
  if (!scores.allFinite()) {
    throw std::domain_error(
        "candidate activations overflow: the inputs, weight_scale or targets are too large; "
        "scale the inputs (standardize=True) or use a bounded activation");
  }
  return scores;
}

std::vector<Index> rows_to_score(Index rows, double fraction, std::uint64_t seed, Index stage) {
  constexpr Index kFewest =
      2048;  // on fewer, chance overlap with units already there drowns the score
  const Index count =
      std::max(kFewest, static_cast<Index>(std::ceil(fraction * static_cast<double>(rows))));
  std::vector<Index> chosen;
  if (fraction >= 1 || count >= rows) return chosen;
  chosen.reserve(static_cast<std::size_t>(count));
  PhiloxStream words(
      Philox(seed, 0, static_cast<std::uint64_t>(stage), static_cast<std::uint64_t>(Stream::rows)));
  for (Index i = 0; i < count; ++i) {
    const Index first = i * rows / count, last = (i + 1) * rows / count;
    chosen.push_back(first +
                     static_cast<Index>(words.uniform() * static_cast<double>(last - first)));
  }
  return chosen;
}

std::vector<Index> rank_scores(const VectorD& scores) {
  std::vector<Index> order(static_cast<std::size_t>(scores.size()));
  std::iota(order.begin(), order.end(), Index{0});
  // Equal ones in the order they were drawn.
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
  });
  return order;
}

template MatrixD score_pool<float>(Design<float>&, const std::vector<const RidgeState<float>*>&,
                                   const std::vector<Index>&, Team&);
template MatrixD score_pool<double>(Design<double>&, const std::vector<const RidgeState<double>*>&,
                                    const std::vector<Index>&, Team&);

}  // namespace residuum
