// Sources of candidate units. A CandidateSource plans the stages, draws a pool of candidate units for each,
// evaluates units on a block of rows, and remembers the units kept. Only this and the Architecture that creates it
// (architecture.hpp) know what kind of network is being built.
#pragma once

#include <vector>

#include "stagenets/row_blocks.hpp"
#include "stagenets/scratch.hpp"
#include "stagenets/settings.hpp"

namespace stagenets {

// How many candidates the next stage draws, how many of them it may keep, and how many it would if there were room.
struct StagePlan {
  Index pool = 0;
  Index keep = 0;
  Index block = 0;
};

// The next stage of a fit with room for `left` more units after `kept`: draws M candidates, keeps at most k of them.
// A one-shot network draws exactly what it keeps.
inline StagePlan plan_stage(const StagewiseSettings& settings, Index left, Index kept) {
  left = std::max<Index>(0, left);
  if (settings.one_shot()) return {left, left, left};
  const Index block = settings.block_after(kept);
  return {settings.pool, std::min(block, left), block};
}

class RoughPool;

// Which units to evaluate: the pool of this stage, the units selected from it, or all units kept so far.
enum class Units { pool, selected, kept };

template <class Scalar>
class CandidateSource {
 public:
  virtual ~CandidateSource() = default;

  // The maximum number of units that all stages together keep.
  virtual Index max_units() const = 0;
  virtual StagePlan plan() const = 0;
  virtual void draw(Index stage, const StagePlan& plan, Team& team) = 0;
  // Shares whatever depends on the seed alone between this source and `other`, which must have the same draws:
  // whichever of them draws first, both have the result.
  virtual void share_draws_with(const CandidateSource& other) = 0;
  // Whether the next pool can be shared in this way, as it does not depend on the units chosen so far.
  virtual bool pool_is_common() const = 0;
  virtual void select(const std::vector<Index>& candidates) = 0;
  virtual void keep_selected() = 0;
  // Called when no candidate of a pool adds anything: switches to the next kind of unit, if there is one.
  virtual bool go_to_next_kind() { return false; }
  // To be called before Units::kept is evaluated, if units have been kept since the last call.
  virtual void gather_kept() = 0;
  virtual Index count(Units units) const = 0;
  // How many of the units kept are feature nodes, which precede the units counted by a path of sizes.
  virtual Index features() const { return 0; }

  // The pool in single precision, for sources that have it and whose rows are all here; null otherwise.
  virtual const RoughPool* rough_pool(Team&) { return nullptr; }

  // out (range.count × count(units), column-major) <- activations. Adds the columns' squared norms
  // to square_norms unless that is null. Safe to call from several threads at once.
  virtual void evaluate(Units units, RowRange range, Scalar* out, Index leading,
                        double* square_norms, Scratch<Scalar>& scratch) const = 0;
};

}  // namespace stagenets
