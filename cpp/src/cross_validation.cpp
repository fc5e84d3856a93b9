#include "stagenets/cross_validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stagenets {
namespace {

// The sizes to try: all of them, or, where each one is fitted by iterations, only every one that is about half as large
// again as the one before.
std::vector<Index> sizes_to_try(const NetworkSettings& network, const CrossValidation& choice) {
  const double growth = network.stages.loss == Loss::squared ? 1.0 : 1.5;
  const Index most = network.architecture->size();
  std::vector<Index> sizes;
  for (Index size = 1; choice.sizes && size < most;
       size = std::max(size + 1, static_cast<Index>(growth * static_cast<double>(size)))) {
    sizes.push_back(size);
  }
  sizes.push_back(most);
  return sizes;
}

// Whether the units chosen by the usual penalty may be fitted by the others too, which takes hardly longer than one fit:
// penalties are told apart as well by that. It needs the primal form throughout.
template <class Scalar>
bool penalties_share_units(const TrainingData<Scalar>& data, const NetworkSettings& network,
                           const CrossValidation& choice) {
  if (network.stages.one_shot() || network.stages.alpha <= 0) return false;
  const Task task = data.targets.task();
  if (network.stages.loss != Loss::squared) return task != Task::numbers;  // errors choose by scale
  if (task == Task::several_labels) return false;                          // thresholds differ
  if (network.stages.solver != Solver::automatic) return network.stages.solver == Solver::primal;
  const Index width = 1 + data.inputs.columns + network.architecture->max_units();
  return std::all_of(choice.splits.begin(), choice.splits.end(), [&](const Split& split) {
    return width < static_cast<Index>(split.train.size());
  });
}

// Readouts by log-loss that are this near their minimum tell penalties apart.
constexpr double kEnough = 1e-5;

// Quality of one penalty and size on every split.
using Scores = std::vector<double>;

double mean(const Scores& scores) {
  double sum = 0;
  for (const double score : scores) sum += score;
  return sum / static_cast<double>(scores.size());
}

// Whether scores are better than others by more than so many standard errors of their differences.
bool surely_better(const Scores& scores, const Scores& others, double errors) {
  Scores gains(scores);
  for (std::size_t i = 0; i < gains.size(); ++i) gains[i] -= others[i];
  const double gain = mean(gains), count = static_cast<double>(gains.size());
  double squares = 0;
  for (const double value : gains) squares += (value - gain) * (value - gain);
  const double error = count > 1 ? std::sqrt(squares / (count - 1) / count) : 0.0;
  return gain > errors * error;
}

}  // namespace

template <class Scalar>
CrossValidated cross_validate(const TrainingData<Scalar>& data, const NetworkSettings& network,
                              const CrossValidation& choice, double max_memory, int threads,
                              const SearchProgress& progress, const Team::Poll& poll) {
  std::vector<double> alphas = choice.alphas;
  if (std::find(alphas.begin(), alphas.end(), network.stages.alpha) == alphas.end()) {
    alphas.push_back(network.stages.alpha);
  }
  std::sort(alphas.rbegin(),
            alphas.rend());  // of equals, the larger penalty and the smaller size win
  NetworkSettings usual = network;
  usual.stages.block = choice.block;
  usual.stages.stopping = {};
  usual.stages.known = {};
  SearchSettings search;
  if (penalties_share_units(data, network, choice)) {
    search.families = {{usual}};
    search.alphas = alphas;
    search.tolerance = kEnough;
  } else {
    Family family;
    for (const double alpha : alphas) {
      family.push_back(usual);
      family.back().stages.alpha = alpha;
    }
    search.families = {std::move(family)};
  }
  search.sizes = sizes_to_try(network, choice);
  search.splits = choice.splits;
  search.measure = measure_for(network.stages.loss, data.targets.task());
  search.max_memory = max_memory;
  search.threads = threads;
  const SearchResults found = search_networks(data, search, nullptr, progress, poll);

  const std::size_t sizes = search.sizes.size();
  const auto scores_of = [&](std::size_t alpha, std::size_t size) {
    Scores scores;
    for (const std::vector<double>& split : found[alpha]) scores.push_back(split[size]);
    return scores;
  };
  const auto own = static_cast<std::size_t>(
      std::find(alphas.begin(), alphas.end(), network.stages.alpha) - alphas.begin());
  std::size_t best_alpha = 0, best_size = 0;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < alphas.size(); ++a) {
    for (std::size_t s = 0; s < sizes; ++s) {
      const double quality = mean(scores_of(a, s));
      if (!(quality > best)) continue;
      best = quality;
      best_alpha = a;
      best_size = s;
    }
  }
  const bool sure = choice.caution == 0 || surely_better(scores_of(best_alpha, best_size),
                                                         scores_of(own, sizes - 1), choice.caution);
  if (!sure) {
    best_alpha = own;
    best_size = sizes - 1;
  }
  CrossValidated chosen{alphas[best_alpha], search.sizes[best_size], search.sizes, {}};
  for (std::size_t size = 0; size < sizes; ++size) {
    chosen.means.push_back(mean(scores_of(best_alpha, size)));
  }
  return chosen;
}

template CrossValidated cross_validate<float>(const TrainingData<float>&, const NetworkSettings&,
                                              const CrossValidation&, double, int,
                                              const SearchProgress&, const Team::Poll&);
template CrossValidated cross_validate<double>(const TrainingData<double>&, const NetworkSettings&,
                                               const CrossValidation&, double, int,
                                               const SearchProgress&, const Team::Poll&);

}  // namespace stagenets
