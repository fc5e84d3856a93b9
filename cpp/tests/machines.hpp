// Rows spread over two "machines", each a thread, that meet only where sums over rows are completed.
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "stagenets/reduction.hpp"

namespace stagenets {

constexpr int kMachines = 2;

// Where the machines meet. Each combines the parts in the order of the machines, so all get the same bits.
class MeetingPoint {
 public:
  template <class Combine>
  void combine(int machine, double* values, Index count, Combine&& with) {
    parts_[static_cast<std::size_t>(machine)] = values;
    wait_for_all();
    VectorD result = Eigen::Map<VectorD>(parts_[0], count);
    for (std::size_t m = 1; m < parts_.size(); ++m) {
      const Eigen::Map<const VectorD> part(parts_[m], count);
      result = result.binaryExpr(part, with);
    }
    wait_for_all();  // nobody writes while others still read
    Eigen::Map<VectorD>(values, count) = result;
  }

  VectorD gather(int machine, const VectorD& values) {
    gathered_[static_cast<std::size_t>(machine)] = &values;
    wait_for_all();
    VectorD all(gathered_[0]->size() + gathered_[1]->size());
    all << *gathered_[0], *gathered_[1];
    wait_for_all();
    return all;
  }

 private:
  void wait_for_all() {
    std::unique_lock<std::mutex> lock(mutex_);
    const int turn = turn_;
    if (++arrived_ == kMachines) {
      arrived_ = 0;
      ++turn_;
      all_here_.notify_all();
      return;
    }
    all_here_.wait(lock, [&] { return turn_ != turn; });
  }

  std::array<double*, kMachines> parts_{};
  std::array<const VectorD*, kMachines> gathered_{};
  std::mutex mutex_;
  std::condition_variable all_here_;
  int arrived_ = 0, turn_ = 0;
};

class OneOfSeveral final : public Reduction {
 public:
  OneOfSeveral(MeetingPoint& point, int machine) : point_(point), machine_(machine) {}
  void add(double* values, Index count) const override {
    point_.combine(machine_, values, count, [](double a, double b) { return a + b; });
  }
  void least(double* values, Index count) const override {
    point_.combine(machine_, values, count, [](double a, double b) { return std::min(a, b); });
  }
  void greatest(double* values, Index count) const override {
    point_.combine(machine_, values, count, [](double a, double b) { return std::max(a, b); });
  }
  VectorD gather(const VectorD& values) const override { return point_.gather(machine_, values); }
  Index process() const override { return machine_; }

 private:
  MeetingPoint& point_;
  int machine_;
};

// work(machine, reduction) on both at once; what each finds.
template <class Work>
auto on_two_machines(Work&& work) {
  MeetingPoint point;
  std::array<decltype(work(0, std::declval<const Reduction&>())), kMachines> found;
  const auto run = [&](int machine) {
    found[static_cast<std::size_t>(machine)] = work(machine, OneOfSeveral(point, machine));
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  return found;
}

}  // namespace stagenets
