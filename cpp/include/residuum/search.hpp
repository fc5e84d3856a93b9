// Many networks on many splits of the rows, judged on the rows left out. A fit to the largest size holds
// every smaller one, so sizes are free; and networks that draw the same candidates (a family) go through
// their stages together, each pool being evaluated once for all of their residuals.
#pragma once

#include "residuum/network_fit.hpp"

namespace residuum {

struct Split {
  std::vector<Index> train, test;
};

// Networks that differ in penalty, block size and way of selecting, and draw the same pools.
using Family = std::vector<NetworkSettings>;

struct SearchSettings {
  std::vector<Family> families;
  std::vector<Index> sizes;  // hidden units, or enhancement nodes of a BLS; rising
  std::vector<Split> splits;
  bool classification = false;
  bool keep_scores = false;  // give the scores of the rows left out, not only how good they are
  bool temperatures =
      false;  // and the temperature of every network; each size is then fitted by itself
  double max_memory = 1e9;  // bytes that fits in progress may take together
  int threads = 1;
};

// One network on one split, at every size.
struct HeldOut {
  std::vector<double> quality;      // accuracy or R²
  std::vector<MatrixD> scores;      // of the test rows, if kept
  std::vector<double> temperature;  // if wanted
};

// A result for every network of every family (in order) and, within that, for every split. Regression
// targets are centred on each split's training rows.
using SearchResults = std::vector<std::vector<HeldOut>>;

// Told by the calling thread now and then: how many of the fits are done.
using SearchProgress = std::function<void(Index done, Index total)>;

template <class Scalar>
SearchResults search_networks(const TrainingData<Scalar>& data, const SearchSettings& settings,
                              const SearchProgress& progress, const Team::Poll& poll);

}  // namespace residuum
