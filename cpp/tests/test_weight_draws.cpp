#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

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

TEST_CASE("normal_quantile is exact to rounding, far into the tails") {
  for (double x = -37.0; x <= 0.0; x += 0.013) {
    const double u =
        static_cast<double>(std::erfc(-static_cast<long double>(x) / std::sqrt(2.0L)) / 2);
    // By how much the rounding of u moves x: u over the density at x.
    const double density = std::exp(-x * x / 2) / 2.5066282746310002;
    const double rounding = 2.3e-16 * u / density;
    const double tolerance = rounding + 2e-15 * std::abs(x);
    REQUIRE(std::abs(normal_quantile(u) - x) <= tolerance);
    const double above = 1 - u;
    if (1 - above == u) REQUIRE(normal_quantile(above) == -normal_quantile(u));
  }
}

TEST_CASE("families are known by their names and for what they draw") {
  struct Kind {
    const char* name;
    WeightFamily family;
    bool sparse, looks, leaves;
  };
  for (const Kind& kind : {Kind{"uniform", WeightFamily::uniform, false, false, false},
                           Kind{"normal", WeightFamily::normal, false, false, false},
                           Kind{"sparse", WeightFamily::sparse, true, false, false},
                           Kind{"threshold", WeightFamily::threshold, true, true, false},
                           Kind{"leaf", WeightFamily::leaf, true, true, true},
                           Kind{"mixed", WeightFamily::mixed, true, true, true}}) {
    CHECK(weight_family_from_name(kind.name) == kind.family);
    WeightDraws draws;
    draws.family = kind.family;
    CHECK(draws.mostly_sparse() == kind.sparse);
    CHECK(draws.look_at_rows() == kind.looks);
    CHECK(draws.has_leaves() == kind.leaves);
    CHECK(draws.most_terms() == (kind.leaves ? 4 : 1));
    draws.custom = [](Index stage, Index count, Index inputs) {
      return UnitWeights{MatrixD::Constant(inputs, count, double(stage)), VectorD::Zero(count)};
    };
    CHECK_FALSE(draws.mostly_sparse());
    CHECK_FALSE(draws.look_at_rows());
    CHECK_FALSE(draws.has_leaves());
    CHECK(draws.most_terms() == 1);
    UnitWeights units;
    Team::run(1, nullptr,
              [&](Team& team) { draws.draw(Stream::hidden, 6, 2, 3, {}, team, units); });
    CHECK(units.weights == MatrixD::Constant(3, 2, 6));
  }
  CHECK_THROWS_AS(weight_family_from_name("cauchy"), std::invalid_argument);
}

TEST_CASE("units are of the kind, size and range that their family promises") {
  // Values of training rows are whole numbers, so that what a step is centred on can be told.
  const Index inputs = 12, count = 3000;
  const TrainingValues values(
      [](Index row, Index input) { return static_cast<double>(row * 12 + input + 1); }, 7, inputs,
      nullptr, RowBlocks(7, 7));
  const auto drawn = [&](WeightFamily family) {
    WeightDraws draws;
    draws.family = family;
    draws.scale = 2;
    draws.fan_in = 5;
    UnitWeights units;
    Team::run(1, nullptr, [&](Team& team) {
      draws.draw(Stream::hidden, 1, count, inputs, values, team, units);
    });
    return units;
  };
  const auto seen = [](const UnitWeights& units, Index term) {
    return (units.weights.col(term).array() != 0).count();
  };
  const auto check_step = [&](const UnitWeights& units, Index term) {
    Index input;
    const double size = units.weights.col(term).cwiseAbs().maxCoeff(&input);
    REQUIRE(seen(units, term) == 1);
    REQUIRE(size >= 4 * 2);
    REQUIRE(size <= 40 * 2);
    const double value = -units.biases[term] / units.weights(input, term);
    const double place = (value - 1 - static_cast<double>(input)) / 12;
    REQUIRE(std::abs(place - std::round(place)) < 1e-9);
    REQUIRE(place > -0.5);
    REQUIRE(place < 6.5);
    return static_cast<Index>(std::round(place));  // the row
  };

  const UnitWeights uniform = drawn(WeightFamily::uniform);
  CHECK(uniform.weights.minCoeff() >= -2);
  CHECK(uniform.weights.minCoeff() < -1.99);
  CHECK(uniform.weights.maxCoeff() > 1.99);
  CHECK(uniform.biases.minCoeff() >= 0);
  CHECK(uniform.biases.maxCoeff() > 1.99);
  CHECK(uniform.biases.maxCoeff() <= 2);
  CHECK_FALSE(uniform.seen.known());

  const UnitWeights normal = drawn(WeightFamily::normal);
  CHECK(normal.weights.squaredNorm() / double(normal.weights.size()) ==
        doctest::Approx(4.0 / 12).epsilon(0.03));
  CHECK(normal.biases.minCoeff() < -1.99);
  CHECK(normal.biases.maxCoeff() > 1.99);

  const UnitWeights sparse = drawn(WeightFamily::sparse);
  VectorD squares = VectorD::Zero(6), units_of = VectorD::Zero(6);
  for (Index j = 0; j < count; ++j) {
    REQUIRE(seen(sparse, j) >= 1);
    REQUIRE(seen(sparse, j) <= 5);
    squares[seen(sparse, j)] += sparse.weights.col(j).squaredNorm();
    units_of[seen(sparse, j)] += 1;
  }
  for (Index m = 1; m <= 5; ++m) {
    CHECK(units_of[m] == doctest::Approx(count / 5).epsilon(0.15));
    CHECK(squares[m] / units_of[m] == doctest::Approx(9).epsilon(0.15));  // m · (1.5 · 2)² / m
  }
  CHECK(sparse.biases.minCoeff() < -2.95);
  CHECK(sparse.biases.maxCoeff() > 2.95);
  CHECK(sparse.biases.cwiseAbs().maxCoeff() <= 3);
  CHECK(((sparse.weights.array() != 0).rowwise().count() > 400).all());  // all inputs alike

  const UnitWeights thresholds = drawn(WeightFamily::threshold);
  VectorD rows = VectorD::Zero(7);
  for (Index j = 0; j < count; ++j) rows[check_step(thresholds, j)] += 1;
  CHECK(rows.minCoeff() > 300);
  CHECK(((thresholds.weights.array() != 0).rowwise().count() > 180).all());
  CHECK((thresholds.weights.array() > 0).count() == doctest::Approx(count / 2).epsilon(0.1));

  const UnitWeights leaves = drawn(WeightFamily::leaf);
  VectorD steps = VectorD::Zero(5);
  for (Index unit = 0; unit < count; ++unit) {
    steps[leaves.terms(unit)] += 1;
    std::vector<Index> own;
    for (Index term = leaves.first_term(unit); term < leaves.end_of_terms(unit); ++term) {
      REQUIRE(check_step(leaves, term) == check_step(leaves, leaves.first_term(unit)));
      Index input;
      leaves.weights.col(term).cwiseAbs().maxCoeff(&input);
      REQUIRE(std::find(own.begin(), own.end(), input) == own.end());
      own.push_back(input);
    }
  }
  for (const Index number : {2, 3, 4}) {
    CHECK(steps[number] == doctest::Approx(count / 3).epsilon(0.15));
  }

  const UnitWeights mixed = drawn(WeightFamily::mixed);
  double of_leaves = 0, of_thresholds = 0, of_normal = 0, of_sparse = 0, widest = 0;
  for (Index unit = 0; unit < count; ++unit) {
    const Index term = mixed.first_term(unit), own = seen(mixed, term);
    const double bias = std::abs(mixed.biases[term]);
    if (mixed.terms(unit) > 1) {
      ++of_leaves;
    } else if (own == inputs) {
      ++of_normal;
      REQUIRE(bias <= 2);
    } else if (own == 1 && bias > 9) {  // beyond ±3 · 1.5 · 2, mostly
      ++of_thresholds;
    } else {
      ++of_sparse;
      widest = std::max(widest, bias);
    }
  }
  CHECK(of_leaves / count == doctest::Approx(0.1).epsilon(0.2));
  CHECK(of_normal / count == doctest::Approx(0.2).epsilon(0.15));
  CHECK(of_thresholds / count == doctest::Approx(0.1).epsilon(0.25));
  CHECK(of_sparse / count == doctest::Approx(0.6).epsilon(0.1));
  CHECK(widest > 7.5);
  CHECK(widest <= 9);
}

TEST_CASE("few inputs limit what units see") {
  const TrainingValues values([](Index, Index) { return 1.0; }, 3, 2, nullptr, RowBlocks(3, 3));
  for (const Index inputs : {1, 2}) {
    for (const WeightFamily family :
         {WeightFamily::sparse, WeightFamily::leaf, WeightFamily::mixed}) {
      WeightDraws draws;
      draws.family = family;
      UnitWeights units;
      Team::run(1, nullptr, [&](Team& team) {
        draws.draw(Stream::hidden, 0, 50, inputs, values, team, units);
      });
      CHECK(units.count() == 50);
      CHECK(units.weights.rows() == inputs);
      for (Index unit = 0; unit < 50; ++unit) REQUIRE(units.terms(unit) <= inputs);
      if (inputs == 1) CHECK(units.ends.empty());
    }
  }
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
    // Space of another size, or that units of another family have filled.
    UnitWeights other;
    for (const Index before : {12, 45}) {
      draws.draw(Stream::hidden, 1, before, 50, values, team, other);
      draws.draw(Stream::hidden, 2, 30, 50, values, team, other);
      CHECK(other.weights == fresh.weights);
    }
    draws.draw(Stream::hidden, 2, 30, 20, values, team, other);
    WeightDraws dense;
    dense.family = WeightFamily::normal;
    dense.draw(Stream::hidden, 2, fresh.weights.cols(), 50, values, team, other);
    CHECK(other.ends.empty());
    draws.draw(Stream::hidden, 2, 30, 50, values, team, other);
    CHECK(other.weights == fresh.weights);
    CHECK(other.ends == fresh.ends);
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

TEST_CASE("draws can be interrupted") {
  struct Interrupt {};
  UnitWeights units;
  CHECK_THROWS_AS(
      Team::run(
          1, [] { throw Interrupt(); },
          [&](Team& team) { WeightDraws().draw(Stream::hidden, 0, 5, 3, {}, team, units); }),
      Interrupt);
}
