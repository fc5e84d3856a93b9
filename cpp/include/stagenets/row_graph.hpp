// Pairs of input rows whose scores should be close: the edges of a graph, each with a weight. With L the Laplacian of the
// graph, the sum of weight · ‖difference of scores‖² over the pairs is tr(ΩᵀAᵀLAΩ), so each pair is a row of the ridge
// problem: the difference of two rows of A times the root of the weight, with target zero. Rows of the inputs beyond the
// samples, which have no target, matter through their pairs only.
#pragma once

#include <array>
#include <vector>

#include "stagenets/types.hpp"

namespace stagenets {

struct RowGraph {
  std::vector<std::array<Index, 2>> pairs;
  VectorD weights;

  Index size() const { return static_cast<Index>(pairs.size()); }
  // The pairs among some of `all` rows, which are numbered anew in the order given.
  RowGraph among(const std::vector<Index>& rows, Index all) const;
};

}  // namespace stagenets
