#include "stagenets/scores.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "stagenets/philox.hpp"
#include "stagenets/products.hpp"
#include "stagenets/weight_draws.hpp"

namespace stagenets {

namespace {

// The residuals of some rows of a block, side by side: in place, or gathered into scratch.
template <class Scalar>
ConstMatrixMap<Scalar> residual_rows(const std::vector<const RidgeState<Scalar>*>& states,
                                     RowRange range, Matrix<Scalar>& scratch) {
  const RowBlocks& blocks = states.front()->blocks;
  const Index outputs = states.front()->outputs();
  const Index b = range.first / blocks.block_rows(), offset = range.first % blocks.block_rows();
  if (states.size() == 1 && !range.list) {
    const ConstMatrixMap<Scalar> block = states.front()->residual.block(b, 0, outputs);
    return matrix_map(block.data() + offset, range.count, outputs, block.outerStride());
  }
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
  return matrix_map(std::as_const(scratch).data(), range.count, scratch.cols(), range.count);
}

// The share of the listed rows in the weight of all.
template <class Scalar>
double share_of(const Design<Scalar>& design, const ScoredRows& rows, const RowBlocks& blocks) {
  const double* roots = design.root_weights();
  if (rows.all || !roots) return rows.share;
  double scored = 0;
  for (const Index row : rows.list) scored += roots[row] * roots[row];
  const double all = Eigen::Map<const VectorD>(roots, design.rows()).squaredNorm();
  return blocks.complete(scored) / blocks.complete(all);
}

}  // namespace

template <class Scalar>
MatrixD score_pool(Design<Scalar>& design, const std::vector<const RidgeState<Scalar>*>& states,
                   const ScoredRows& rows, Team& team) {
  const Index scored = rows.all ? design.rows() : static_cast<Index>(rows.list.size());
  const RowBlocks& all_blocks = states.front()->blocks;
  const RowBlocks blocks =
      RowBlocks(scored, all_blocks.block_rows()).completed_by(all_blocks.reduction());
  const Index pool = design.source().count(Units::pool), outputs = states.front()->outputs();
  const Index problems = static_cast<Index>(states.size());
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
    add_transposed_product(activations.topLeftCorner(range.count, pool),
                           residual_rows(states, range, scratch.residual),
                           matrix_map(square_norms + pool, pool, problems * outputs, pool));
    scratch.profile.score += watch.lap();
  };
  const Index size = pool * (problems * outputs + 1);
  const VectorD total = blocks.sum(team, size, [&](double* sums, Index b, int worker) {
    const RowRange block = blocks.block(b);
    for (Index done = 0; done < block.count; done += most_rows) {
      const RowRange piece{block.first + done, std::min(most_rows, block.count - done),
                           rows.all ? nullptr : rows.list.data()};
      score_piece(piece, sums, worker);
    }
  });
  const double share = share_of(design, rows, all_blocks);
  MatrixD scores(pool, problems);
  for (Index i = 0; i < problems; ++i) {
    const Eigen::Map<const MatrixD> products(total.data() + pool * (1 + i * outputs), pool,
                                             outputs);
    // On a fraction of the rows, everything but the penalty shrinks by that fraction.
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

ScoredRows rows_to_score(const RowNumbers& rows, double fraction, std::uint64_t seed, Index stage) {
  constexpr Index kFewest =
      2048;  // on fewer, chance overlap with the units already kept swamps the score
  const Index count =
      std::max(kFewest, static_cast<Index>(std::ceil(fraction * static_cast<double>(rows.all))));
  if (fraction >= 1 || count >= rows.all) return {};
  ScoredRows chosen{false, {}, static_cast<double>(count) / static_cast<double>(rows.all)};
  PhiloxStream words(
      Philox(seed, 0, static_cast<std::uint64_t>(stage), static_cast<std::uint64_t>(Stream::rows)));
  for (Index i = 0; i < count; ++i) {
    const Index first = i * rows.all / count, last = (i + 1) * rows.all / count;
    const Index number =
        first + static_cast<Index>(words.uniform() * static_cast<double>(last - first));
    if (rows.holds(number)) chosen.list.push_back(number - rows.first);
  }
  return chosen;
}

template MatrixD score_pool<float>(Design<float>&, const std::vector<const RidgeState<float>*>&,
                                   const ScoredRows&, Team&);
template MatrixD score_pool<double>(Design<double>&, const std::vector<const RidgeState<double>*>&,
                                    const ScoredRows&, Team&);

}  // namespace stagenets
