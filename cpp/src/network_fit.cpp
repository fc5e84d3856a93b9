#include "stagenets/network_fit.hpp"

#include <stdexcept>

#include "stagenets/raw_readout.hpp"
#include "stagenets/row_loss.hpp"

namespace stagenets {
namespace {

// Sparse units would gather columns from row-major inputs at every stage; inputs are copied to column-major once if they
// are small or, in float32, no larger than Q. (In float64 it is single-precision copies of such inputs that pools see.)
template <class Scalar>
bool worth_column_major(const NetworkSettings& settings, const InputView<Scalar>& inputs) {
  constexpr Index kSmallBytes = Index{48} << 20, kBytes = sizeof(Scalar);
  if (!settings.draws.mostly_sparse() || inputs.is_sparse()) return false;
  const Index width = settings.architecture->max_units() +
                      (settings.architecture->links_inputs() ? inputs.columns : 0);
  const bool below_q =
      std::is_same_v<Scalar, float> && !settings.stages.one_shot() && inputs.columns <= width;
  return below_q || inputs.rows * inputs.columns * kBytes <= kSmallBytes;
}

// Standardised inputs, the architecture's units and their design, for what is to be fitted on them:
// `use(design, blocks, scaled targets, team, raw)`, where raw(fit) is the network in raw terms.
template <class Scalar, class Use>
void with_design(const TrainingData<Scalar>& data, const NetworkSettings& settings, int threads,
                 const Team::Poll& poll, const Use& use) {
  const StagewiseSettings& stages = settings.stages;
  const Architecture& architecture = *settings.architecture;
  const auto blocks_of = [&](Index rows) {
    return RowBlocks::for_fit(rows, data.inputs.columns).completed_by(data.reduction);
  };
  const RowBlocks input_blocks = blocks_of(data.inputs.rows),
                  blocks = blocks_of(data.design_rows());
  const Index pool = stages.one_shot() ? architecture.max_units() : stages.pool;
  const double per_row =
      static_cast<double>(data.inputs.stored()) / static_cast<double>(data.inputs.rows);
  const double stage_operations =
      static_cast<double>(data.design_rows()) * static_cast<double>(pool) * (2 * per_row + 20);
  const RowWeights weights = row_weights_of(data, settings, blocks);
  const double* input_roots = weights.input_root_data();
  const TargetScaling scaling =
      data.targets.scaling(weights.root_data(), blocks, center_for(stages.loss));
  const Targets scaled = data.targets.scaled(scaling);
  const auto fit_with = [&](Team& team) {
    Inputs<Scalar> inputs(data.inputs);
    inputs.learn_scales(settings.scaling, input_roots, team, data.reduction);
    if (settings.extrapolate) inputs.extrapolate();
    if (worth_column_major(settings, data.inputs)) inputs.to_column_major(team);
    const auto units =
        architecture.units(TrainingRows<Scalar>{inputs, input_blocks, input_roots, settings.draws,
                                                settings.stages, team, data.graph != nullptr});
    Design<Scalar> design(inputs, settings.intercept, architecture.links_inputs(), *units, weights,
                          team.size());
    use(design, blocks, scaled, team, [&](StagewiseFit fit) {
      return network_of(std::move(fit), *units, inputs, settings, scaling);
    });
  };
  with_memory("a fit", bytes_of_fit(data, settings),
              [&] { Team::run(threads_worth(stage_operations, threads), poll, fit_with); });
}

// Raw inputs far from zero times the readout of huge targets may overflow where their sum, the prediction, would not.
void require_finite_scores(const MatrixD& readout, const InputBounds& bounds, bool links_inputs) {
  bool finite = readout.allFinite();
  if (links_inputs && !bounds.unbounded()) {
    const VectorD sizes = bounds.lower.cwiseAbs().cwiseMax(bounds.upper.cwiseAbs());
    finite &= (sizes.transpose() * readout.topRows(sizes.size()).cwiseAbs()).allFinite();
  }
  if (!finite) {
    throw std::domain_error(
        "predictions overflow: the targets are too large for inputs so far from zero; divide the "
        "targets by their size or centre the inputs");
  }
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
  if (fit.readout.cols() > 0) {
    result.readout = raw_targets(fit.readout);
    require_finite_scores(result.readout, inputs.bounds(), settings.architecture->links_inputs());
  }
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
RowWeights row_weights_of(const TrainingData<Scalar>& data, const NetworkSettings& settings,
                          const RowBlocks& blocks) {
  const std::vector<Index>& set_aside = settings.stages.stopping.validation_rows;
  if (!data.graph) {
    return row_weights(data.weights, settings.class_weights, data.targets, set_aside, blocks);
  }
  const double factor =
      settings.stages.loss == Loss::squared ? 1.0 : majorizing_penalty(data.targets.task(), 1.0);
  return row_weights(data.weights, settings.class_weights, data.targets, set_aside, blocks,
                     *data.graph, data.inputs.rows, factor);
}

template <class Scalar>
double bytes_of_fit(const TrainingData<Scalar>& data, const NetworkSettings& settings) {
  const Architecture& architecture = *settings.architecture;
  const Index inputs = data.inputs.columns;
  const Index fixed = (settings.intercept ? 1 : 0) + (architecture.links_inputs() ? inputs : 0);
  const FitShape shape{data.design_rows(),
                       inputs,
                       data.targets.outputs(),
                       fixed,
                       architecture.max_units(),
                       sizeof(Scalar),
                       architecture.links_inputs() && data.inputs.is_sparse() && !data.graph};
  return ridge_bytes(shape, settings.stages) + architecture.draw_bytes(inputs, settings.stages);
}

template <class Scalar>
NetworkFit fit_network(const TrainingData<Scalar>& data, const NetworkSettings& settings,
                       const Wanted& wanted, const Observer& observer, int threads,
                       const Team::Poll& poll) {
  NetworkFit result;
  with_design(data, settings, threads, poll,
              [&](auto& design, const RowBlocks& blocks, const Targets& targets, Team& team,
                  const auto& raw) {
                result = raw(fit_stagewise(design, blocks, targets, settings.stages, wanted,
                                           observer, team));
              });
  return result;
}

template <class Scalar>
void fit_one_shot_networks(const TrainingData<Scalar>& data, const NetworkSettings& settings,
                           const std::vector<double>& alphas, const Wanted& wanted,
                           const Team::Poll& poll, const TakeNetwork& take) {
  with_design(data, settings, 1, poll,
              [&](auto& design, const RowBlocks& blocks, const Targets& targets, Team& team,
                  const auto& raw) {
                fit_one_shots(design, blocks, targets, settings.stages, alphas, wanted, team,
                              [&](StagewiseFit fit) { take(raw(std::move(fit))); });
              });
}

#define STAGENETS_INSTANTIATE(Scalar)                                                              \
  template NetworkFit network_of<Scalar>(StagewiseFit, const NetworkUnits<Scalar>&,                \
                                         const Inputs<Scalar>&, const NetworkSettings&,            \
                                         const TargetScaling&);                                    \
  template RowWeights row_weights_of<Scalar>(const TrainingData<Scalar>&, const NetworkSettings&,  \
                                             const RowBlocks&);                                    \
  template double bytes_of_fit<Scalar>(const TrainingData<Scalar>&, const NetworkSettings&);       \
  template NetworkFit fit_network<Scalar>(const TrainingData<Scalar>&, const NetworkSettings&,     \
                                          const Wanted&, const Observer&, int, const Team::Poll&); \
  template void fit_one_shot_networks<Scalar>(const TrainingData<Scalar>&, const NetworkSettings&, \
                                              const std::vector<double>&, const Wanted&,           \
                                              const Team::Poll&, const TakeNetwork&);
STAGENETS_INSTANTIATE(float)
STAGENETS_INSTANTIATE(double)
#undef STAGENETS_INSTANTIATE

}  // namespace stagenets
