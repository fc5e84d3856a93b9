// What is decided by cross-validation before a network is fitted to all rows: its penalty, its size, or both. All penalties
// share their pools, and a fit of the largest size contains every smaller one, so this costs little more than one fit
// for each split.
#pragma once

#include "stagenets/search.hpp"

namespace stagenets {

struct CrossValidation {
  std::vector<Split> splits;   // nothing is decided if there are none
  std::vector<double> alphas;  // penalties to try besides that of the network
  bool sizes = false;          // whether to try smaller sizes than that of the network
  // Units that a stage keeps meanwhile. Many at a time take less time and tell penalties apart as well.
  Index block = 1;
  // Standard errors by which the best choice must beat the network as it is.
  double caution = 0;
};

// Judged by the likelihood of labels if the network minimises the log-loss, otherwise by accuracy or R².
struct CrossValidated {
  double alpha = 0;
  Index size = 0;
  std::vector<Index> sizes;   // that were tried
  std::vector<double> means;  // quality of each of them with this penalty
};

template <class Scalar>
CrossValidated cross_validate(const TrainingData<Scalar>& data, const NetworkSettings& network,
                              const CrossValidation& choice, double max_memory, int threads,
                              const SearchProgress& progress, const Team::Poll& poll);

}  // namespace stagenets
