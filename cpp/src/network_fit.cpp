#include "residuum/network_fit.hpp"

#include <memory>
#include <stdexcept>

#include "residuum/affine_units.hpp"
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

double temperature_of(const StagewiseFit& fit, const Index* labels, const double* root_weights) {
  std::vector<Index> left_out_labels;
  std::vector<double> weights;
  for (const Index row : fit.loo_rows) {
    left_out_labels.push_back(labels[row]);
    if (root_weights) weights.push_back(root_weights[row] * root_weights[row]);
  }
  return fit_temperature(fit.loo_scores, left_out_labels, weights);
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

template <class Scalar>
NetworkFit fit_network(const TrainingData<Scalar>& data, const NetworkSettings& settings,
                       const Observer& observer, const Team::Poll& poll) {
  const bool broad = settings.architecture == Architecture::bls;
  const bool direct_links = settings.architecture == Architecture::rvfl;
  const Index pool = broad ? std::max(settings.broad.pool, settings.broad.enhancement)
                           : settings.budget.pool;
  StagewiseSettings stagewise = settings.stagewise;
  stagewise.leave_one_out = data.labels != nullptr;
  stagewise.seed = settings.draws.seed;
  stagewise.block = broad ? settings.broad.block : settings.budget.block;
  stagewise.max_units =
      broad ? settings.broad.windows * settings.broad.window_nodes + settings.broad.enhancement
            : settings.budget.units;
  const RowBlocks blocks =
      RowBlocks::for_width(data.rows, data.columns, pool + data.targets.cols());
  const double stage_operations = static_cast<double>(data.rows) * static_cast<double>(pool) *
                                  static_cast<double>(2 * data.columns + 20);

  NetworkFit result;
  Network& network = result.network;
  Team::run(threads_worth(stage_operations, settings.threads), poll, [&](Team& team) {
    Inputs<Scalar> inputs(data.inputs, data.rows, data.columns, data.row_major);
    if (settings.standardize) inputs.standardize(data.root_weights, team);

    std::unique_ptr<CandidateSource<Scalar>> source;
    if (broad) {
      source = std::make_unique<BroadUnits<Scalar>>(inputs, settings.draws, settings.broad, blocks,
                                                    data.root_weights, team.size(), team);
    } else {
      source = std::make_unique<AffineUnits<Scalar>>(inputs, settings.draws, settings.activation,
                                                     settings.budget);
    }
    Design<Scalar> design(inputs, settings.intercept, direct_links, *source, data.root_weights,
                          team.size());
    result.fit = fit_stagewise(design, blocks, data.targets, stagewise, observer, team);

    if (broad) {
      const auto& units = static_cast<const BroadUnits<Scalar>&>(*source);
      network.features = Network::Features{units.kept_features(), settings.broad.feature_activation};
      network.features->nodes.units = inputs.unstandardized(network.features->nodes.units);
      network.hidden = units.kept_enhancement();
      network.activation = settings.broad.enhancement_activation;
      network.direct_links = true;  // of the feature nodes
    } else {
      const auto& units = static_cast<const AffineUnits<Scalar>&>(*source);
      network.hidden = inputs.unstandardized(units.kept_units());
      network.activation = settings.activation;
      network.direct_links = direct_links;
    }
    const auto in_raw_terms = [&](MatrixD& readout) {
      readout = raw_readout(readout, settings.intercept, direct_links, inputs);
    };
    in_raw_terms(result.fit.readout);
    in_raw_terms(result.fit.path.start);
    in_raw_terms(result.fit.path.directions);
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

}  // namespace residuum
