#include "residuum/network_fit.hpp"

#include <stdexcept>

#include "residuum/leave_one_out.hpp"

namespace residuum {
namespace {

// From the design's rows [1?, U?, units] to the network's [x', units, 1], in raw terms.
template <class Scalar>
MatrixD raw_readout(const MatrixD& readout, bool intercept, bool direct_links,
                    const Inputs<Scalar>& inputs) {
  const Index ones = intercept ? 1 : 0, rest = readout.rows() - ones;
  MatrixD raw(rest + 1, readout.cols());
  raw.topRows(rest) = readout.bottomRows(rest);
  raw.row(rest).setZero();
  if (intercept) raw.row(rest) = readout.row(0);
  if (direct_links) {
    const Index p = inputs.columns();
    raw.topRows(p) = inputs.scale().cwiseInverse().asDiagonal() * raw.topRows(p);
    raw.row(rest) -= inputs.center().transpose() * raw.topRows(p);
  }
  return raw;
}

template <class Scalar>
void to_raw_terms(StagewiseFit& fit, bool intercept, bool direct_links,
                  const Inputs<Scalar>& inputs) {
  const auto convert = [&](MatrixD& readout) {
    readout = raw_readout(readout, intercept, direct_links, inputs);
  };
  if (fit.readout.cols() > 0) convert(fit.readout);  // a mere trace has none
  convert(fit.path.start);
  convert(fit.path.directions);
}

UnitWeights first_units(UnitWeights units, Index count) {
  if (count == units.biases.size()) return units;
  return {units.weights.leftCols(count), units.biases.head(count)};
}

// The nodes that a fit has kept: the first ones, if it went back to an earlier stage.
template <class Scalar>
NetworkFit broad_network(StagewiseFit fit, const BroadUnits<Scalar>& units,
                         const Inputs<Scalar>& inputs, const NetworkSettings& settings) {
  NetworkFit result;
  const Index kept = static_cast<Index>(fit.selected.size());
  FeatureNodes nodes = units.kept_features();
  const Index features = std::min(kept, nodes.gain.size());
  nodes.units = first_units(inputs.unstandardized(nodes.units), features);
  nodes.gain.conservativeResize(features);
  nodes.shift.conservativeResize(features);
  Network& network = result.network;
  network.hidden = first_units(units.kept_enhancement(), kept - features);
  network.hidden.weights.conservativeResize(features, Eigen::NoChange);
  network.features = Network::Features{std::move(nodes), settings.broad.feature_activation};
  network.activation = settings.broad.enhancement_activation;
  network.direct_links = true;  // of the feature nodes
  to_raw_terms(fit, settings.intercept, false, inputs);
  result.fit = std::move(fit);
  return result;
}

template <class Scalar>
NetworkFit affine_network(StagewiseFit fit, const AffineUnits<Scalar>& units,
                          const Inputs<Scalar>& inputs, const NetworkSettings& settings) {
  NetworkFit result;
  const Index kept = static_cast<Index>(fit.selected.size());
  result.network.hidden = first_units(inputs.unstandardized(units.kept_units()), kept);
  result.network.activation = settings.activation;
  result.network.direct_links = settings.direct_links();
  to_raw_terms(fit, settings.intercept, settings.direct_links(), inputs);
  result.fit = std::move(fit);
  return result;
}

double temperature_of(const StagewiseFit& fit, const Index* labels, const double* root_weights) {
  std::vector<Index> left_out_labels;
  std::vector<double> weights;
  for (const Index row : fit.loo_rows) {
    left_out_labels.push_back(labels[row]);
    if (root_weights) weights.push_back(root_weights[row] * root_weights[row]);
  }
  return fit_temperature(fit.loo_scores, left_out_labels, weights);
}

// Sparse units would gather columns out of row-major inputs at every stage; small inputs are turned once.
template <class Scalar>
bool worth_turning(const WeightDraws& draws, const TrainingData<Scalar>& data) {
  constexpr std::size_t kSmallBytes = std::size_t{48} << 20;
  const std::size_t bytes = static_cast<std::size_t>(data.rows * data.columns) * sizeof(Scalar);
  return draws.family == WeightFamily::sparse && !draws.custom && bytes <= kSmallBytes;
}

}  // namespace

Architecture architecture_from_name(const std::string& name) {
  if (name == "rvfl") return Architecture::rvfl;
  if (name == "elm") return Architecture::elm;
  if (name == "bls") return Architecture::bls;
  throw std::invalid_argument("architecture must be 'rvfl', 'elm' or 'bls'; got '" + name + "'");
}

int threads_worth(double operations, int threads) {
  constexpr double kOperationsWorthThreads = 2e6;
  return operations < kOperationsWorthThreads ? 1 : threads;
}

StagewiseSettings NetworkSettings::stages() const {
  const bool is_broad = architecture == Architecture::bls;
  StagewiseSettings stages = stagewise;
  stages.seed = draws.seed;
  stages.block = is_broad ? broad.block : budget.block;
  stages.max_units =
      is_broad ? broad.windows * broad.window_nodes + broad.enhancement : budget.units;
  return stages;
}

template <class Scalar>
std::unique_ptr<CandidateSource<Scalar>> make_units(const NetworkSettings& settings,
                                                    const Inputs<Scalar>& inputs,
                                                    const RowBlocks& blocks,
                                                    const double* root_weights, Team& team) {
  if (settings.architecture == Architecture::bls) {
    return std::make_unique<BroadUnits<Scalar>>(inputs, settings.draws, settings.broad, blocks,
                                                root_weights, team.size(), team);
  }
  return std::make_unique<AffineUnits<Scalar>>(inputs, settings.draws, settings.activation,
                                               settings.budget);
}

template <class Scalar>
NetworkFit network_of(StagewiseFit fit, const CandidateSource<Scalar>& units,
                      const Inputs<Scalar>& inputs, const NetworkSettings& settings) {
  if (settings.architecture == Architecture::bls) {
    return broad_network(std::move(fit), static_cast<const BroadUnits<Scalar>&>(units), inputs,
                         settings);
  }
  return affine_network(std::move(fit), static_cast<const AffineUnits<Scalar>&>(units), inputs,
                        settings);
}

template <class Scalar>
NetworkFit fit_network(const TrainingData<Scalar>& data, const NetworkSettings& settings,
                       const Observer& observer, const Team::Poll& poll) {
  const StagewiseSettings stages = settings.stages();
  const RowBlocks blocks = RowBlocks::for_fit(data.rows, data.columns);
  const double stage_operations = static_cast<double>(data.rows) *
                                  static_cast<double>(settings.pool()) *
                                  static_cast<double>(2 * data.columns + 20);
  NetworkFit result;
  Team::run(threads_worth(stage_operations, settings.threads), poll, [&](Team& team) {
    Inputs<Scalar> inputs(data.inputs, data.rows, data.columns, data.row_major);
    if (settings.standardize) inputs.standardize(data.root_weights, team);
    if (worth_turning(settings.draws, data)) inputs.turn(team);
    const auto units = make_units(settings, inputs, blocks, data.root_weights, team);
    Design<Scalar> design(inputs, settings.intercept, settings.direct_links(), *units,
                          data.root_weights, team.size());
    StagewiseFit fit = fit_stagewise(design, blocks, data.targets, stages, observer, team);
    result = network_of(std::move(fit), *units, inputs, settings);
  });
  if (data.labels) {
    result.temperature = temperature_of(result.fit, data.labels, data.root_weights);
  }
  return result;
}

template NetworkFit fit_network<float>(const TrainingData<float>&, const NetworkSettings&,
                                       const Observer&, const Team::Poll&);
template NetworkFit fit_network<double>(const TrainingData<double>&, const NetworkSettings&,
                                        const Observer&, const Team::Poll&);
template NetworkFit network_of<float>(StagewiseFit, const CandidateSource<float>&,
                                      const Inputs<float>&, const NetworkSettings&);
template NetworkFit network_of<double>(StagewiseFit, const CandidateSource<double>&,
                                       const Inputs<double>&, const NetworkSettings&);
template std::unique_ptr<CandidateSource<float>> make_units<float>(const NetworkSettings&,
                                                                   const Inputs<float>&,
                                                                   const RowBlocks&, const double*,
                                                                   Team&);
template std::unique_ptr<CandidateSource<double>> make_units<double>(const NetworkSettings&,
                                                                     const Inputs<double>&,
                                                                     const RowBlocks&,
                                                                     const double*, Team&);

}  // namespace residuum
