// The complete fit of an estimator: choose penalty and size by cross-validation if requested, then fit that network.
#pragma once

#include "stagenets/cross_validation.hpp"
#include "stagenets/fitted_network.hpp"

namespace stagenets {

struct FitRequest {
  NetworkSettings network;
  CrossValidation choice;
  int threads = 1;
  bool remember = false;    // whether the result has what a later fit needs to repeat the stages
  double max_memory = 2e9;  // of a cross-validation, in bytes
};

// The result of a fit.
struct Fit {
  std::shared_ptr<const FittedNetwork> network;
  FitHistory history;
  Link link;                    // what makes probabilities of scores
  double alpha = 0;             // the penalty, given or chosen
  std::vector<Index> cv_sizes;  // that a cross-validation has tried, if there was one
  std::vector<double> cv_path;  // their quality
  KnownStages known;            // if requested
  Profile profile;
};

// The observer is called after the stages of the final fit, `folds_done` during a cross-validation.
template <class Scalar>
Fit fit(const TrainingData<Scalar>& data, const FitRequest& request, const Observer& observer,
        const SearchProgress& folds_done, const Team::Poll& poll);

}  // namespace stagenets
