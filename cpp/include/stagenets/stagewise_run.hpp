// A fit in progress, between two stages: what to draw next, and what to keep given the scores. Several runs
// on the same rows can go through their stages together and share every pool (search.hpp).
#pragma once

#include <optional>

#include "stagenets/growing_ridge.hpp"
#include "stagenets/majorized_path.hpp"
#include "stagenets/stagewise.hpp"
#include "stagenets/validation.hpp"

namespace stagenets {

template <class Scalar>
class StagewiseRun {
 public:
  // All arguments must outlive the run.
  StagewiseRun(Design<Scalar>& design, const RowBlocks& blocks, const Targets& targets,
               const StagewiseSettings& settings, const Wanted& wanted, Team& team);

  bool finished() const { return finished_; }
  StagePlan plan() const { return design_.source().plan(); }
  const RidgeState<Scalar>& state() const { return ridge_.state(); }

  // How many candidates the next stage looks at, unless some of them add nothing.
  Index considered() const { return ridge_.considered(plan()); }

  // Keeps the best of the pool that the source has drawn for this stage, records it and decides whether to continue.
  void end_stage(Index stage, RankedPool pool, const Observer& observer);

  // The units chosen so far, and a path through these numbers of units (increasing), with links if requested
  // but without a final readout.
  StagewiseFit trace(std::vector<Index> units);
  // The same by one of the penalties wanted; empty if rounding makes that impossible.
  std::optional<StagewiseFit> trace_by(std::size_t penalty, std::vector<Index> units);
  // The network of the best stage, with its readout refined if necessary.
  StagewiseFit finish();

 private:
  typename GrowingRidge<Scalar>::Appended append(RankedPool& ranking);
  // Units are chosen by squared errors of labels, and by the errors of the loss itself of numbers, which have outliers.
  void tell_errors();
  void record();
  Link present_link() const;
  void finish_ridge();
  void finish_majorized();
  // The quality of the network so far, by the criterion for stopping; larger is better.
  double merit() const;
  void note_if_best();
  bool out_of_patience() const;

  Design<Scalar>& design_;
  const StagewiseSettings& settings_;
  const Wanted& wanted_;
  const Task task_;
  const MatrixD weighted_targets_;
  const std::optional<Calibration> calibration_;
  GrowingRidge<Scalar> ridge_;
  std::optional<MajorizedPath<Scalar>> majorized_;  // unless the loss is squared
  std::optional<ValidationRows<Scalar>> validation_;
  StagewiseFit fit_;
  double best_merit_;
  CalibrationState best_calibration_;
  bool finished_ = false;
};

}  // namespace stagenets
