#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "residuum/row_blocks.hpp"
#include "residuum/team.hpp"

using residuum::Index;
using residuum::LaneSums;
using residuum::RowBlocks;
using residuum::Team;

TEST_CASE("every lane runs once, for any number of threads and jobs in a row") {
  for (const int threads : {1, 2, 3, 8}) {
    Team::run(threads, nullptr, [&](Team& team) {
      for (int job = 0; job < 500; ++job) {
        const Index lanes = 1 + job % 70;
        std::vector<std::atomic<int>> runs(static_cast<std::size_t>(lanes));
        team.for_each(lanes, [&](Index lane, int worker) {
          REQUIRE(worker < team.size());
          ++runs[static_cast<std::size_t>(lane)];
        });
        for (const auto& count : runs) REQUIRE(count == 1);
      }
    });
  }
}

TEST_CASE("an exception in a lane reaches the caller and leaves the team usable") {
  for (const int threads : {1, 3}) {
    Team::run(threads, nullptr, [&](Team& team) {
      CHECK_THROWS_AS(team.for_each(40,
                                    [](Index lane, int) {
                                      if (lane == 17) throw std::runtime_error("lane 17");
                                    }),
                      std::runtime_error);
      std::atomic<int> runs{0};
      team.for_each(40, [&](Index, int) { ++runs; });
      CHECK(runs == 40);
    });
    CHECK_THROWS_AS(Team::run(threads, nullptr, [](Team&) { throw std::logic_error("work"); }),
                    std::logic_error);
  }
}

TEST_CASE("the caller's poll can end the work") {
  const auto stop = [] { throw std::runtime_error("interrupted"); };
  // Lanes that never end by themselves: all stop, whoever has claimed them.
  for (const Index lanes : {1, 2, 8}) {
    CHECK_THROWS_AS(Team::run(2, stop,
                              [&](Team& team) {
                                team.for_each(lanes, [&](Index, int worker) {
                                  for (;;) team.poll(worker);
                                });
                              }),
                    std::runtime_error);
  }
}

TEST_CASE("blocks cover the rows in order and sums do not depend on the threads") {
  const RowBlocks blocks(10'001, 96);
  std::vector<double> totals;
  for (const int threads : {1, 2, 5}) {
    Team::run(threads, nullptr, [&](Team& team) {
      std::vector<std::atomic<int>> seen(10'001);
      LaneSums sums(blocks.lanes(), 1);
      blocks.sweep(team, [&](Index lane, Index b, int) {
        const auto range = blocks.block(b);
        for (Index i = range.first; i < range.first + range.count; ++i) {
          ++seen[static_cast<std::size_t>(i)];
          sums.lane(lane)[0] += 1.0 / (1.0 + static_cast<double>(i));
        }
      });
      for (const auto& count : seen) REQUIRE(count == 1);
      totals.push_back(sums.total()[0]);
    });
  }
  CHECK(totals[0] == totals[1]);
  CHECK(totals[0] == totals[2]);
}
