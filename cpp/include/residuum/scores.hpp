// The paper's score of a candidate g: s(g) = ‖gᵀR‖² / (‖g‖² + λ), the exact drop of the objective
// when g joins and only its own coefficient is fitted. One fused sweep: each block of rows is mapped,
// activated and multiplied with the residual while it is in cache; the n × M pool never exists.
#pragma once

#include "residuum/factor.hpp"

namespace residuum {

// Scores of the source's current pool, a column for each of some problems on the same rows: the pool is
// evaluated once and meets all their residuals. On the listed rows or, if the list is empty, on all.
// Throws std::domain_error if they are not finite.
template <class Scalar>
MatrixD score_pool(Design<Scalar>& design, const std::vector<const RidgeState<Scalar>*>& states,
                   const std::vector<Index>& rows, Team& team);

// A share of the rows, drawn anew for every stage: one from each of as many equal stretches of rows.
// Empty (meaning all) when the share is 1 or leaves too few to go by.
std::vector<Index> rows_to_score(Index rows, double fraction, std::uint64_t seed, Index stage);

// Indices of the scores, best first; equal scores in order of their index.
std::vector<Index> rank_scores(const VectorD& scores);

}  // namespace residuum
