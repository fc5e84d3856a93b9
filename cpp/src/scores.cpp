#include "residuum/scores.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "residuum/philox.hpp"
#include "residuum/products.hpp"
#include "residuum/weight_draws.hpp"

namespace residuum {

namespace {

// The residuals of some rows of a block side by side: where they lie, or gathered into scratch.
template <class Scalar>
const Scalar* residual_rows(const std::vector<const RidgeState<Scalar>*>& states, RowRange range,
                            Matrix<Scalar>& scratch, Index& leading) {
  const RowBlocks& blocks = states.front()->blocks;
  const Index b = range.first / blocks.block_rows(), offset = range.first % blocks.block_rows();
  if (states.size() == 1 && !range.list) {
    leading = states.front()->residual.leading();
    return states.front()->residual.column(b, 0) + offset;
  }
  leading = range.count;
  const Index outputs = states.front()->outputs();
  scratch.resize(range.count, static_cast<Index>(states.size()) * outputs);
  Scalar* out = scratch.data();
  for (const RidgeState<Scalar>* state : states) {
    for (Index c = 0; c < outputs; ++c, out += range.count) {
      if (!range.list) {
        std::copy_n(state->residual.column(b, c) + offset, range.count, out);
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
  const Index most_rows = blocks.piece_rows(pool + outputs);
  const auto score_piece = [&](RowRange range, double* square_norms, int worker) {
    Scratch<Scalar>& scratch = design.scratch(worker);
    Matrix<Scalar>& activations = scratch.pool;
    if (activations.rows() < range.count || activations.cols() < pool) {
      activations.resize(most_rows, pool);
    }
    design.evaluate(Units::pool, range, activations.data(), activations.rows(), square_norms,
                    worker);
    Stopwatch watch;
    Index leading;
    const Scalar* residuals = residual_rows(states, range, scratch.residual, leading);
    add_transposed_product<Scalar>(activations.data(), activations.rows(), pool, residuals, leading,
                                   problems * outputs, range.count, square_norms + pool, pool);
    scratch.profile.score += watch.lap();
  };
  blocks.sweep(team, [&](Index lane, Index b, int worker) {
    const RowRange block = blocks.block(b);
    for (Index done = 0; done < block.count; done += most_rows) {
      const RowRange piece{block.first + done, std::min(most_rows, block.count - done),
                           rows.empty() ? nullptr : rows.data()};
      score_piece(piece, sums.lane(lane), worker);
    }
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
  std::vector<std::pair<double, Index>> ranked;
  ranked.reserve(static_cast<std::size_t>(scores.size()));
  // Negative, so that the best come first and equal ones in the order they were drawn.
  for (Index j = 0; j < scores.size(); ++j) ranked.emplace_back(-scores[j], j);
  std::sort(ranked.begin(), ranked.end());
  std::vector<Index> order;
  order.reserve(ranked.size());
  for (const auto& [score, candidate] : ranked) order.push_back(candidate);
  return order;
}

template MatrixD score_pool<float>(Design<float>&, const std::vector<const RidgeState<float>*>&,
                                   const std::vector<Index>&, Team&);
template MatrixD score_pool<double>(Design<double>&, const std::vector<const RidgeState<double>*>&,
                                    const std::vector<Index>&, Team&);

}  // namespace residuum
