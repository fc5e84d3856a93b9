#include "stagenets/team.hpp"

#include "stagenets/blas_buffers.hpp"
#include "stagenets/thread_buffers.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#ifndef _WIN32
#include <pthread.h>
#include <sys/resource.h>
#endif

namespace stagenets {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPollInterval = std::chrono::milliseconds(20);
// Long enough to bridge the gap between two sweeps of a small fit, short enough to harm nobody.
constexpr auto kSpin = std::chrono::microseconds(20);
constexpr auto kPatienceAtExit = std::chrono::seconds(5);

// Whether a few bytes may be refused: elsewhere, a process is ended when there is no more memory.
bool memory_is_limited() {
#ifdef _WIN32
  return false;
#else
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
#endif
}

// The C library ends the process if it has no memory for the variables of a thread when that uses them first. These are
// ours, and those of exceptions.
void make_sure_of_variables() {
  all_thread_buffers();
  [[maybe_unused]] const volatile int none = std::uncaught_exceptions();  // not optimised away
}

// Thrown inside a lane after its team has given up; never leaves that team. Lanes of one team may run
// teams of their own, and these must let it pass: their work is part of what was given up.
struct Cancelled {
  const void* team;
};

void pause_briefly() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_ia32_pause();
#endif
}

// How many threads are computing: those inside Team::run or a lane, unless they are out on a visit.
std::atomic<int> threads_inside{0};
std::atomic<bool> stopping{false};
thread_local int entered = 0;  // how deep in teams this thread is; 0 on a visit

void come_in() {
  ++threads_inside;
  // Either stop_all_teams() sees this thread, or this thread sees that it was called.
  if (stopping) {
    --threads_inside;
    stop_this_thread();
  }
}

class InsideTeam {
 public:
  InsideTeam() {
    if (entered++ == 0) come_in();
  }
  ~InsideTeam() {
    if (--entered == 0) --threads_inside;
  }
  InsideTeam(const InsideTeam&) = delete;
  InsideTeam& operator=(const InsideTeam&) = delete;
};

std::atomic<void (*)(int)> helper_setting{nullptr};
std::atomic<int> helper_argument{0};

// Of a process's threads fork() copies only the one that calls it.
std::atomic<int> forks{0};
thread_local bool is_helper = false;

// For a child process whose only thread was a helper: the call that it helped does not exist there.
[[noreturn]] void end_child_of_helper() {
  std::fputs(
      "stagenets: a function that was called in the midst of a fit has forked on one of the fit's "
      "own threads and "
      "returned in the child, where there is no fit to go on with; the child ends here.\n",
      stderr);
  std::_Exit(EXIT_FAILURE);
}

// The threads of all teams together, and how many of those that a new one wants it may have: the BLAS must
// have a buffer for each.
std::atomic<int> threads_promised{0};
thread_local int promised = 0;  // of these, by this thread

class Promise {
 public:
  explicit Promise(int wanted) : threads_(wanted) {
    if (entered > 1) return;  // a team within a lane, on a thread that is counted already
    const int others = threads_promised.fetch_add(wanted);
    const int granted = reserve_blas_buffers(others + wanted) - others;
    threads_ = counted_ = std::min(std::max(granted, 0), wanted);
    threads_promised -= wanted - counted_;
    if (threads_ == 0) throw std::bad_alloc();
    promised = counted_;
  }
  ~Promise() {
    if (counted_ == 0) return;
    promised = 0;
    if (forks_before_ == forks) threads_promised -= counted_;
  }
  Promise(const Promise&) = delete;
  Promise& operator=(const Promise&) = delete;
  int threads() const { return threads_; }

 private:
  int threads_;
  int counted_ = 0;
  const int forks_before_ = forks;
};

#ifndef _WIN32
void forget_other_threads() {
  ++forks;
  threads_inside = entered > 0 ? 1 : 0;
  threads_promised = 0;
}
const int forks_registered = pthread_atfork(nullptr, nullptr, forget_other_threads);
#endif

}  // namespace

struct Team::Shared {
  // High half: number of the job; low half: lanes nobody has claimed yet.
  std::atomic<std::uint64_t> ticket{0};
  std::atomic<Index> unfinished{0};
  std::atomic<bool> cancelled{false};
  std::atomic<bool> dismissed{false};
  std::atomic<int> admitted{0}, started{0};  // of the helpers
  std::mutex mutex;
  std::condition_variable job_posted, job_done;
  std::exception_ptr error;
  const LaneBody* body = nullptr;
  Index lanes = 0;
  std::vector<std::thread> helpers;
  const int forks_before = forks;

  static std::uint64_t unclaimed(std::uint64_t ticket) { return ticket & 0xffffffffu; }

  // Whether this is a child process, in which there are no helpers and the mutex may be locked for ever.
  bool forked() const { return forks_before != forks; }
  // Whether helpers were at work on lanes when it was forked. To be asked between two lanes.
  bool lost_lanes() const {
    return forked() && unfinished.load() > static_cast<Index>(unclaimed(ticket.load()));
  }

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

  // Runs part of a job: the first error is kept, and everyone stops as soon as they notice.
  template <class Part>
  void attempt(Part&& part) {
    try {
      part();
    } catch (const Cancelled& cancelled_by) {
      if (cancelled_by.team != this) fail();
    } catch (...) {
      fail();
    }
  }

  // To be called in a handler.
  void fail() {
    if (forked()) throw;
    std::lock_guard<std::mutex> lock(mutex);
    if (!error) error = std::current_exception();
    cancelled = true;
  }

  void notify(std::condition_variable& signal) {
    if (forked()) return;
    {
      std::lock_guard<std::mutex> lock(mutex);
    }
    signal.notify_all();
  }
};

Team::Team(int threads, Poll poll) : poll_(std::move(poll)) {
  make_sure_of_variables();
  // Where memory is limited, helpers start while nobody else takes any: not within a lane of another team.
  if (threads < 2 || (entered > 1 && memory_is_limited())) return;
  try {
    shared_ = std::make_unique<Shared>();
    shared_->helpers.reserve(static_cast<std::size_t>(threads - 1));
    while (size_ < threads) start_helper();
  } catch (const std::system_error&) {  // no more threads to be had: fewer will do
  } catch (const std::bad_alloc&) {
  }
}

Team::~Team() {
  if (!shared_) return;
  if (shared_->forked()) {  // nobody to join
    static_cast<void>(shared_.release());
    return;
  }
  shared_->dismissed = true;
  shared_->notify(shared_->job_posted);
  for (std::thread& helper : shared_->helpers) helper.join();
}

void Team::run(int threads, Poll poll, const std::function<void(Team&)>& work) {
  const InsideTeam inside;
  const Promise promise(std::max(threads, 1));
  Team team(promise.threads(), std::move(poll));
  work(team);
}

bool Team::has_helpers() const { return size_ > 1 && !shared_->forked(); }

// Where memory is limited, some is kept free for the helper until it has its variables.
void Team::start_helper() {
  constexpr std::size_t kEnough = std::size_t{1} << 20;
  const bool limited = memory_is_limited();
  std::vector<char> enough(limited ? kEnough : 0);
  shared_->helpers.emplace_back(&Team::serve, this, size_);
  const int helpers = size_++;
  enough = {};
  shared_->admitted = helpers;
  while (limited &&
         !shared_->wait(shared_->job_done, [&] { return shared_->started.load() == helpers; })) {
  }
}

void Team::for_each(Index lanes, const LaneBody& body) {
  if (!has_helpers() || lanes < 2) {
    for (Index lane = 0; lane < lanes; ++lane) body(lane, 0);
    return;
  }
  Shared& shared = *shared_;
  shared.body = &body;
  shared.lanes = lanes;
  shared.unfinished = lanes;
  const std::uint64_t job = (shared.ticket.load() >> 32) + 1;
  shared.ticket = (job << 32) | static_cast<std::uint64_t>(lanes);
  shared.notify(shared.job_posted);
  take_lanes(0);
  while (!shared.lost_lanes() &&
         !shared.wait(shared.job_done, [&] { return shared.unfinished.load() == 0; })) {
    shared.attempt([&] { poll(0); });
  }
  if (shared.lost_lanes()) {
    throw std::runtime_error(
        "the process was forked in the midst of a fit, whose other threads do not exist in the "
        "child; fit again there");
  }
  if (shared.error) {
    const std::exception_ptr error = std::exchange(shared.error, nullptr);
    shared.cancelled = false;
    std::rethrow_exception(error);
  }
}

void Team::serve(int worker) {
  Shared& shared = *shared_;
  while (shared.admitted.load() < worker) std::this_thread::yield();
  is_helper = true;
  set_up_like_a_helper();
  make_sure_of_variables();
  ++shared.started;
  shared.notify(shared.job_done);
  for (;;) {
    while (!shared.wait(shared.job_posted, [&] {
      return shared.dismissed.load() || Shared::unclaimed(shared.ticket.load()) > 0;
    })) {
    }
    if (shared.dismissed) return;
    const InsideTeam inside;
    take_lanes(worker);
  }
}

void Team::take_lanes(int worker) {
  Shared& shared = *shared_;
  std::uint64_t ticket = shared.ticket.load();
  while (Shared::unclaimed(ticket) > 0) {
    if (!shared.ticket.compare_exchange_weak(ticket, ticket - 1)) continue;
    // A claimed lane keeps the job alive, so body and lanes cannot change under us from here on.
    if (!shared.cancelled) {
      const Index lane = shared.lanes - static_cast<Index>(Shared::unclaimed(ticket));
      shared.attempt([&] { (*shared.body)(lane, worker); });
    }
    if (shared.unfinished.fetch_sub(1) == 1) shared.notify(shared.job_done);
    if (shared.lost_lanes()) return;
    ticket = shared.ticket.load();
  }
}

void Team::poll(int worker) {
  if (stopping) {
    --threads_inside;
    stop_this_thread();
  }
  if (shared_ && shared_->cancelled) throw Cancelled{shared_.get()};
  if (worker != 0 || !poll_) return;
  const auto now = Clock::now();
  if (now < next_poll_) return;
  next_poll_ = now + kPollInterval;
  poll_();
}

void call_in_helpers(void (*function)(int), int argument) {
  helper_argument = argument;
  helper_setting = function;
}

void set_up_like_a_helper() {
  if (const auto set = helper_setting.load()) set(helper_argument);
}

void stop_all_teams() {
  stopping = true;
  const auto deadline = Clock::now() + kPatienceAtExit;
  while (threads_inside > 0 && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool teams_are_stopped() { return stopping; }

void stop_this_thread() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

OutsideTeams::OutsideTeams()
    : entered_before_(std::exchange(entered, 0)),
      promised_before_(std::exchange(promised, 0)),
      forks_before_(forks) {
  if (entered_before_ > 0) --threads_inside;
  threads_promised -= promised_before_;
}

OutsideTeams::~OutsideTeams() {
  if (is_helper && forks_before_ != forks) end_child_of_helper();
  entered = entered_before_;
  promised = forks_before_ == forks ? promised_before_ : 0;
  if (promised > 0) reserve_blas_buffers(threads_promised += promised);
  if (entered > 0) come_in();
}

}  // namespace stagenets
