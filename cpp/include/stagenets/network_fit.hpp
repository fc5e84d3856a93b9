// From raw inputs and targets to a network in raw terms: standardise both, build the architecture's source of
// candidates, run the stages, fold the scaling into weights and readout.
#pragma once

#include <memory>

#include "stagenets/architecture.hpp"
#include "stagenets/input_view.hpp"
#include "stagenets/sizes.hpp"
#include "stagenets/stagewise.hpp"

namespace stagenets {

struct NetworkSettings {
  // The same settings with another size.
  NetworkSettings with_size(Index size) const {
    NetworkSettings other = *this;
    other.architecture = architecture->with_size(size);
    return other;
  }

  std::shared_ptr<const Architecture> architecture;
  WeightDraws draws;
  bool intercept = true;
  Scaling scaling = Scaling::deviation;
  bool extrapolate = false;  // whether inputs outside their training range are taken as they are
  ClassWeights class_weights;
  StagewiseSettings stages;
};

// Data that the caller provides and keeps alive. There is one weight per row, none of them negative; null for ones.
// With a reduction, these are the rows of one process of several. With a graph, the last rows may have no targets.
template <class Scalar>
struct TrainingData {
  // Rows of the design: of the targets, and pairs of the graph.
  Index design_rows() const { return targets.rows() + (graph ? graph->size() : 0); }

  InputView<Scalar> inputs;
  const Targets& targets;
  const double* weights = nullptr;
  const Reduction* reduction = nullptr;
  const RowGraph* graph = nullptr;
};

// What the rows count in a fit with these settings.
template <class Scalar>
RowWeights row_weights_of(const TrainingData<Scalar>& data, const NetworkSettings& settings,
                          const RowBlocks& blocks);

// A fitted network with the history of its fit.
struct NetworkFit {
  Network network;
  MatrixD readout;   // one row per network column: [inputs (if linked), units, 1]
  ReadoutPath path;  // in the same rows
  FitHistory history;
  Link link;                     // the identity unless requested
  std::vector<Link> path_links;  // if requested
  KnownStages known;             // if requested
  Profile profile;
};

// The network that a stagewise fit has chosen from a source: readout and path are converted from the design's rows
// [1?, U?, units] to the network's, for raw inputs and targets. The history stays in terms of scaled targets.
template <class Scalar>
NetworkFit network_of(StagewiseFit fit, const NetworkUnits<Scalar>& units,
                      const Inputs<Scalar>& inputs, const NetworkSettings& settings,
                      const TargetScaling& targets);

// Fits one network of the size given in the settings.
template <class Scalar>
NetworkFit fit_network(const TrainingData<Scalar>& data, const NetworkSettings& settings,
                       const Wanted& wanted, const Observer& observer, int threads,
                       const Team::Poll& poll);

// One-shot networks by squared error that differ only in these penalties, which replace that of the settings. They are
// drawn once, and handed over one by one.
using TakeNetwork = std::function<void(NetworkFit)>;
template <class Scalar>
void fit_one_shot_networks(const TrainingData<Scalar>& data, const NetworkSettings& settings,
                           const std::vector<double>& alphas, const Wanted& wanted,
                           const Team::Poll& poll, const TakeNetwork& take);

// Bytes that such a fit takes at least.
template <class Scalar>
double bytes_of_fit(const TrainingData<Scalar>& data, const NetworkSettings& settings);

// The number of threads worth using for this much work (floating-point operations between two synchronisations).
int threads_worth(double operations, int threads);

}  // namespace stagenets
