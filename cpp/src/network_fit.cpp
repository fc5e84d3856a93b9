#include "stagenets/network_fit.hpp"

#include "stagenets/raw_readout.hpp"

namespace stagenets {
namespace {

// Sparse units would gather columns from row-major inputs at every stage; small inputs are copied to column-major once.
template <class Scalar>
bool worth_column_major(const WeightDraws& draws, const InputView<Scalar>& inputs) {
  constexpr std::size_t kSmallBytes = std::size_t{48} << 20;
  const std::size_t bytes = static_cast<std::size_t>(inputs.stored()) * sizeof(Scalar);
  return draws.mostly_sparse() && bytes <= kSmallBytes;
}

}  // namespace

int threads_worth(double operations, int threads) {
  constexpr double kOperationsWorthThreads = 2e6;
  return operations < kOperationsWorthThreads ? 1 : threads;
}

template <class Scalar>
NetworkFit network_of(StagewiseFit fit, const NetworkUnits<Scalar>& units,
                      const Inputs<Scalar>& inputs, const NetworkSettings& settings,
                      const TargetScaling& targets) {
  NetworkFit result;
  result.network = units.network(static_cast<Index>(fit.history.selected.size()));
  result.network.bounds = inputs.bounds();
  const auto raw = [&](const MatrixD& readout) {
    return raw_readout(readout, inputs, settings.intercept, settings.architecture->links_inputs());
  };
  const auto raw_targets = [&](const MatrixD& readout) {
    MatrixD scaled = raw(readout) * targets.scale.asDiagonal();
    scaled.bottomRows(1) += targets.center;
    return scaled;
  };
  // A fit that records only its path has no readout.
  if (fit.readout.cols() > 0) result.readout = raw_targets(fit.readout);
  result.path = std::move(fit.path);
  result.path.start = raw_targets(result.path.start);
  result.path.directions = raw(result.path.directions);
  result.path.steps = result.path.steps * targets.scale.asDiagonal();
  result.history = std::move(fit.history);
  result.link = std::move(fit.link);
  result.path_links = std::move(fit.path_links);
  result.known = std::move(fit.known);
  result.profile = fit.profile;
  return result;
}

template <class Scalar>
double bytes_of_fit(const TrainingData<Scalar>& data, const NetworkSettings& settings) {
  const Architecture& architecture = *settings.architecture;
  const Index inputs = data.inputs.columns;
  const Index fixed = (settings.intercept ? 1 : 0) + (architecture.links_inputs() ? inputs : 0);
  const FitShape shape{data.inputs.rows,
                       inputs,
                       data.targets.outputs(),
                       fixed,
                       architecture.max_units(),
                       sizeof(Scalar),
                       architecture.links_inputs() && data.inputs.is_sparse()};
  return ridge_bytes(shape, settings.stages) + architecture.draw_bytes(inputs, settings.stages);
}

template <class Scalar>
NetworkFit fit_network(const TrainingData<Scalar>& data, const NetworkSettings& settings,
                       const Wanted& wanted, const Observer& observer, int threads,
                       const Team::Poll& poll) {
  const StagewiseSettings& stages = settings.stages;
  const Architecture& architecture = *settings.architecture;
  const RowBlocks blocks =
      RowBlocks::for_fit(data.inputs.rows, data.inputs.columns).completed_by(data.reduction);
  const Index pool = stages.one_shot() ? architecture.max_units() : stages.pool;
  const double stage_operations =
      static_cast<double>(pool) *
      static_cast<double>(2 * data.inputs.stored() + 20 * data.inputs.rows);
  const RowWeights weights = row_weights(data.weights, settings.class_weights, data.targets,
                                         stages.stopping.validation_rows, blocks);
  const double* root_weights = weights.root_data();
  const TargetScaling scaling = data.targets.scaling(root_weights, blocks);
  const Targets scaled = data.targets.scaled(scaling);
  NetworkFit result;
  const auto fit_with = [&](Team& team) {
    Inputs<Scalar> inputs(data.inputs);
    inputs.learn_scales(settings.scaling, root_weights, team, data.reduction);
    if (settings.extrapolate) inputs.extrapolate();
    if (worth_column_major(settings.draws, data.inputs)) inputs.to_column_major(team);
    const auto units = architecture.units(
        TrainingRows<Scalar>{inputs, blocks, root_weights, settings.draws, settings.stages, team});
    Design<Scalar> design(inputs, settings.intercept, architecture.links_inputs(), *units, weights,
                          team.size());
    StagewiseFit fit = fit_stagewise(design, blocks, scaled, stages, wanted, observer, team);
    result = network_of(std::move(fit), *units, inputs, settings, scaling);
  };
  with_memory("a fit", bytes_of_fit(data, settings),
              [&] { Team::run(threads_worth(stage_operations, threads), poll, fit_with); });
  return result;
}

#define STAGENETS_INSTANTIATE(Scalar)                                                          \
  template NetworkFit network_of<Scalar>(StagewiseFit, const NetworkUnits<Scalar>&,            \
                                         const Inputs<Scalar>&, const NetworkSettings&,        \
                                         const TargetScaling&);                                \
  template double bytes_of_fit<Scalar>(const TrainingData<Scalar>&, const NetworkSettings&);   \
  template NetworkFit fit_network<Scalar>(const TrainingData<Scalar>&, const NetworkSettings&, \
                                          const Wanted&, const Observer&, int, const Team::Poll&);
STAGENETS_INSTANTIATE(float)
STAGENETS_INSTANTIATE(double)
#undef STAGENETS_INSTANTIATE

}  // namespace stagenets
