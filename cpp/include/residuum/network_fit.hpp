// From raw inputs and targets to a network in raw terms: standardise, build the architecture's
// source of candidates, run the stages, fold the standardisation into the weights.
#pragma once

#include <memory>

#include "residuum/affine_units.hpp"
#include "residuum/network.hpp"
#include "residuum/stagewise.hpp"

namespace residuum {

enum class Architecture { rvfl, elm, bls };
Architecture architecture_from_name(const std::string& name);

struct NetworkSettings {
  // The settings of the stages, completed by what follows from the architecture.
  StagewiseSettings stages() const;
  Index pool() const {
    return architecture == Architecture::bls ? std::max(broad.pool, broad.enhancement)
                                             : budget.pool;
  }
  // What a path of networks varies: hidden units, or enhancement nodes of a BLS.
  Index size() const {
    return architecture == Architecture::bls ? broad.enhancement : budget.units;
  }
  void set_size(Index units) {
    (architecture == Architecture::bls ? broad.enhancement : budget.units) = units;
  }
  bool direct_links() const { return architecture == Architecture::rvfl; }

  Architecture architecture = Architecture::rvfl;
  Activation activation = Activation::sigmoid;  // RVFL and ELM
  Budget budget;                                // RVFL and ELM
  BroadSettings broad;                          // BLS
  WeightDraws draws;
  bool intercept = true;
  bool standardize = true;
  StagewiseSettings stagewise;
  int threads = 1;
};

// What the caller hands over; pointers must outlive the fit. Labels (class of every row) are for
// classification, root_weights (roots of the row weights) may be null.
template <class Scalar>
struct TrainingData {
  const Scalar* inputs;
  Index rows, columns;
  bool row_major;
  const MatrixD& targets;
  const Index* labels = nullptr;
  const double* root_weights = nullptr;
};

struct NetworkFit {
  Network network;
  StagewiseFit fit;          // readout and path in the network's rows: [x', hidden, intercept]
  double temperature = 1.0;  // of softmax(τ · scores); 1 without labels
};

// The architecture's source of candidates; inputs, blocks and root_weights (may be null) must outlive it.
template <class Scalar>
std::unique_ptr<CandidateSource<Scalar>> make_units(const NetworkSettings& settings,
                                                    const Inputs<Scalar>& inputs,
                                                    const RowBlocks& blocks,
                                                    const double* root_weights, Team& team);

// The network a fit has chosen from such a source; readout and path go over from the design's rows
// [1?, U?, units] to the network's, everything in raw terms.
template <class Scalar>
NetworkFit network_of(StagewiseFit fit, const CandidateSource<Scalar>& units,
                      const Inputs<Scalar>& inputs, const NetworkSettings& settings);

template <class Scalar>
NetworkFit fit_network(const TrainingData<Scalar>& data, const NetworkSettings& settings,
                       const Observer& observer, const Team::Poll& poll);

// Threads that pay for this much work (floating-point operations between two synchronisations).
int threads_worth(double operations, int threads);

}  // namespace residuum
