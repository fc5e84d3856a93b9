// P, the distribution of a hidden unit's weights and bias (w, β). Draws are counter-based: candidate
// j of stage t is a pure function of (seed, stream, t, j) and, for the families that look at them, of the
// training rows, so any unit can be drawn again, anywhere, in any order.
//
//   uniform    w on [-scale, scale], β on [0, scale]
//   normal     w ~ N(0, scale² / p), β on [-scale, scale]
//   sparse     m of the p inputs, m on 1 … fan_in; w ~ N(0, (1.5 scale)² / m) on those, β on ±1.5 scale
//   threshold  φ(w (x − v)) of one input x: v is its value in a random training row, |w| is log-uniform on
//              4 scale … 40 scale, so that a sigmoid is a soft step and a hinge has its corner in the data
//   leaf       φ of the least of two to four such terms w (x − v), on different inputs, at the values of one training
//              row: with a sigmoid, a soft version of the leaf of a tree
//   mixed      one of leaf, threshold, sparse (its scale times 1 … 3, log-uniform) and normal for each unit, by a word
//              of its own
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "stagenets/team.hpp"
#include "stagenets/training_values.hpp"
#include "stagenets/unit_weights.hpp"

namespace stagenets {

// The purpose of a stream of draws; keeps their counters apart. (The Python package uses a third one.)
enum class Stream : std::uint64_t { hidden = 0, enhancement = 1, custom = 2, rows = 3 };

enum class WeightFamily { uniform, normal, sparse, threshold, leaf, mixed };
WeightFamily weight_family_from_name(const std::string& name);

struct WeightDraws {
  WeightFamily family = WeightFamily::uniform;
  double scale = 1.0;
  Index fan_in = 6;
  std::uint64_t seed = 0;
  // A custom P: fills in `count` units over `inputs` inputs for a stage; replaces the family.
  std::function<UnitWeights(Index stage, Index count, Index inputs)> custom;

  // Whether most units see few inputs each.
  bool mostly_sparse() const;
  // Whether units look at values of the training rows.
  bool look_at_rows() const;
  // Whether there are units of several terms, and the most that a unit has.
  bool has_leaves() const;
  Index most_terms() const;
  // Replaces `units`. Families that look at the training rows need their values.
  void draw(Stream stream, Index stage, Index count, Index inputs, const TrainingValues& values,
            Team& team, UnitWeights& units) const;
};

// Standard normal quantile of u in (0, 1), to about 1e-16 relative (Wichura's AS 241).
double normal_quantile(double u);

}  // namespace stagenets
