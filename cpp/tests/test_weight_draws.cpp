#include <doctest/doctest.h>

#include <cmath>

#include "stagenets/philox.hpp"
#include "stagenets/weight_draws.hpp"

using namespace stagenets;

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
  const TrainingValues values(
      [](Index row, Index input) { return std::sin(static_cast<double>(900 * row + input)); }, 50,
      900, nullptr, RowBlocks(50, 50));
  for (const WeightFamily family :
       {WeightFamily::uniform, WeightFamily::normal, WeightFamily::sparse, WeightFamily::threshold,
        WeightFamily::leaf, WeightFamily::mixed}) {
    WeightDraws draws;
    draws.family = family;
    draws.seed = 7;
    UnitWeights one, many;
    Team::run(1, nullptr,
              [&](Team& team) { draws.draw(Stream::hidden, 3, 20, 900, values, team, one); });
    Team::run(3, nullptr,
              [&](Team& team) { draws.draw(Stream::hidden, 3, 40, 900, values, team, many); });
    CHECK(one.count() == 20);
    CHECK(one.weights == many.weights.leftCols(one.weights.cols()));
    CHECK(one.biases == many.biases.head(one.biases.size()));
    CHECK(first_units(many, 20).ends == one.ends);
  }
}

TEST_CASE("families that look at training rows refuse to draw without them") {
  for (const WeightFamily family :
       {WeightFamily::threshold, WeightFamily::leaf, WeightFamily::mixed}) {
    WeightDraws draws;
    draws.family = family;
    UnitWeights units;
    Team::run(1, nullptr, [&](Team& team) {
      CHECK_THROWS_AS(draws.draw(Stream::hidden, 0, 5, 3, {}, team, units), std::invalid_argument);
    });
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

TEST_CASE("draws into used space are as good as new, and tell which inputs they see") {
  const TrainingValues values([](Index row, Index) { return static_cast<double>(row); }, 9, 50,
                              nullptr, RowBlocks(9, 9));
  WeightDraws draws;
  SUBCASE("sparse") { draws.family = WeightFamily::sparse; }
  SUBCASE("threshold") { draws.family = WeightFamily::threshold; }
  SUBCASE("leaf") { draws.family = WeightFamily::leaf; }
  SUBCASE("mixed") { draws.family = WeightFamily::mixed; }
  Team::run(1, nullptr, [&](Team& team) {
    UnitWeights used, fresh;
    for (const Index stage : {0, 1, 2})
      draws.draw(Stream::hidden, stage, 30, 50, values, team, used);
    draws.draw(Stream::hidden, 2, 30, 50, values, team, fresh);
    CHECK(used.weights == fresh.weights);
    CHECK(used.biases == fresh.biases);
    const Index terms = used.weights.cols();
    MatrixD told = MatrixD::Zero(50, terms);
    for (Index j = 0; j < terms; ++j) {
      for (Index i = used.seen.begin_of(j); i < used.seen.end_of(j); ++i) {
        told(used.seen.inputs[static_cast<std::size_t>(i)], j) = 1;
      }
    }
    CHECK(((used.weights.array() != 0) == (told.array() != 0)).all());

    const UnitWeights picked = pick(used, {7, 2});
    CHECK(picked.count() == 2);
    CHECK(picked.terms(0) == used.terms(7));
    CHECK(picked.weights.rightCols(picked.terms(1)) ==
          used.weights.middleCols(used.first_term(2), used.terms(2)));
    CHECK(picked.seen.end_of(picked.weights.cols() - 1) == (picked.weights.array() != 0).count());
    CHECK(picked.weights(picked.seen.inputs.front(), 0) != 0);
    CHECK(picked.weights(picked.seen.inputs.back(), picked.weights.cols() - 1) != 0);
    UnitList list;
    list.append(picked);
    list.append(used);
    const UnitWeights joined = list.joined(50);
    CHECK(joined.count() == 32);
    CHECK(pick(joined, {2 + 7, 2 + 2}).weights == picked.weights);
    CHECK(pick(joined, {0, 1}).biases == picked.biases);
  });
}
