// Many networks on many splits of the rows, judged on the rows left out. A fit of the largest size contains
// every smaller network, so sizes are free; and networks that draw the same candidates (a family) go through
// their stages together, so that each pool is evaluated once for all their residuals.
#pragma once

#include "stagenets/network_fit.hpp"
#include "stagenets/target_score.hpp"

namespace stagenets {

// Networks that draw the same pools and differ only in penalty, block size and selection method.
using Family = std::vector<NetworkSettings>;

struct SearchSettings {
  std::vector<Family> families;
  std::vector<Index> sizes;  // hidden units, or enhancement nodes of a BLS; increasing
  std::vector<Split> splits;
  // Penalties by which to fit the units that a network has chosen by its own. Only if no links are needed, and if the
  // networks are neither one-shot nor change to the dual form on the way.
  std::vector<double> alphas;
  double tolerance = kNegligible;    // of readouts by other losses than the squared error
  bool links = false;                // whether the judge needs them
  Measure measure = Measure::usual;  // of quality, without a judge
  double max_memory = 1e9;           // bytes that fits in progress may take together
  int threads = 1;
};

// The scores of a network of some size on the test rows of a split.
struct HeldOut {
  std::size_t split;
  const MatrixD& scores;                   // one row per test row, less the thresholds of the link
  const Eigen::RowVectorXd& temperatures;  // ones if not requested
};

// Returns the quality of such scores. May be called by several threads at once.
using Judge = std::function<double(const HeldOut&)>;

// The quality of every network (of every family, in order, and by every penalty if there are several), on every split, at
// every size: [network][split][size].
using SearchResults = std::vector<std::vector<std::vector<double>>>;

// Called periodically on the calling thread with the number of fits done.
using SearchProgress = std::function<void(Index done, Index total)>;

// Quality is what `judge` returns or, without one, `measure`. What fits in progress hold, gathered rows and predictions included, stays within max_memory, or is one fit if a single one needs more.
template <class Scalar>
SearchResults search_networks(const TrainingData<Scalar>& data, const SearchSettings& settings,
                              const Judge& judge, const SearchProgress& progress,
                              const Team::Poll& poll);

}  // namespace stagenets
