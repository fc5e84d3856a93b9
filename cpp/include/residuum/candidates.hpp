// The one part that knows the architecture. A CandidateSource plans the stages, draws a pool of
// candidate units for each, evaluates units on a block of rows, and remembers the units kept.
#pragma once

#include <vector>

#include "residuum/profile.hpp"
#include "residuum/row_blocks.hpp"
#include "residuum/types.hpp"

namespace residuum {

// How many candidates the next stage draws, and how many of them it may keep.
struct StagePlan {
  Index pool = 0;
  Index take = 0;
};

// The paper's budget: h units, M candidates a stage, k kept a stage. A one-shot network draws just
// what it keeps.
struct Budget {
  Index units = 0;
  Index pool = 100;
  Index block = 1;
  bool one_shot = false;

  StagePlan next(Index kept) const {
    const Index left = std::max<Index>(0, units - kept);
    if (one_shot) return {left, left};
    return {pool, std::min(block, left)};
  }
};

// Which units to evaluate: the pool of this stage, those selected from it, or all kept so far.
enum class Units { pool, selected, kept };

// A worker's buffers, grown on demand and used again block after block.
template <class Scalar>
struct Scratch {
  Matrix<Scalar> inputs, features, pool, residual;
  MatrixD wide;
  Profile profile;
};

template <class Scalar>
class CandidateSource {
 public:
  virtual ~CandidateSource() = default;

  virtual StagePlan plan() const = 0;
  virtual void draw(Index stage, const StagePlan& plan, Team& team) = 0;
  // Makes what is drawn from the seed alone common to this source and `other`, which must have the same
  // draws: whichever of them draws, both have it.
  virtual void share_draws_with(const CandidateSource& other) = 0;
  // Whether the next pool is of that sort, depending on nothing chosen so far.
  virtual bool pool_is_common() const = 0;
  virtual void select(const std::vector<Index>& candidates) = 0;
  virtual void keep_selected() = 0;
  // Called when no candidate of a pool adds anything: whether there is another kind to go on with.
  virtual bool next_kind() { return false; }
  // To be called before Units::kept is evaluated, whenever units have been kept since.
  virtual void gather_kept() = 0;
  virtual Index count(Units units) const = 0;
  // How many of the units kept are feature nodes, which come before the others.
  virtual Index features() const { return 0; }

  // out (range.count × count(units), column-major) <- activations. Adds the columns' squared norms
  // to square_norms unless that is null. Safe to call from several threads at once.
  virtual void evaluate(Units units, RowRange range, Scalar* out, Index leading,
                        double* square_norms, Scratch<Scalar>& scratch) const = 0;
};

}  // namespace residuum
