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

struct StagewiseSettings {
  double alpha = 1.0;
  Solver solver = Solver::automatic;
  double tol = 0.0;                 // stop when a stage lowers the objective by less than this fraction
  Index max_units = 0;              // what the source's plans add up to at the most
  Index block = 1;                  // most units a stage keeps
  Selection selection = Selection::residual;
  double score_fraction = 1.0;      // share of the rows that candidates are scored on
  std::uint64_t seed = 0;           // of the rows to score on
  bool leave_one_out = false;       // also find the leave-one-out scores
};

// What an observer is told after each stage; it answers whether to go on.
struct StageReport {
  Index stage;
  Index units;
  double objective;
  double residual_energy;
};
using Observer = std::function<bool(const StageReport&)>;

// The readout after every stage t: start + directions[:, :ends[t]] · steps[:ends[t], :].
struct ReadoutPath {
  MatrixD start;
  MatrixD directions;
  MatrixD steps;
  std::vector<Index> ends;
};

struct StagewiseFit {
  MatrixD readout;                              // Ω, a row a column of the design
  ReadoutPath path;
  std::vector<double> objective_path;           // before the first unit, then after each stage
  std::vector<double> residual_path;
  std::vector<std::array<Index, 2>> selected;   // (stage, candidate) of every unit kept
  std::vector<Index> loo_rows;                  // rows that have leave-one-out scores
  MatrixD loo_scores;                           // T − R / (1 − leverage) on those rows
  Profile profile;
};

// targets: n × q, unweighted; the design carries the weights.
template <class Scalar>
StagewiseFit fit_stagewise(Design<Scalar>& design, const RowBlocks& blocks, const MatrixD& targets,
                           const StagewiseSettings& settings, const Observer& observer, Team& team);

// The classic network (Selection::random): draws kept without a look, the readout by one Cholesky.
// fit_stagewise comes here by itself.
template <class Scalar>
StagewiseFit fit_one_shot(Design<Scalar>& design, const RowBlocks& blocks, const MatrixD& targets,
                          const StagewiseSettings& settings, Team& team);

}  // namespace residuum
