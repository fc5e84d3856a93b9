// A fit in progress, between two stages: what it wants drawn next, and what it makes of the scores. Several
// runs on the same rows can go through their stages together and share every pool (search.hpp).
#pragma once

#include <optional>

#include "residuum/growing_ridge.hpp"
#include "residuum/validation.hpp"

namespace residuum {

template <class Scalar>
class StagewiseRun {
 public:
  // All arguments must outlive the run.
  StagewiseRun(Design<Scalar>& design, const RowBlocks& blocks, const MatrixD& targets,
               const StagewiseSettings& settings, Team& team);

  bool finished() const { return finished_; }
  StagePlan plan() const { return design_.source().plan(); }
  const RidgeState<Scalar>& state() const { return ridge_.state(); }
  Design<Scalar>& design() { return design_; }

  // Keeps the best of the pool that the source has drawn for this stage.
  void take(Index stage, const VectorD& scores, const Observer& observer);

  // What has been chosen so far and a path through these numbers of units (rising), without a final readout.
  StagewiseFit trace(std::vector<Index> units);
  // The network of the best stage, its readout refined where need be.
  StagewiseFit finish();

 private:
  void record();
  bool evidence_says_stop();

  Design<Scalar>& design_;
  const MatrixD& targets_;
  const StagewiseSettings& settings_;
  const MatrixD weighted_targets_;
  GrowingRidge<Scalar> ridge_;
  std::optional<ValidationRows<Scalar>> validation_;
  StagewiseFit fit_;
  double best_evidence_;
  bool finished_ = false;
};

}  // namespace residuum
