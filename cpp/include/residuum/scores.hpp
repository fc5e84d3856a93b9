// The paper's score of a candidate g: s(g) = ‖gᵀR‖² / (‖g‖² + λ), the exact drop of the objective
// when g joins and only its own coefficient is fitted. One fused sweep: each block of rows is mapped,
// activated and multiplied with the residual while it is in cache; the n × M pool never exists.
#pragma once

#include "residuum/factor.hpp"

namespace residuum {

// Scores of the source's current pool. Throws std::domain_error if they are not finite.
template <class Scalar>
VectorD score_pool(Design<Scalar>& design, const RidgeState<Scalar>& state, Team& team);

// Indices of the scores, best first; equal scores in order of their index.
std::vector<Index> rank_scores(const VectorD& scores);

}  // namespace residuum
