#include "stagenets/ranked_pool.hpp"

#include <algorithm>
#include <utility>

namespace stagenets {

bool RankedPool::reaches(std::size_t place) {
  if (place >= candidates.size() && rank_all) {
    candidates = rank_all();
    rank_all = nullptr;
  }
  return place < candidates.size();
}

RankedPool RankedPool::first(std::size_t count) const {
  const auto some = static_cast<std::ptrdiff_t>(std::min(count, candidates.size()));
  return {{candidates.begin(), candidates.begin() + some}, quantiles};
}

RankedPool rank_pool(const VectorD& scores) {
  std::vector<std::pair<double, Index>> ranked;
  ranked.reserve(static_cast<std::size_t>(scores.size()));
  // Negative, so that the best come first and ties are in the order in which they were drawn.
  for (Index j = 0; j < scores.size(); ++j) ranked.emplace_back(-scores[j], j);
  std::sort(ranked.begin(), ranked.end());
  RankedPool pool;
  pool.candidates.reserve(ranked.size());
  for (const auto& [score, candidate] : ranked) pool.candidates.push_back(candidate);
  for (std::size_t i = 0; i < pool.quantiles.size() && !ranked.empty(); ++i) {
    pool.quantiles[i] = -ranked[(ranked.size() - 1) * (4 - i) / 4].first;
  }
  return pool;
}

const KnownStage* KnownStages::find(Index stage, Index keep) const {
  if (stage >= static_cast<Index>(stages.size())) return nullptr;
  const KnownStage& known = stages[static_cast<std::size_t>(stage)];
  return known.keep == keep ? &known : nullptr;
}

}  // namespace stagenets
