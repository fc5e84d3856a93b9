// The threads of one fit. A Team lives for the length of one call: OpenMP lends its threads once, the
// calling thread runs the work, and the helpers sleep until for_each() hands out lanes.
//
// Lanes are claimed one at a time, so a helper that the operating system has put aside delays
// nobody: whoever is awake takes its share. Nothing spins for longer than some microseconds, which
// is what makes two threads safe on cores that other processes use too.
#pragma once

#include <functional>
#include <memory>

#include "residuum/index.hpp"

namespace residuum {

class Team {
 public:
  // Called on the calling thread every few milliseconds of work; throws to end the fit.
  using Poll = std::function<void()>;
  using LaneBody = std::function<void(Index lane, int worker)>;

  // Runs work(team) on the calling thread, with threads - 1 helpers standing by.
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
  Team(int size, Poll poll);
  void serve(int worker);
  void take_lanes(int worker);

  int size_;
  Poll poll_;
  std::unique_ptr<Shared> shared_;
};

// How many threads OpenMP would use here by itself (1 without OpenMP, and inside a parallel region).
int default_threads();

}  // namespace residuum
