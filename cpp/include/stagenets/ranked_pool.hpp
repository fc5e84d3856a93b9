// A pool of candidates in the order of their scores, and what a fit remembers of the pools it has ranked: with that, a
// later fit of the same problem repeats the stages without scoring a candidate, and has the same bits.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "stagenets/types.hpp"

namespace stagenets {

// Summary of the scores of a stage's pool: minimum, quartiles, maximum.
using PoolQuantiles = std::array<double, 5>;

struct RankedPool {
  std::vector<Index> candidates;  // best first; equals in the order in which they were drawn
  PoolQuantiles quantiles{};      // of the whole pool
  // Ranks the whole pool, where only its head is ranked so far; empty otherwise.
  std::function<std::vector<Index>()> rank_all = {};

  // Whether there is a candidate at this place of the ranking, which is carried on if need be.
  bool reaches(std::size_t place);
  // The same without all but the first candidates.
  RankedPool first(std::size_t count) const;
};

RankedPool rank_pool(const VectorD& scores);

// The candidates that a stage has looked at, and how many units it was to keep.
struct KnownStage {
  Index keep = 0;
  RankedPool pool;
};

// The stages of an earlier fit to the same data with the same settings, apart from its size and when to stop.
struct KnownStages {
  std::vector<KnownStage> stages;
  double alpha = 0;  // the penalty they were chosen with

  // The stage, if it is known to have been the same; null otherwise. The last stage of a fit may have been cut short.
  const KnownStage* find(Index stage, Index keep) const;
};

}  // namespace stagenets
