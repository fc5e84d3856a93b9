// The kind of network to build: its sizes, the source of its candidate units, and the network made of the units kept.
// To add an architecture, derive a class from this with its candidate source, in one file, and write a binding for it.
#pragma once

#include <memory>

#include "stagenets/candidates.hpp"
#include "stagenets/inputs.hpp"
#include "stagenets/network.hpp"
#include "stagenets/sizes.hpp"
#include "stagenets/weight_draws.hpp"

namespace stagenets {

// A candidate source whose units form a network.
template <class Scalar>
class NetworkUnits : public CandidateSource<Scalar> {
 public:
  // The first `count` of the units kept, for raw inputs.
  virtual Network network(Index count) const = 0;
};

// The data available to a source of candidates. All of it outlives the source.
template <class Scalar>
struct TrainingRows {
  const Inputs<Scalar>& inputs;
  const RowBlocks& blocks;
  const double* root_weights;  // null for equal weights
  const WeightDraws& draws;
  const StagewiseSettings& stages;
  Team& team;
  bool pairs = false;  // whether the design has differences of rows as well
};

class Architecture {
 public:
  virtual ~Architecture() = default;

  // The size that varies along a path of networks: the number of hidden units, or of enhancement nodes.
  virtual Index size() const = 0;
  virtual std::shared_ptr<const Architecture> with_size(Index size) const = 0;
  // All units, including those whose number does not vary along a path.
  virtual Index max_units() const = 0;
  // Whether the inputs themselves feed the readout.
  virtual bool links_inputs() const = 0;
  // Whether the first h units of a network drawn in one shot are the network of size h.
  virtual bool one_shots_are_nested() const = 0;
  // Bytes that drawing the candidates of a stage takes at least.
  virtual double draw_bytes(Index inputs, const StagewiseSettings& stages) const {
    return pool_bytes(stages.one_shot() ? max_units() : stages.pool, inputs);
  }

  virtual std::unique_ptr<NetworkUnits<float>> units(const TrainingRows<float>& rows) const = 0;
  virtual std::unique_ptr<NetworkUnits<double>> units(const TrainingRows<double>& rows) const = 0;
};

}  // namespace stagenets
