#include "stagenets/row_graph.hpp"

namespace stagenets {

RowGraph RowGraph::among(const std::vector<Index>& rows, Index all) const {
  constexpr Index kNone = -1;
  std::vector<Index> number(static_cast<std::size_t>(all), kNone);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    number[static_cast<std::size_t>(rows[i])] = static_cast<Index>(i);
  }
  RowGraph some;
  std::vector<Index> kept;
  for (Index e = 0; e < size(); ++e) {
    const auto [a, b] = pairs[static_cast<std::size_t>(e)];
    const Index first = number[static_cast<std::size_t>(a)];
    const Index second = number[static_cast<std::size_t>(b)];
    if (first == kNone || second == kNone) continue;
    some.pairs.push_back({first, second});
    kept.push_back(e);
  }
  some.weights = weights(kept);
  return some;
}

}  // namespace stagenets
