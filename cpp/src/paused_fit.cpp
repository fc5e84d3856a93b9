#include "stagenets/paused_fit.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#ifndef _WIN32
#include <unistd.h>
#endif

namespace stagenets {
namespace {

struct GivenUp {};

int this_process() {
#ifdef _WIN32
  return 0;
#else
  return static_cast<int>(getpid());
#endif
}

}  // namespace

// The fit has a thread of its own, since its stack is what a pause must keep. Only one of that thread and the caller runs
// at a time: `working` says which.
struct PausedFit::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool working = false;
  std::atomic<bool> given_up{false};
  std::optional<Question> question;
  VectorD answer;
  std::vector<StageReport> reports;
  std::shared_ptr<const Fit> result;
  std::exception_ptr error;
  std::thread thread;
  const int process = this_process();

  VectorD ask(Combine how, VectorD values) {
    const OutsideTeams outside;  // it may be long, and the process may end meanwhile
    std::unique_lock<std::mutex> lock(mutex);
    question = {how, std::move(values)};
    pause(lock);
    if (given_up) throw GivenUp{};
    return std::move(answer);
  }

  void pause(std::unique_lock<std::mutex>& lock) {
    working = false;
    changed.notify_all();
    changed.wait(lock, [&] { return working || given_up; });
  }

  void end(const std::function<Fit()>& work) {
    std::shared_ptr<const Fit> fitted;
    std::exception_ptr thrown;
    try {
      fitted = std::make_shared<const Fit>(work());
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard<std::mutex> lock(mutex);
    result = std::move(fitted);
    error = std::move(thrown);
    question.reset();
    working = false;
    changed.notify_all();
  }
};

class PausedFit::Pause final : public Reduction {
 public:
  Pause(Shared& shared, Index process) : shared_(shared), process_(process) {}

  void add(double* values, Index count) const override { combine(Combine::sum, values, count); }
  void least(double* values, Index count) const override { combine(Combine::least, values, count); }
  void greatest(double* values, Index count) const override {
    combine(Combine::greatest, values, count);
  }
  VectorD gather(const VectorD& values) const override {
    return shared_.ask(Combine::gather, values);
  }
  Index process() const override { return process_; }

 private:
  void combine(Combine how, double* values, Index count) const {
    Eigen::Map<VectorD> mapped(values, count);
    const VectorD all = shared_.ask(how, mapped);
    if (all.size() != count) {
      throw std::invalid_argument("a paused fit asked for " + std::to_string(count) +
                                  " values and was given " + std::to_string(all.size()));
    }
    mapped = all;
  }

  Shared& shared_;
  Index process_;
};

PausedFit::PausedFit(Index process, bool steered, Work work) : shared_(std::make_shared<Shared>()) {
  // The thread shares in what it needs: at the end of the process it may outlive this object.
  const auto body = [shared = shared_, process, steered, work = std::move(work)] {
    set_up_like_a_helper();
    const Pause pause(*shared, process);
    const Observer observer = [&](const StageReport& report) {
      shared->reports.push_back(report);
      return !steered || shared->ask(Combine::stop, VectorD(0))[0] == 0;
    };
    const Team::Poll poll = [&] {
      if (shared->given_up) throw GivenUp{};
    };
    {
      std::unique_lock<std::mutex> lock(shared->mutex);
      shared->changed.wait(lock, [&] { return shared->working || shared->given_up; });
    }
    if (!shared->given_up) shared->end([&] { return work(pause, observer, poll); });
  };
  shared_->thread = std::thread(body);
}

PausedFit::~PausedFit() {
  std::thread& thread = shared_->thread;
  // In a forked child there is no such thread, and when the process ends it sleeps for good.
  if (teams_are_stopped() || shared_->process != this_process()) {
    thread.detach();
    new std::shared_ptr<Shared>(shared_);  // never destroyed, as the thread is never told
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    shared_->given_up = true;
  }
  shared_->changed.notify_all();
  thread.join();
}

void PausedFit::run() {
  Shared& shared = *shared_;
  std::unique_lock<std::mutex> lock(shared.mutex);
  shared.reports.clear();
  shared.working = true;
  shared.changed.notify_all();
  shared.changed.wait(lock, [&] { return !shared.working; });
  if (shared.error) std::rethrow_exception(shared.error);
}

void PausedFit::start() {
  if (shared_->question || shared_->result || shared_->error) {
    throw std::logic_error("the fit has started already");
  }
  run();
}

void PausedFit::answer(VectorD combined) {
  if (!shared_->question) throw std::logic_error("the fit asks nothing");
  shared_->answer = std::move(combined);
  run();
}

const Question* PausedFit::question() const {
  return shared_->question ? &*shared_->question : nullptr;
}
const std::shared_ptr<const Fit>& PausedFit::result() const { return shared_->result; }
const std::vector<StageReport>& PausedFit::reports() const { return shared_->reports; }

}  // namespace stagenets
