#include "stagenets/fit.hpp"

#include <stdexcept>

namespace stagenets {
namespace {

// Leave-one-out errors cost little where there are stages; labels need a link.
Wanted wanted_of(const Targets& targets, const StagewiseSettings& stages) {
  Wanted wanted;
  wanted.left_out_path = !stages.one_shot();
  wanted.link = targets.task() != Task::numbers;
  return wanted;
}

}  // namespace

template <class Scalar>
Fit fit(const TrainingData<Scalar>& data, const FitRequest& request, const Observer& observer,
        const SearchProgress& folds_done, const Team::Poll& poll) {
  NetworkSettings settings = request.network;
  const CrossValidation& choice = request.choice;
  const bool chooses = !choice.splits.empty() && settings.architecture->size() > 0;
  if (data.reduction && chooses) {
    throw std::invalid_argument("rows to cross-validate must all be in one place");
  }
  Fit result;
  if (chooses) {
    CrossValidated chosen;
    with_memory("a fit", bytes_of_fit(data, settings), [&] {
      chosen = cross_validate(data, settings, choice, request.max_memory, request.threads,
                              folds_done, poll);
    });
    settings = settings.with_size(chosen.size);
    settings.stages.alpha = chosen.alpha;
    result.cv_sizes = std::move(chosen.sizes);
    result.cv_path = std::move(chosen.means);
  }
  result.alpha = settings.stages.alpha;
  if (settings.stages.known.alpha != result.alpha) settings.stages.known = {};
  Wanted wanted = wanted_of(data.targets, settings.stages);
  wanted.known_stages = request.remember;
  NetworkFit fitted = fit_network(data, settings, wanted, observer, request.threads, poll);
  result.network = std::make_shared<const FittedNetwork>(
      std::move(fitted.network), std::move(fitted.readout), std::move(fitted.path));
  result.history = std::move(fitted.history);
  result.link = std::move(fitted.link);
  result.known = std::move(fitted.known);
  result.known.alpha = result.alpha;
  result.profile = fitted.profile;
  return result;
}

template Fit fit<float>(const TrainingData<float>&, const FitRequest&, const Observer&,
                        const SearchProgress&, const Team::Poll&);
template Fit fit<double>(const TrainingData<double>&, const FitRequest&, const Observer&,
                         const SearchProgress&, const Team::Poll&);

}  // namespace stagenets
