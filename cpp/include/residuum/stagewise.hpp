// Algorithm 1: the residual-guided stagewise construction of a randomized network. Knows nothing of
// the architecture; that is the CandidateSource's.
#pragma once

#include <array>
#include <functional>

#include "residuum/design.hpp"

namespace residuum {

enum class Solver { automatic, primal, dual };
Solver solver_from_name(const std::string& name);

// How units are picked from a pool: none is (the pool is kept whole), by the paper's score, or by the
// true joint drop of the objective among the best of the paper's scores.
enum class Selection { random, residual, joint };
Selection selection_from_name(const std::string& name);

// Evidence that further units no longer help: the leave-one-out error, or the score (accuracy or R²) on
// rows without weight. After `patience` stages without a new best the fit ends, and the model kept is the
// best stage's.
enum class Evidence { none, leave_one_out, validation };
Evidence evidence_from_name(const std::string& name);

struct Stopping {
  Evidence evidence = Evidence::none;
  Index patience = 10;
  std::vector<Index> validation_rows;
};

struct StagewiseSettings {
  double alpha = 1.0;
  Solver solver = Solver::automatic;
  double tol = 0.0;     // stop when a stage lowers the objective by less than this fraction
  Index max_units = 0;  // what the source's plans add up to at the most
  Index block = 1;      // most units a stage keeps
  Selection selection = Selection::residual;
  double score_fraction = 1.0;  // share of the rows that candidates are scored on
  std::uint64_t seed = 0;       // of the rows to score on
  bool classification = false;  // targets are one-hot classes
  bool leave_one_out = false;   // follow the leave-one-out error from stage to stage
  bool loo_scores = false;      // also give the leave-one-out scores of the model kept
  Stopping stopping;
  std::vector<Index> path_units;  // one-shot networks: further numbers of units to have on the path
};

// What an observer is told after each stage; it answers whether to go on.
struct StageReport {
  Index stage;
  Index units;
  double objective;
  double residual_energy;
  double validation_score;  // NaN without validation rows
};
using Observer = std::function<bool(const StageReport&)>;

// The readout after every stage t: start + directions[:, :ends[t]] · steps[:ends[t], :].
struct ReadoutPath {
  MatrixD start;
  MatrixD directions;
  MatrixD steps;
  std::vector<Index> ends;
  bool column_per_unit =
      false;  // each unit has its own direction, and the path can be cut at any unit
};

// The path from each of some readouts, `outputs` columns each and side by side, to the next.
ReadoutPath path_between(const MatrixD& readouts, Index outputs);

// Where the scores of a stage's pool lie: least, quartiles, greatest.
using PoolQuantiles = std::array<double, 5>;

// Paths describe every stage that was run; readout, its path and the units are those of the best stage,
// which without early stopping is the last.
struct StagewiseFit {
  MatrixD readout;  // Ω, a row a column of the design
  ReadoutPath path;
  Index best_stage = 0;           // number of stages kept
  std::vector<Index> units_path;  // before the first unit, then after each stage
  std::vector<double> objective_path;
  std::vector<double> residual_path;
  std::vector<double> loo_error_path;          // mean squared leave-one-out error, if followed
  std::vector<double> loo_accuracy_path;       // and accuracy, of classifiers
  std::vector<double> validation_path;         // score on the validation rows, if any
  std::vector<std::array<Index, 2>> selected;  // (stage, candidate) of every unit kept
  std::vector<double> unit_scores;             // the paper's score of every unit kept, when chosen
  std::vector<PoolQuantiles> pool_quantiles;   // a row a stage
  std::vector<Index> loo_rows;                 // rows that have leave-one-out scores
  MatrixD loo_scores;                          // T − R / (1 − leverage) on those rows
  Profile profile;
};

// targets: n × q, unweighted; the design carries the weights. Paths of a one-shot network have no score.
template <class Scalar>
StagewiseFit fit_stagewise(Design<Scalar>& design, const RowBlocks& blocks, const MatrixD& targets,
                           const StagewiseSettings& settings, const Observer& observer, Team& team);

// The classic network (Selection::random): draws kept without a look, the readout by one Cholesky.
// fit_stagewise comes here by itself.
template <class Scalar>
StagewiseFit fit_one_shot(Design<Scalar>& design, const RowBlocks& blocks, const MatrixD& targets,
                          const StagewiseSettings& settings, Team& team);

}  // namespace residuum
