#include <doctest/doctest.h>

#include <cmath>

#include "residuum/philox.hpp"
#include "residuum/weight_draws.hpp"

using namespace residuum;

TEST_CASE("normal_quantile inverts the normal distribution function") {
  for (double x = -8.0; x <= 8.0; x += 0.01) {
    const double u = 0.5 * std::erfc(-x / std::sqrt(2.0));
    // Above 0 the rounding of u itself limits how well x can be had back.
    if (u < 1e-300 || x > 5) continue;
    CHECK(normal_quantile(u) == doctest::Approx(x).epsilon(1e-9));
  }
  CHECK(normal_quantile(0.5) == 0.0);
}

TEST_CASE("draws do not depend on the threads nor on the size of the pool") {
  for (const WeightFamily family :
       {WeightFamily::uniform, WeightFamily::normal, WeightFamily::sparse}) {
    WeightDraws draws;
    draws.family = family;
    draws.seed = 7;
    UnitWeights one, many;
    Team::run(1, nullptr, [&](Team& team) { draws.draw(Stream::hidden, 3, 20, 900, team, one); });
    Team::run(3, nullptr, [&](Team& team) { draws.draw(Stream::hidden, 3, 40, 900, team, many); });
    CHECK(one.weights == many.weights.leftCols(20));
    CHECK(one.biases == many.biases.head(20));
  }
}

TEST_CASE("streams, stages, candidates and seeds give different words") {
  const auto first = [](std::uint64_t seed, std::uint64_t c1, std::uint64_t c2, std::uint64_t c3) {
    return Philox(seed, c1, c2, c3).block(0)[0];
  };
  CHECK(first(0, 0, 0, 0) != first(1, 0, 0, 0));
  CHECK(first(0, 0, 0, 0) != first(0, 1, 0, 0));
  CHECK(first(0, 0, 0, 0) != first(0, 0, 1, 0));
  CHECK(first(0, 0, 0, 0) != first(0, 0, 0, 1));
}

TEST_CASE("sparse draws into used space are as good as new, and tell which inputs they see") {
  WeightDraws draws;
  draws.family = WeightFamily::sparse;
  Team::run(1, nullptr, [&](Team& team) {
    UnitWeights used, fresh;
    for (const Index stage : {0, 1, 2}) draws.draw(Stream::hidden, stage, 30, 50, team, used);
    draws.draw(Stream::hidden, 2, 30, 50, team, fresh);
    CHECK(used.weights == fresh.weights);
    CHECK(used.biases == fresh.biases);
    MatrixD told = MatrixD::Zero(50, 30);
    for (Index j = 0; j < 30; ++j) {
      for (Index i = used.seen.begin_of(j); i < used.seen.end_of(j); ++i) {
        told(used.seen.inputs[static_cast<std::size_t>(i)], j) = 1;
      }
    }
    CHECK(((used.weights.array() != 0) == (told.array() != 0)).all());

    const UnitWeights picked = pick(used, {7, 2});
    CHECK(picked.seen.end_of(1) ==
          (used.weights.col(7).array() != 0).count() + (used.weights.col(2).array() != 0).count());
    CHECK(used.weights(picked.seen.inputs.front(), 7) != 0);
    CHECK(used.weights(picked.seen.inputs.back(), 2) != 0);
  });
}
