#include "residuum/team.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifndef _WIN32
#include <unistd.h>
#endif

namespace residuum {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPollInterval = std::chrono::milliseconds(20);
// Long enough to bridge the gap between two sweeps of a small fit, short enough to harm nobody.
constexpr auto kSpin = std::chrono::microseconds(20);

// Thrown inside a helper's lane after the calling thread has given up; never leaves the team.
struct Cancelled {};

void pause_briefly() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_ia32_pause();
#endif
}

// libgomp's threads do not survive fork(), but it believes they do and waits for them for ever: the
// child of a process that has used them must stay on one thread.
bool forked_from_a_threaded_process() {
#ifdef _WIN32
  return false;
#else
  static std::atomic<long> owner{0};
  long expected = 0;
  const long self = static_cast<long>(getpid());
  owner.compare_exchange_strong(expected, self);
  return owner.load() != self;
#endif
}

}  // namespace

struct Team::Shared {
  // High half: number of the job; low half: lanes nobody has claimed yet.
  std::atomic<std::uint64_t> ticket{0};
  std::atomic<Index> unfinished{0};
  std::atomic<bool> cancelled{false};
  std::atomic<bool> dismissed{false};
  std::mutex mutex;
  std::condition_variable job_posted, job_done;
  std::exception_ptr error;
  const LaneBody* body = nullptr;
  Index lanes = 0;
  Clock::time_point next_poll{};

  static std::uint64_t unclaimed(std::uint64_t ticket) { return ticket & 0xffffffffu; }

  // Waits for up to a poll interval; returns whether it is ready.
  template <class Condition>
  bool wait(std::condition_variable& signal, Condition ready) {
    const auto deadline = Clock::now() + kSpin;
    while (Clock::now() < deadline) {
      if (ready()) return true;
      pause_briefly();
    }
    std::unique_lock<std::mutex> lock(mutex);
    return signal.wait_for(lock, kPollInterval, ready);
  }

  // To be called in a handler: the first error is kept, and everyone stops as soon as they notice.
  void fail() {
    std::lock_guard<std::mutex> lock(mutex);
    if (!error) error = std::current_exception();
    cancelled = true;
  }

  void notify(std::condition_variable& signal) {
    {
      std::lock_guard<std::mutex> lock(mutex);
    }
    signal.notify_all();
  }
};

Team::Team(int size, Poll poll)
    : size_(size), poll_(std::move(poll)), shared_(std::make_unique<Shared>()) {}

Team::~Team() = default;

void Team::run(int threads, Poll poll, const std::function<void(Team&)>& work) {
#ifdef _OPENMP
  if (threads > 1 && !omp_in_parallel() && !forked_from_a_threaded_process()) {
    Team team(threads, std::move(poll));
    std::exception_ptr error;
#pragma omp parallel num_threads(threads)
    {
      if (omp_get_thread_num() == 0) {
        try {
          work(team);
        } catch (...) {
          error = std::current_exception();
        }
        team.shared_->dismissed = true;
        team.shared_->notify(team.shared_->job_posted);
      } else {
        team.serve(omp_get_thread_num());
      }
    }
    if (error) std::rethrow_exception(error);
    return;
  }
#else
  (void)threads;
#endif
  Team alone(1, std::move(poll));
  work(alone);
}

void Team::for_each(Index lanes, const LaneBody& body) {
  if (lanes <= 0) return;
  Shared& shared = *shared_;
  shared.body = &body;
  shared.lanes = lanes;
  shared.unfinished = lanes;
  const std::uint64_t job = (shared.ticket.load() >> 32) + 1;
  shared.ticket = (job << 32) | static_cast<std::uint64_t>(lanes);
  if (size_ > 1 && lanes > 1) shared.notify(shared.job_posted);
  take_lanes(0);
  while (!shared.wait(shared.job_done, [&] { return shared.unfinished.load() == 0; })) {
    try {
      poll(0);
    } catch (const Cancelled&) {
    } catch (...) {
      shared.fail();
    }
  }
  if (shared.error) {
    const std::exception_ptr error = std::exchange(shared.error, nullptr);
    shared.cancelled = false;
    std::rethrow_exception(error);
  }
}

void Team::serve(int worker) {
  Shared& shared = *shared_;
  for (;;) {
    while (!shared.wait(shared.job_posted, [&] {
      return shared.dismissed.load() || Shared::unclaimed(shared.ticket.load()) > 0;
    })) {
    }
    if (shared.dismissed) return;
    take_lanes(worker);
  }
}

void Team::take_lanes(int worker) {
  Shared& shared = *shared_;
  std::uint64_t ticket = shared.ticket.load();
  while (Shared::unclaimed(ticket) > 0) {
    if (!shared.ticket.compare_exchange_weak(ticket, ticket - 1)) continue;
    // A claimed lane keeps the job alive, so body and lanes cannot change under us from here on.
    try {
      if (!shared.cancelled) {
        (*shared.body)(shared.lanes - static_cast<Index>(Shared::unclaimed(ticket)), worker);
      }
    } catch (const Cancelled&) {
    } catch (...) {
      shared.fail();
    }
    if (shared.unfinished.fetch_sub(1) == 1) shared.notify(shared.job_done);
    ticket = shared.ticket.load();
  }
}

void Team::poll(int worker) {
  Shared& shared = *shared_;
  if (shared.cancelled) throw Cancelled{};
  if (worker != 0 || !poll_) return;
  const auto now = Clock::now();
  if (now < shared.next_poll) return;
  shared.next_poll = now + kPollInterval;
  poll_();
}

int default_threads() {
#ifdef _OPENMP
  return omp_in_parallel() ? 1 : std::max(1, omp_get_max_threads());
#else
  return 1;
#endif
}

}  // namespace residuum
