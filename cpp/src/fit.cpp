#include "stagenets/fit.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace stagenets {
namespace {

// The sizes to cross-validate: all of them, or, where each one is fitted by iterations, only every one that is about
// 15 % larger than the one before.
std::vector<Index> sizes_to_try(const NetworkSettings& network) {
  const double growth = network.stages.loss == Loss::squared ? 1.0 : 1.15;
  const Index most = network.architecture->size();
  std::vector<Index> sizes;
  for (Index size = 1; size < most;
       size = std::max(size + 1, static_cast<Index>(growth * static_cast<double>(size)))) {
    sizes.push_back(size);
  }
  if (most > 0) sizes.push_back(most);
  return sizes;
}

// Mean score over the splits of every size from one unit on; NaN for sizes that were not tried.
template <class Scalar>
std::vector<double> cross_validated_path(const TrainingData<Scalar>& data,
                                         const FitRequest& request,
                                         const SearchProgress& folds_done, const Team::Poll& poll) {
  SearchSettings search;
  search.families = {{request.network}};
  search.families.front().front().stages.stopping = {};
  search.families.front().front().stages.known = {};
  search.sizes = sizes_to_try(request.network);
  search.splits = request.network.stages.stopping.splits;
  search.max_memory = request.max_memory;
  search.threads = request.threads;
  if (search.sizes.empty()) return {};
  const SearchResults found = search_networks(data, search, nullptr, folds_done, poll);
  std::vector<double> means(static_cast<std::size_t>(search.sizes.back()),
                            std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < search.sizes.size(); ++i) {
    double sum = 0;
    for (const std::vector<double>& split : found.front()) sum += split[i];
    means[static_cast<std::size_t>(search.sizes[i]) - 1] =
        sum / static_cast<double>(search.splits.size());
  }
  return means;
}

// The size with the best score, the smallest of equals; sizes that were not tried do not count.
Index best_size(const std::vector<double>& path) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (path[i] > path[best]) best = i;
  }
  return static_cast<Index>(best) + 1;
}

// Leave-one-out errors cost little where there are stages; classes need a temperature.
Wanted wanted_of(const Targets& targets, const StagewiseSettings& stages) {
  Wanted wanted;
  wanted.left_out_path = !stages.one_shot();
  wanted.temperature = targets.task() == Task::one_label;
  return wanted;
}

}  // namespace

template <class Scalar>
Fit fit(const TrainingData<Scalar>& data, const FitRequest& request, const Observer& observer,
        const SearchProgress& folds_done, const Team::Poll& poll) {
  NetworkSettings settings = request.network;
  const StopBy stop_by = settings.stages.stopping.by;
  if (data.reduction && stop_by == StopBy::cross_validation) {
    throw std::invalid_argument("rows to cross-validate must all be in one place");
  }
  Fit result;
  if (settings.stages.stopping.by == StopBy::cross_validation) {
    settings.stages.stopping = {};
    with_memory("a fit", bytes_of_fit(data, settings),
                [&] { result.cv_path = cross_validated_path(data, request, folds_done, poll); });
    if (!result.cv_path.empty()) settings = settings.with_size(best_size(result.cv_path));
  }
  Wanted wanted = wanted_of(data.targets, settings.stages);
  wanted.known_stages = request.remember;
  NetworkFit fitted = fit_network(data, settings, wanted, observer, request.threads, poll);
  result.network = std::make_shared<const FittedNetwork>(
      std::move(fitted.network), std::move(fitted.readout), std::move(fitted.path));
  result.history = std::move(fitted.history);
  result.temperature = fitted.temperature;
  result.known = std::move(fitted.known);
  result.profile = fitted.profile;
  return result;
}

template Fit fit<float>(const TrainingData<float>&, const FitRequest&, const Observer&,
                        const SearchProgress&, const Team::Poll&);
template Fit fit<double>(const TrainingData<double>&, const FitRequest&, const Observer&,
                         const SearchProgress&, const Team::Poll&);

}  // namespace stagenets
