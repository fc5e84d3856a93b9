#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "stagenets/row_blocks.hpp"
#include "stagenets/team.hpp"

using stagenets::Index;
using stagenets::RowBlocks;
using stagenets::Team;

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

// What a search does: every lane of a team runs a team of its own that polls the one above it.
void run_nested(Team& outer, int worker, const std::function<void(Team&)>& work) {
  Team::run(1, [&outer, worker] { outer.poll(worker); }, work);
}

TEST_CASE("an error in one lane unwinds the teams that run inside the others") {
  std::atomic<bool> other_lane_runs{false};
  std::atomic<int> computed_on{0};
  const auto fail_beside_a_nested_sweep = [&](Team& outer) {
    outer.for_each(2, [&](Index lane, int worker) {
      if (lane == 0) {
        while (!other_lane_runs) outer.poll(worker);
        throw std::runtime_error("lane 0");
      }
      run_nested(outer, worker, [&](Team& inner) {
        run_nested(inner, 0, [&](Team& innermost) {
          innermost.for_each(4, [&](Index, int) {
            other_lane_runs = true;
            for (;;) innermost.poll(0);
          });
          ++computed_on;  // with lanes left out
        });
        ++computed_on;
      });
      ++computed_on;
    });
  };
  CHECK_THROWS_AS(Team::run(2, nullptr, fail_beside_a_nested_sweep), std::runtime_error);
  CHECK(computed_on == 0);
}

TEST_CASE("a team whose nested teams were cancelled can be used again") {
  Team::run(2, nullptr, [&](Team& outer) {
    for (int time = 0; time < 50; ++time) {
      std::atomic<Index> sum{0};
      CHECK_THROWS_AS(outer.for_each(8,
                                     [&](Index lane, int worker) {
                                       if (lane == 3) throw std::runtime_error("lane 3");
                                       run_nested(outer, worker, [&](Team& inner) {
                                         inner.for_each(100, [&](Index, int) { inner.poll(0); });
                                       });
                                     }),
                      std::runtime_error);
      outer.for_each(8, [&](Index lane, int worker) {
        run_nested(outer, worker,
                   [&](Team& inner) { inner.for_each(10, [&](Index, int) { sum += lane; }); });
      });
      REQUIRE(sum == 280);
    }
  });
}

TEST_CASE("teams of several threads can run inside the lanes of another") {
  std::atomic<Index> sum{0};
  Team::run(2, nullptr, [&](Team& outer) {
    outer.for_each(6, [&](Index, int worker) {
      Team::run(
          3, [&outer, worker] { outer.poll(worker); },
          [&](Team& inner) { inner.for_each(50, [&](Index lane, int) { sum += lane; }); });
    });
  });
  CHECK(sum == 6 * 1225);
}

TEST_CASE("every helper calls what belongs to its thread, once, before any lane") {
  static std::atomic<int> total;
  static thread_local int of_this_thread = 0;
  total = 0;
  stagenets::call_in_helpers(
      [](int argument) {
        of_this_thread += argument;
        ++total;
      },
      7);
  Team::run(3, nullptr, [&](Team& team) {
    team.for_each(200, [&](Index, int worker) { REQUIRE(of_this_thread == (worker ? 7 : 0)); });
  });
  stagenets::call_in_helpers(nullptr, 0);
  CHECK(total == 2);
}

TEST_CASE("more threads than any system has are as good as fewer") {
  std::atomic<int> runs{0};
  Team::run(300, nullptr, [&](Team& team) {
    CHECK(team.size() >= 1);
    team.for_each(1000, [&](Index, int) { ++runs; });
  });
  CHECK(runs == 1000);
}

#ifndef _WIN32
// What a child process finds, as its exit status.
int in_child(const std::function<bool()>& works) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    _exit(works() ? 0 : 1);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}

TEST_CASE("a child has teams of its own, even one forked in the midst of a team's work") {
  const auto every_lane_runs = [](Team& team) {
    std::atomic<int> runs{0};
    team.for_each(64, [&](Index, int) { ++runs; });
    return runs == 64;
  };
  const auto own_team_works = [&] {
    bool works = false;
    Team::run(3, nullptr, [&](Team& team) { works = team.size() == 3 && every_lane_runs(team); });
    return works;
  };
  for (int time = 0; time < 20; ++time) {
    CHECK(own_team_works());
    CHECK(in_child(own_team_works) == 0);
    int status = -1;
    pid_t pid = -1;
    bool works = false;
    Team::run(3, nullptr, [&](Team& team) {
      works = every_lane_runs(team);
      pid = fork();
      if (pid == 0) alarm(20);
      works = works && every_lane_runs(team);
    });
    if (pid == 0) _exit(works && own_team_works() ? 0 : 1);
    waitpid(pid, &status, 0);
    CHECK(works);
    CHECK(status == 0);
  }
}

TEST_CASE(
    "at the end of the process threads stop inside their teams, and nobody waits for visitors") {
  const auto all_stop = [] {
    std::atomic<bool> at_work{false}, away{false};
    std::thread endless([&] {
      Team::run(2, nullptr, [&](Team& team) {
        team.for_each(2, [&](Index, int worker) {
          at_work = true;
          for (;;) team.poll(worker);
        });
      });
    });
    std::thread visitor([&] {
      Team::run(1, nullptr, [&](Team&) {
        const stagenets::OutsideTeams outside;
        away = true;
        stagenets::stop_this_thread();
      });
    });
    while (!at_work || !away) std::this_thread::yield();
    const auto begun = std::chrono::steady_clock::now();
    stagenets::stop_all_teams();
    endless.detach();
    visitor.detach();
    return std::chrono::steady_clock::now() - begun < std::chrono::seconds(4);
  };
  CHECK(in_child(all_stop) == 0);  // there is no starting again
}
#endif

TEST_CASE("blocks cover the rows in order and sums do not depend on the threads") {
  const RowBlocks blocks(10'001, 96);
  std::vector<double> totals;
  for (const int threads : {1, 2, 5}) {
    Team::run(threads, nullptr, [&](Team& team) {
      std::vector<std::atomic<int>> seen(10'001);
      const stagenets::VectorD total = blocks.sum(team, 1, [&](double* sum, Index b, int) {
        const auto range = blocks.block(b);
        for (Index i = range.first; i < range.first + range.count; ++i) {
          ++seen[static_cast<std::size_t>(i)];
          *sum += 1.0 / (1.0 + static_cast<double>(i));
        }
      });
      for (const auto& count : seen) REQUIRE(count == 1);
      totals.push_back(total[0]);
    });
  }
  CHECK(totals[0] == totals[1]);
  CHECK(totals[0] == totals[2]);
}
