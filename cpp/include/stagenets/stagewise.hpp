// Algorithm 1: the residual-guided stagewise construction of a randomized network. It knows nothing
// about the architecture, which is the task of the CandidateSource.
#pragma once

#include <functional>

#include "stagenets/calibration.hpp"
#include "stagenets/design.hpp"
#include "stagenets/readout_path.hpp"
#include "stagenets/targets.hpp"

namespace stagenets {

// The state passed to an observer after each stage; the observer returns whether to continue.
struct StageReport {
  Index stage;
  Index units;
  Index max_units;  // that the fit may build
  double objective;
  double residual_energy;
  double validation_score;  // NaN without validation rows
};
using Observer = std::function<bool(const StageReport&)>;

// How a network was built. Paths describe every stage that was run, and their first entry is the state before the first
// unit; the units are those of the best stage, which is the last one without early stopping.
struct FitHistory {
  Index best_stage = 0;           // number of stages kept
  std::vector<Index> units_path;  // units so far
  std::vector<double> objective_path;
  std::vector<double> residual_path;  // the objective without its penalty
  std::vector<double>
      loo_error_path;  // mean leave-one-out loss, if requested; estimated for the log-loss
  std::vector<double> loo_accuracy_path;       // leave-one-out accuracy, where rows have one label
  std::vector<double> validation_path;         // score on the validation rows, if any
  std::vector<std::array<Index, 2>> selected;  // (stage, candidate) of every unit kept
  std::vector<double> unit_scores;             // the paper's score of every unit kept, when chosen
  std::vector<PoolQuantiles> pool_quantiles;   // one entry per stage run

  Index stages() const { return static_cast<Index>(units_path.size()) - 1; }
};

struct StagewiseFit {
  MatrixD readout;  // Ω, one row per design column
  ReadoutPath path;
  FitHistory history;
  Link link;                     // the identity unless requested
  std::vector<Link> path_links;  // the same for every size, if requested
  KnownStages known;             // all stages that were run, if requested
  Profile profile;
};

// The design carries the weights; `targets` are unweighted and centred.
template <class Scalar>
StagewiseFit fit_stagewise(Design<Scalar>& design, const RowBlocks& blocks, const Targets& targets,
                           const StagewiseSettings& settings, const Wanted& wanted,
                           const Observer& observer, Team& team);

// Classic networks (Selection::random, Loss::squared): all draws are kept, and the readout comes from one Cholesky
// factorisation for each of these penalties, which replace that of the settings. Fits are handed over one by one.
using TakeFit = std::function<void(StagewiseFit)>;
template <class Scalar>
void fit_one_shots(Design<Scalar>& design, const RowBlocks& blocks, const Targets& targets,
                   const StagewiseSettings& settings, const std::vector<double>& alphas,
                   const Wanted& wanted, Team& team, const TakeFit& take);

// The same by the penalty of the settings. Called by fit_stagewise when needed; the observer is called once, at the end.
template <class Scalar>
StagewiseFit fit_one_shot(Design<Scalar>& design, const RowBlocks& blocks, const Targets& targets,
                          const StagewiseSettings& settings, const Wanted& wanted,
                          const Observer& observer, Team& team);

}  // namespace stagenets
