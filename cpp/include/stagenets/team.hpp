// The threads of one call. A Team lives as long as the call: its helpers are started when it begins and
// joined when it ends, so there is nothing that a fork, the end of the process or a lack of threads
// could upset. The calling thread runs the work, and the helpers sleep until for_each() hands out
// lanes.
//
// Lanes are claimed one at a time, so a helper that the operating system has put aside delays
// nobody: whoever is awake takes its share. Nothing spins for longer than some microseconds, which
// is what makes two threads safe on cores that other processes use too.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "stagenets/index.hpp"

namespace stagenets {

class Team {
 public:
  // Called on the calling thread every few milliseconds of work; throws to end the fit.
  using Poll = std::function<void()>;
  using LaneBody = std::function<void(Index lane, int worker)>;

  // Runs work(team) on the calling thread, with threads - 1 helpers standing by, or as many of them as
  // the system lets us have. A lane may run a team of its own; how large that should be is for the
  // caller to know.
  static void run(int threads, Poll poll, const std::function<void(Team&)>& work);

  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Upper bound of the worker numbers that bodies see.
  int size() const { return size_; }

  // Runs body(lane, worker) once for every lane, on whichever thread is free, and returns when all
  // are done. The first exception a body throws is rethrown here.
  void for_each(Index lanes, const LaneBody& body);

  // To be called inside long bodies: lets the caller interrupt, and helpers notice that it did.
  void poll(int worker);

 private:
  struct Shared;
  Team(int threads, Poll poll);
  bool has_helpers() const;
  void start_helper();
  void serve(int worker);
  void take_lanes(int worker);

  int size_ = 1;
  Poll poll_;
  std::chrono::steady_clock::time_point next_poll_{};
  std::unique_ptr<Shared> shared_;  // none without helpers
};

// Has every helper call this when it starts: for settings that belong to the thread, like the number of
// threads of a BLAS that OpenMP drives.
void call_in_helpers(void (*function)(int), int argument);
// Makes these settings for the calling thread, which the core has started for another purpose.
void set_up_like_a_helper();

// The end of the process takes away what the core computes with (the BLAS frees its buffers), while
// threads that nobody has joined may still be at work. stop_all_teams() makes every thread inside a
// team stop for good at its next poll, and returns when all of them have, or after some seconds.
void stop_all_teams();
bool teams_are_stopped();

// Sleeps for ever; what is on this thread's stack stays valid for others.
[[noreturn]] void stop_this_thread();

// Around calls out of the core (to Python) and long waits, from which a thread may never return when the process ends:
// stop_all_teams() need not wait for it meanwhile, and others may have its place in the BLAS.
class OutsideTeams {
 public:
  OutsideTeams();
  ~OutsideTeams();
  OutsideTeams(const OutsideTeams&) = delete;
  OutsideTeams& operator=(const OutsideTeams&) = delete;

 private:
  int entered_before_, promised_before_, forks_before_;
};

}  // namespace stagenets
