// The paper's score of a candidate g: s(g) = ‖gᵀR‖² / (‖g‖² + λ), the exact drop of the objective
// when g joins and only its own coefficient is fitted. One fused sweep: each block of rows is mapped,
// activated and multiplied by the residual while it is in cache; the n × M pool is never stored.
#pragma once

#include "stagenets/factor.hpp"

namespace stagenets {

// The local rows on which candidates are scored: those of a list, or all of them. The share is the list's among the rows
// of all processes.
struct ScoredRows {
  bool all = true;
  std::vector<Index> list = {};
  double share = 1;
};

// A fraction of the rows, drawn anew for every stage: one from each of as many equal stretches of rows. All of them if the
// fraction is 1 or leaves too few rows for reliable scores.
ScoredRows rows_to_score(const RowNumbers& rows, double fraction, std::uint64_t seed, Index stage);

// Scores of the source's current pool (or the units selected from it), one column per problem, for several problems on
// the same rows: the pool is evaluated once for all their residuals. Throws std::domain_error if the scores are not finite.
template <class Scalar>
MatrixD score_pool(Design<Scalar>& design, const std::vector<const RidgeState<Scalar>*>& states,
                   const ScoredRows& rows, Team& team, Units units = Units::pool);

// A problem whose next stage looks at the first `head` candidates of its ranking.
template <class Scalar>
struct ScoredProblem {
  const RidgeState<Scalar>& state;
  Index head;
};

// The source's current pool ranked for each problem, by these scores: all of it, or at least the head. If the source
// has the pool in single precision, every score is first known within bounds, and candidates are scored in double
// only where these overlap. So the ranking is that of the scores in double; quantiles are of either precision.
template <class Scalar>
std::vector<RankedPool> rank_head(Design<Scalar>& design,
                                  const std::vector<ScoredProblem<Scalar>>& problems,
                                  const ScoredRows& rows, Team& team);

}  // namespace stagenets
