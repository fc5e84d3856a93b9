// P, the distribution of a hidden unit's weights and bias (w, β). Draws are counter-based: candidate
// j of stage t is a pure function of (seed, stream, t, j), so any unit can be drawn again, anywhere,
// in any order.
//
//   uniform  w on [-scale, scale], β on [0, scale]
//   normal   w ~ N(0, scale² / p), β on [-scale, scale]
//   sparse   m of the p inputs, m on 1 … fan_in; w ~ N(0, (1.5 scale)² / m) on those, β on ±1.5 scale
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "residuum/team.hpp"
#include "residuum/unit_weights.hpp"

namespace residuum {

// What a stream of draws is for; keeps their counters apart. (The third is the Python package's.)
enum class Stream : std::uint64_t { hidden = 0, enhancement = 1, custom = 2, rows = 3 };

enum class WeightFamily { uniform, normal, sparse };
WeightFamily weight_family_from_name(const std::string& name);

struct WeightDraws {
  WeightFamily family = WeightFamily::uniform;
  double scale = 1.0;
  Index fan_in = 6;
  std::uint64_t seed = 0;
  // A user's own P: fills in `count` units over `inputs` inputs for a stage; replaces the family.
  std::function<UnitWeights(Index stage, Index count, Index inputs)> custom;

  void draw(Stream stream, Index stage, Index count, Index inputs, Team& team,
            UnitWeights& units) const;
};

// Standard normal quantile of u in (0, 1), to about 1e-16 relative (Wichura's AS 241).
double normal_quantile(double u);

}  // namespace residuum
