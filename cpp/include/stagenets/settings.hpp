// The settings of a fit, apart from its architecture: the ridge problem, how units are chosen, and when to stop.
// Plain values whose defaults are stated once; nothing changes them during a fit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "stagenets/index.hpp"
#include "stagenets/ranked_pool.hpp"

namespace stagenets {

enum class Solver { automatic, primal, dual };
Solver solver_from_name(const std::string& name);

// What the readout minimises besides the penalty: Σ ‖error‖² with λ‖Ω‖²; the log-loss of labels, or Huber's loss of
// numbers; or a bounded loss of either (RowLoss).
enum class Loss { squared, log, huber, bounded };
Loss loss_from_name(const std::string& name);

// How units are chosen from a pool: not at all (the whole pool is kept, as in the classic one-shot network), by the
// paper's score, or by the true joint drop of the objective among those with the best scores.
enum class Selection { random, residual, joint };
Selection selection_from_name(const std::string& name);

// What a fit keeps for every row: the columns of its factor, or only residuals, with those columns made again from
// the inputs whenever they are needed.
enum class Store { memory, recompute };
Store store_from_name(const std::string& name);

// How inputs are scaled: not at all; to mean 0 and deviation 1; like that except that columns with wild values, whose
// mean and deviation say nothing about the other rows, are scaled by their median and quartiles; or all by one number, so
// that values other than zero are of size 1, without a centre.
enum class Scaling { none, deviation, robust, common };
Scaling scaling_from_name(const std::string& name);

// The criterion for stopping early: none, the leave-one-out error, or the score (accuracy or R²) on rows set aside.
enum class StopBy { nothing, leave_one_out, validation };
StopBy stop_by_from_name(const std::string& name);

// Training and test rows.
struct Split {
  std::vector<Index> train, test;
};

// With a criterion, the fit ends after `patience` stages without a new best, and the model of the best stage is kept.
struct Stopping {
  StopBy by = StopBy::nothing;
  Index patience = 20;
  std::vector<Index> validation_rows;
};

// Blocks that grow with the network: the first units are chosen one at a time, as each changes most of what the next ones
// are for; later, where one among many changes little, several at once are as good and save passes over the rows. Only
// a joint choice has no near-duplicates in a block; without it, all units are chosen one at a time.
constexpr Index kGrowing = 0;

// Candidates are scored on so many rows that more would hardly change who is on the shortlist; on all of fewer.
constexpr double kEnoughRows = 0;
constexpr Index kManyRows = 65536;  // beyond which that is fewer than all

struct StagewiseSettings {
  Loss loss = Loss::squared;
  double alpha = 1.0;
  Solver solver = Solver::automatic;
  Store store = Store::memory;
  double tol = 0.0;  // stop when a stage lowers the objective by less than this fraction
  Index pool = 100;  // candidates a stage draws
  Index block = 1;   // maximum number of units a stage keeps, or kGrowing
  Selection selection = Selection::residual;
  double score_fraction =
      1.0;                 // fraction of the rows on which candidates are scored, or kEnoughRows
  std::uint64_t seed = 0;  // of the rows to score on
  Stopping stopping;
  KnownStages known;  // from an earlier fit; empty if there was none

  bool one_shot() const { return selection == Selection::random; }
  Index block_after(Index kept) const;
  // Of a network of so many units.
  Index largest_block(Index units) const { return block_after(std::max<Index>(0, units - 1)); }
};

// How many units a stage may keep after so many have been kept.
inline Index StagewiseSettings::block_after(Index kept) const {
  constexpr Index kUnitsPerOne = 25, kCandidatesPerOne = 25;
  if (block != kGrowing) return block;
  if (selection != Selection::joint) return 1;
  return std::min(1 + kept / kUnitsPerOne, std::max<Index>(1, pool / kCandidatesPerOne));
}

// Iterations end where a step would lower the objective by less than this fraction of it.
constexpr double kNegligible = 1e-8;

// The results of a fit that the caller wants besides the readout.
struct Wanted {
  bool left_out_path = false;  // the leave-one-out error after every stage
  bool link = false;  // what makes probabilities of the final network's scores; for labels only
  bool path_links = false;    // the same for every size on the path
  bool known_stages = false;  // what a later fit needs to repeat the stages
  std::vector<Index>
      sizes;  // to be on the path of a one-shot network, or by log-loss; without feature nodes
  bool only_sizes = false;  // whether the stages in between do not matter
  std::vector<double>
      alphas;  // penalties by which to fit the networks of these sizes, if not by their own
  double tolerance = kNegligible;  // of their readouts by log-loss

  bool leverages() const { return left_out_path || link || path_links; }
};

}  // namespace stagenets
