#include "stagenets/scores.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "stagenets/philox.hpp"
#include "stagenets/products.hpp"
#include "stagenets/weight_draws.hpp"

namespace stagenets {

namespace {

template <class Scalar>
using States = std::vector<const RidgeState<Scalar>*>;

// The residuals of some rows of a block, side by side: in place, or gathered into scratch.
template <class Number, class Scalar>
ConstMatrixMap<Number> residual_rows(const States<Scalar>& states, RowRange range,
                                     Matrix<Number>& scratch) {
  const RowBlocks& blocks = states.front()->blocks;
  const Index outputs = states.front()->outputs();
  const Index b = range.first / blocks.block_rows(), offset = range.first % blocks.block_rows();
  if constexpr (std::is_same_v<Number, Scalar>) {
    if (states.size() == 1 && !range.list) {
      const ConstMatrixMap<Scalar> block = states.front()->residual.block(b, 0, outputs);
      return matrix_map(block.data() + offset, range.count, outputs, block.outerStride());
    }
  }
  scratch.resize(range.count, static_cast<Index>(states.size()) * outputs);
  Number* out = scratch.data();
  for (const RidgeState<Scalar>* state : states) {
    for (Index c = 0; c < outputs; ++c, out += range.count) {
      if (!range.list) {
        const Scalar* from = state->residual.column(b, c) + offset;
        std::transform(from, from + range.count, out,
                       [](Scalar value) { return static_cast<Number>(value); });
        continue;
      }
      for (Index i = 0; i < range.count; ++i) {
        const Index block = range[i] / blocks.block_rows();
        out[i] = static_cast<Number>(
            state->residual.column(block, c)[range[i] - block * blocks.block_rows()]);
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

// Sums over the scored rows, for scores of `pool` candidates in `problems` problems.
struct PoolSums {
  Index rows, pool, outputs, problems;
  Index
      most_rows;  // that were summed in the type of the activations before they were added to others in double
  VectorD values;

  // ‖g_j‖², and ‖g_jᵀR‖² and ‖R‖² of a problem.
  double square_norm(Index j) const { return values[j]; }
  double square_gain(Index j, Index problem) const {
    double sum = 0;
    for (Index c = problem * outputs; c < (problem + 1) * outputs; ++c) {
      const double product = values[pool * (1 + c) + j];
      sum += product * product;
    }
    return sum;
  }
  double residual_energy(Index problem) const {
    return values[pool * (1 + problems * outputs) + problem];
  }
};

// One sweep over the rows; evaluate(range, activations, square_norms, worker) fills in a matrix of at least that size.
template <class Number, class Scalar, class Evaluate>
PoolSums sum_pool(Design<Scalar>& design, const States<Scalar>& states, const ScoredRows& rows,
                  Index pool, Matrix<Number> Scratch<Scalar>::* activations,
                  Matrix<Number> Scratch<Scalar>::* residual, Team& team,
                  const Evaluate& evaluate) {
  const Index scored = rows.all ? design.rows() : static_cast<Index>(rows.list.size());
  const RowBlocks& all_blocks = states.front()->blocks;
  const RowBlocks blocks =
      RowBlocks(scored, all_blocks.block_rows()).completed_by(all_blocks.reduction());
  const Index outputs = states.front()->outputs(), problems = static_cast<Index>(states.size());
  // In single precision twice as many rows fit in the cache.
  constexpr Index kSmaller = sizeof(Scalar) / sizeof(Number);
  const Index most_rows = blocks.piece_rows((pool + outputs) / kSmaller);
  const auto add_piece = [&](RowRange range, double* sums, int worker) {
    Scratch<Scalar>& scratch = design.scratch(worker);
    Matrix<Number>& columns = scratch.*activations;
    if (columns.rows() < range.count || columns.cols() < pool) columns.resize(most_rows, pool);
    evaluate(range, columns, sums, worker);
    Stopwatch watch;
    const ConstMatrixMap<Number> r = residual_rows(states, range, scratch.*residual);
    add_transposed_product(columns.topLeftCorner(range.count, pool), r,
                           matrix_map(sums + pool, pool, problems * outputs, pool));
    for (Index i = 0; i < problems; ++i) {
      sums[pool * (1 + problems * outputs) + i] +=
          r.middleCols(i * outputs, outputs).template cast<double>().squaredNorm();
    }
    scratch.profile.score += watch.lap();
  };
  const Index size = pool * (problems * outputs + 1) + problems;
  VectorD values = blocks.sum(team, size, [&](double* sums, Index b, int worker) {
    const RowRange block = blocks.block(b);
    for (Index done = 0; done < block.count; done += most_rows) {
      const RowRange piece{block.first + done, std::min(most_rows, block.count - done),
                           rows.all ? nullptr : rows.list.data()};
      add_piece(piece, sums, worker);
    }
  });
  return {scored, pool, outputs, problems, most_rows, std::move(values)};
}

// A score in single precision, and what it may be in double.
struct RoughScore {
  double value, least, most;
};

// Follows from the bounds of rough_pool.hpp. With G̃ the norm of a candidate as computed, in sums of up to `rows` rows,
// and E the bound of ‖g̃ − g‖: the norm is G̃ but for E and rows·u G̃, and ‖gᵀR‖ is what was computed but for
// (E + (rows + 3)u G̃) ‖R‖, as products and sums of these rows err by at most rows·u Σ|g||r|, which by Cauchy and Schwarz
// is no more than that, and R is rounded too. Squares that underflow are at most 2⁻¹²⁶ each.
RoughScore rough_score(const PoolSums& sums, Index j, Index problem, double alpha, double error) {
  constexpr double kUnit = RoughPool::kRounding, kUnderflow = 2e-19, kLeastResidual = 1e-15;
  constexpr double kAnything = std::numeric_limits<double>::infinity();
  const double rounding = static_cast<double>(sums.most_rows + 3) * kUnit;
  const double norm = std::sqrt(sums.square_norm(j)),
               gain = std::sqrt(sums.square_gain(j, problem));
  const double value = norm * norm + alpha > 0 ? gain * gain / (norm * norm + alpha) : 0.0;
  const double norm_off = 1.01 * (error + (RoughPool::kRelativeError + rounding) * norm) +
                          kUnderflow * std::sqrt(static_cast<double>(sums.rows));
  const double residual = std::sqrt(sums.residual_energy(problem));
  const double gain_off = norm_off * residual;
  if (!std::isfinite(gain) || !std::isfinite(gain_off) || residual < kLeastResidual) {
    return {0, 0, kAnything};
  }
  const double low_norm = std::max(0.0, norm - norm_off), high_norm = norm + norm_off;
  const double low_gain = std::max(0.0, gain - gain_off), high_gain = gain + gain_off;
  const double least_below = high_norm * high_norm + alpha,
               most_below = low_norm * low_norm + alpha;
  return {value, least_below > 0 ? low_gain * low_gain / least_below : 0.0,
          most_below > 0 ? high_gain * high_gain / most_below : kAnything};
}

// The candidates that may be among the best `head`, best first as far as known. `unsure` marks those whose order their
// scores leave open.
std::vector<Index> possible_head(const std::vector<RoughScore>& scores, Index head,
                                 std::vector<bool>& unsure) {
  std::vector<double> least;
  for (const RoughScore& score : scores) least.push_back(score.least);
  const auto last = least.begin() + std::min<Index>(head, static_cast<Index>(least.size())) - 1;
  std::nth_element(least.begin(), last, least.end(), std::greater<>());
  std::vector<Index> possible;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    if (scores[j].most >= *last) possible.push_back(static_cast<Index>(j));
  }
  const auto score_of = [&](Index j) { return scores[static_cast<std::size_t>(j)]; };
  std::sort(possible.begin(), possible.end(),
            [&](Index a, Index b) { return score_of(a).most > score_of(b).most; });
  double reach = std::numeric_limits<double>::infinity();  // down to which those before may be
  for (std::size_t i = 0; i < possible.size(); ++i) {
    if (i > 0 && score_of(possible[i]).most >= reach) {
      unsure[static_cast<std::size_t>(possible[i - 1])] = true;
      unsure[static_cast<std::size_t>(possible[i])] = true;
    }
    reach = std::min(reach, score_of(possible[i]).least);
  }
  return possible;
}

}  // namespace

template <class Scalar>
MatrixD score_pool(Design<Scalar>& design, const States<Scalar>& states, const ScoredRows& rows,
                   Team& team, Units units) {
  const Index pool = design.source().count(units), problems = static_cast<Index>(states.size());
  const PoolSums sums = sum_pool<Scalar>(
      design, states, rows, pool, &Scratch<Scalar>::pool, &Scratch<Scalar>::residual, team,
      [&](RowRange range, Matrix<Scalar>& out, double* square_norms, int worker) {
        design.evaluate(units, range, out.data(), out.rows(), square_norms, worker);
      });
  const double share = share_of(design, rows, states.front()->blocks);
  MatrixD scores(pool, problems);
  for (Index i = 0; i < problems; ++i) {
    // On a fraction of the rows, everything but the penalty shrinks by that fraction.
    const double alpha = share * states[static_cast<std::size_t>(i)]->alpha;
    for (Index j = 0; j < pool; ++j) {
      const double denominator = sums.square_norm(j) + alpha;
      scores(j, i) = denominator > 0 ? sums.square_gain(j, i) / denominator : 0.0;
    }
  }
  if (!scores.allFinite()) {
    throw std::domain_error(
        "candidate activations overflow: the inputs, weight_scale or targets are too large; "
        "scale the inputs (standardize=True) or use a bounded activation");
  }
  return scores;
}

template <class Scalar>
std::vector<RankedPool> rank_head(Design<Scalar>& design,
                                  const std::vector<ScoredProblem<Scalar>>& problems,
                                  const ScoredRows& rows, Team& team) {
  CandidateSource<Scalar>& source = design.source();
  States<Scalar> states;
  for (const ScoredProblem<Scalar>& problem : problems) states.push_back(&problem.state);
  std::vector<RankedPool> pools;
  const RoughPool* rough = source.rough_pool(team);
  if (!rough) {
    const MatrixD scores = score_pool(design, states, rows, team);
    for (Index i = 0; i < scores.cols(); ++i) pools.push_back(rank_pool(scores.col(i)));
    return pools;
  }
  const Index pool = source.count(Units::pool);
  const PoolSums sums = sum_pool<float>(
      design, states, rows, pool, &Scratch<Scalar>::rough_pool, &Scratch<Scalar>::rough_residual,
      team, [&](RowRange range, Matrix<float>& out, double* square_norms, int worker) {
        design.evaluate(*rough, range, out.data(), out.rows(), square_norms, worker);
      });
  const double share = share_of(design, rows, states.front()->blocks);
  MatrixD scores(pool, sums.problems);
  std::vector<std::vector<Index>> heads;
  std::vector<bool> unsure(static_cast<std::size_t>(pool), false);
  for (Index i = 0; i < sums.problems; ++i) {
    const ScoredProblem<Scalar>& problem = problems[static_cast<std::size_t>(i)];
    std::vector<RoughScore> bounded;
    for (Index j = 0; j < pool; ++j) {
      bounded.push_back(rough_score(sums, j, i, share * problem.state.alpha, rough->errors()[j]));
      scores(j, i) = bounded.back().value;
    }
    heads.push_back(possible_head(bounded, problem.head, unsure));
  }
  std::vector<Index> again;
  for (Index j = 0; j < pool; ++j) {
    if (unsure[static_cast<std::size_t>(j)]) again.push_back(j);
  }
  if (!again.empty()) {
    source.select(again);
    scores(again, Eigen::all) = score_pool(design, states, rows, team, Units::selected);
  }
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const VectorD own = scores.col(static_cast<Index>(i));
    RankedPool ranked{{}, rank_pool(own).quantiles};
    std::sort(heads[i].begin(), heads[i].end(),
              [&](Index a, Index b) { return own[a] != own[b] ? own[a] > own[b] : a < b; });
    heads[i].resize(std::min(heads[i].size(), static_cast<std::size_t>(problems[i].head)));
    ranked.candidates = std::move(heads[i]);
    ranked.rank_all = [&design, rows, &team, state = states[i], pool] {
      std::vector<Index> all(static_cast<std::size_t>(pool));
      std::iota(all.begin(), all.end(), Index{0});
      design.source().select(all);
      return rank_pool(score_pool(design, {state}, rows, team, Units::selected)).candidates;
    };
    pools.push_back(std::move(ranked));
  }
  return pools;
}

ScoredRows rows_to_score(const RowNumbers& rows, double fraction, std::uint64_t seed, Index stage) {
  // On fewer, chance overlap with the units already kept swamps the score.
  constexpr Index kFewest = 2048, kOneOf = 8;
  const double share = std::ceil(fraction * static_cast<double>(rows.all));
  const Index count = fraction == kEnoughRows ? std::max(kManyRows, rows.all / kOneOf)
                                              : std::max(kFewest, static_cast<Index>(share));
  if (count >= rows.all) return {};
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

#define STAGENETS_INSTANTIATE(Scalar)                                                            \
  template MatrixD score_pool<Scalar>(Design<Scalar>&, const States<Scalar>&, const ScoredRows&, \
                                      Team&, Units);                                             \
  template std::vector<RankedPool> rank_head<Scalar>(                                            \
      Design<Scalar>&, const std::vector<ScoredProblem<Scalar>>&, const ScoredRows&, Team&);
STAGENETS_INSTANTIATE(float)
STAGENETS_INSTANTIATE(double)
#undef STAGENETS_INSTANTIATE

}  // namespace stagenets
