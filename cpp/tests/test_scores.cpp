// Scores of candidates against the formula on plain matrices, and rankings in single precision against those in double.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "random_matrix.hpp"
#include "stagenets/affine_units.hpp"
#include "stagenets/given_units.hpp"
#include "stagenets/scores.hpp"

using namespace stagenets;

namespace {

ScoredRows rows_of(Index rows, double fraction, std::uint64_t seed = 1, Index stage = 0) {
  return rows_to_score({0, rows, rows}, fraction, seed, stage);
}

// A problem with this residual.
struct Problem {
  Problem(const RowBlocks& blocks, const MatrixD& given, double alpha)
      : residual(given), state(blocks, residual, alpha, false) {
    for (Index b = 0; b < blocks.blocks(); ++b) {
      const RowRange range = blocks.block(b);
      state.residual.block(b, 0, residual.cols()) = residual.middleRows(range.first, range.count);
    }
  }

  MatrixD residual;
  RidgeState<double> state;
};

// ‖gᵀR‖² / (‖g‖² + share · λ) over some rows, where rows of g are scaled by the roots of their weights.
MatrixD scores_by_hand(const MatrixD& pool, const std::vector<const Problem*>& problems,
                       const std::vector<Index>& rows, double share, const VectorD& roots) {
  MatrixD scores(pool.cols(), static_cast<Index>(problems.size()));
  for (Index j = 0; j < pool.cols(); ++j) {
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const MatrixD& residual = problems[i]->residual;
      VectorD gains = VectorD::Zero(residual.cols());
      double norm = 0;
      for (const Index row : rows) {
        const double g = pool(row, j) * roots[row];
        norm += g * g;
        gains += g * residual.row(row).transpose();
      }
      scores(j, static_cast<Index>(i)) =
          gains.squaredNorm() / (norm + share * problems[i]->state.alpha);
    }
  }
  return scores;
}

std::vector<Index> all_rows(Index rows) {
  std::vector<Index> all;
  for (Index i = 0; i < rows; ++i) all.push_back(i);
  return all;
}

// work(design, team) with this pool as the candidates.
template <class Work>
void with_pool(const MatrixD& pool, const VectorD& roots, int threads, Work&& work) {
  StagewiseSettings settings;
  settings.pool = pool.cols();
  const MatrixD no_inputs(pool.rows(), 0);
  const Inputs<double> inputs(InputView<double>{no_inputs.data(), pool.rows(), 0, false});
  GivenUnits source([&](Index, Index) { return pool; }, pool.rows(), 5, settings);
  RowWeights weights;
  weights.roots = roots;
  Team::run(threads, nullptr, [&](Team& team) {
    Design<double> design(inputs, true, false, source, weights, team.size());
    source.draw(0, source.plan(), team);
    work(design, team);
  });
}

}  // namespace

TEST_CASE("a fraction of the rows has one from each of as many equal stretches") {
  const Index rows = 10007;
  const ScoredRows chosen = rows_of(rows, 0.3);
  CHECK_FALSE(chosen.all);
  const Index count = static_cast<Index>(chosen.list.size());
  CHECK(count == 3003);  // the next whole number
  CHECK(chosen.share == 3003.0 / 10007);
  for (Index i = 0; i < count; ++i) {
    const Index row = chosen.list[static_cast<std::size_t>(i)];
    REQUIRE(row >= i * rows / count);
    REQUIRE(row < (i + 1) * rows / count);
  }
  // Any row of a stretch may be the one.
  std::set<Index> offsets;
  for (Index i = 0; i < count; ++i) {
    offsets.insert(chosen.list[static_cast<std::size_t>(i)] - i * rows / count);
  }
  CHECK(offsets == std::set<Index>{0, 1, 2, 3});
}

TEST_CASE("rows are drawn anew for every stage and seed, the same ones each time") {
  const auto list = [](std::uint64_t seed, Index stage) {
    return rows_of(9000, 0.5, seed, stage).list;
  };
  CHECK(list(1, 0) == list(1, 0));
  CHECK(list(1, 0) != list(1, 1));
  CHECK(list(1, 0) != list(2, 0));
}

TEST_CASE("all rows are scored where a fraction would leave too few") {
  CHECK(rows_of(5000, 1).all);
  CHECK(rows_of(5000, 1).share == 1);
  CHECK(rows_of(2048, 0.01).all);
  const ScoredRows few = rows_of(2049, 0.01);
  CHECK_FALSE(few.all);
  CHECK(few.list.size() == 2048);
  CHECK(rows_of(100, 0.5).all);
  // Enough of them: 65,536, or an eighth of more than eight times as many.
  CHECK(rows_of(65536, kEnoughRows).all);
  CHECK(rows_of(65537, kEnoughRows).list.size() == 65536);
  CHECK(rows_of(800000, kEnoughRows).list.size() == 100000);
}

TEST_CASE("processes score the same rows together, each those it holds") {
  const std::vector<Index> all = rows_of(9000, 0.4).list;
  std::vector<Index> joined;
  for (const Index first : {0, 2500}) {
    const RowNumbers own{first, first == 0 ? 2500 : 6500, 9000};
    const ScoredRows part = rows_to_score(own, 0.4, 1, 0);
    CHECK(part.share == 0.4);
    for (const Index row : part.list) {
      REQUIRE(row >= 0);
      REQUIRE(row < own.count);
      joined.push_back(row + first);
    }
  }
  CHECK(joined == all);
}

TEST_CASE("scores are the drops of the objective, for several problems at once") {
  const Index rows = 700;
  for (const bool weighted : {false, true}) {
    for (const Index candidates : {1, 30, 500}) {  // so many that a block is done in pieces
      const MatrixD pool = random_matrix(rows, candidates, 1);
      VectorD roots = VectorD::Ones(rows);
      for (Index i = 0; weighted && i < rows; ++i) roots[i] = 0.5 * static_cast<double>(i % 4);
      const RowBlocks blocks(rows, 200);
      const Problem one(blocks, random_matrix(rows, 3, 2), 20);
      const Problem other(blocks, random_matrix(rows, 3, 3), 3);
      ScoredRows some{false, {}, 0};
      for (Index i = 0; i + 1 < rows; i += 3) some.list.push_back(i + (i / 3) % 2);
      some.share = static_cast<double>(some.list.size()) / static_cast<double>(rows);
      double weight = 0;
      for (const Index row : some.list) weight += roots[row] * roots[row];
      const double share = weighted ? weight / roots.squaredNorm() : some.share;
      for (const int threads : {1, 2}) {
        with_pool(pool, weighted ? roots : VectorD(), threads,
                  [&](Design<double>& design, Team& team) {
                    const auto check = [&](const std::vector<const Problem*>& problems,
                                           const ScoredRows& scored, const std::vector<Index>& list,
                                           double part) {
                      std::vector<const RidgeState<double>*> states;
                      for (const Problem* problem : problems) states.push_back(&problem->state);
                      const MatrixD expected = scores_by_hand(pool, problems, list, part, roots);
                      const MatrixD scores = score_pool(design, states, scored, team);
                      CHECK((scores - expected).norm() < 1e-12 * expected.norm());
                    };
                    check({&one}, {}, all_rows(rows), 1);
                    check({&one, &other}, {}, all_rows(rows), 1);
                    check({&other}, some, some.list, share);
                    check({&one, &other}, some, some.list, share);
                  });
      }
    }
  }
}

TEST_CASE("a candidate of zeros scores nothing, and one that overflows is an error") {
  const RowBlocks blocks(40, 16);
  const Problem problem(blocks, random_matrix(40, 1, 2), 0);
  MatrixD pool = random_matrix(40, 3, 1);
  pool.col(1).setZero();
  with_pool(pool, VectorD(), 1, [&](Design<double>& design, Team& team) {
    const MatrixD scores = score_pool(design, {&problem.state}, {}, team);
    CHECK(scores(0, 0) > 0);
    CHECK(scores(1, 0) == 0);
    CHECK(scores(2, 0) > 0);
    const std::vector<RankedPool> ranked =
        rank_head<double>(design, {{problem.state, 1}}, {}, team);
    CHECK(ranked[0].candidates == rank_pool(scores.col(0)).candidates);
  });
  pool(7, 2) = std::numeric_limits<double>::infinity();
  with_pool(pool, VectorD(), 1, [&](Design<double>& design, Team& team) {
    CHECK_THROWS_AS(score_pool(design, {&problem.state}, {}, team), std::domain_error);
  });
}

TEST_CASE("screening in single precision ranks as scores in double do, however close they are") {
  const Index rows = 900, candidates = 60;
  const MatrixD x = random_matrix(rows, 4, 1);
  for (const double alpha : {0.0, 50.0}) {
    for (const bool weighted : {false, true}) {
      for (const bool on_some : {false, true}) {
        VectorD roots = VectorD::Ones(rows);
        for (Index i = 0; weighted && i < rows; ++i) roots[i] = 0.5 * static_cast<double>(i % 4);
        RowWeights weights;
        if (weighted) weights.roots = roots;
        const RowBlocks blocks(rows, 128);
        const Problem one(blocks, random_matrix(rows, 2, 2), alpha);
        const Problem other(blocks, random_matrix(rows, 2, 3), alpha);
        ScoredRows scored;
        if (on_some) {
          scored = {false, {}, 0.5};
          for (Index i = 0; i < rows; i += 2) scored.list.push_back(i);
        }
        WeightDraws draws;  // threes of units that single precision can hardly tell apart
        draws.custom = [&](Index, Index count, Index inputs) {
          const MatrixD weights = random_matrix(inputs, count, 4),
                        biases = random_matrix(count, 1, 5);
          UnitWeights units{weights, biases};
          for (Index j = 0; j < count; ++j) {
            units.weights.col(j) = weights.col(j / 3) * (1 + 1e-9 * static_cast<double>(j % 3));
            units.biases[j] = biases(j / 3);
          }
          return units;
        };
        StagewiseSettings settings;
        settings.pool = candidates;
        const AffineArchitecture architecture(10, Activation::tanh, false);
        Team::run(2, nullptr, [&](Team& team) {
          const Inputs<double> inputs(InputView<double>{x.data(), rows, 4, false});
          const auto source = architecture.units(
              TrainingRows<double>{inputs, blocks, weights.root_data(), draws, settings, team});
          Design<double> design(inputs, true, false, *source, weights, team.size());
          source->draw(0, source->plan(), team);
          REQUIRE(source->rough_pool(team) != nullptr);
          std::vector<RankedPool> ranked =
              rank_head<double>(design, {{one.state, 7}, {other.state, 1}}, scored, team);
          REQUIRE(ranked.size() == 2);
          source->select(all_rows(candidates));
          const MatrixD scores =
              score_pool(design, {&one.state, &other.state}, scored, team, Units::selected);
          for (Index i = 0; i < 2; ++i) {
            RankedPool& pool = ranked[static_cast<std::size_t>(i)];
            const RankedPool expected = rank_pool(scores.col(i));
            const std::size_t head = i == 0 ? 7 : 1;
            CHECK(pool.candidates.size() == head);
            CHECK(pool.candidates == expected.first(head).candidates);
            for (std::size_t k = 0; k < 5; ++k) {
              CHECK(pool.quantiles[k] == doctest::Approx(expected.quantiles[k]).epsilon(1e-4));
            }
            CHECK(pool.reaches(candidates - 1));
            CHECK(pool.candidates == expected.candidates);
          }
        });
      }
    }
  }
}
