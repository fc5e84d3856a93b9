// The complete fit of an estimator: find the size by cross-validation if requested, then fit a network of that size.
#pragma once

#include "stagenets/fitted_network.hpp"
#include "stagenets/search.hpp"

namespace stagenets {

struct FitRequest {
  NetworkSettings network;
  int threads = 1;
  bool remember = false;    // whether the result has what a later fit needs to repeat the stages
  double max_memory = 2e9;  // of a cross-validation, in bytes
};

// The result of a fit.
struct Fit {
  std::shared_ptr<const FittedNetwork> network;
  FitHistory history;
  Link link;  // what makes probabilities of scores
  std::vector<double>
      cv_path;  // mean score of every size from 1 (NaN if not tried), if cross-validation chose it
  KnownStages known;  // if requested
  Profile profile;
};

// The observer is called after the stages of the final fit, `folds_done` while a size is cross-validated.
template <class Scalar>
Fit fit(const TrainingData<Scalar>& data, const FitRequest& request, const Observer& observer,
        const SearchProgress& folds_done, const Team::Poll& poll);

}  // namespace stagenets
