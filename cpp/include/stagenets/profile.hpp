// Where the time of a fit goes: seconds spent in each part, summed over threads. The clock is read a few times per
// block of rows, at no measurable cost.
#pragma once

#include <chrono>

namespace stagenets {

struct Profile {
  double draw = 0;        // drawing the candidates
  double map = 0;         // U W of the pools
  double activation = 0;  // φ and the squared norms
  double score = 0;       // GᵀR
  double project = 0;     // selected units, QᵀG
  double append = 0;      // Q', the residual
  double total = 0;       // of the whole fit, on the clock

  Profile& operator+=(const Profile& other) {
    draw += other.draw;
    map += other.map;
    activation += other.activation;
    score += other.score;
    project += other.project;
    append += other.append;
    total += other.total;
    return *this;
  }
};

class Stopwatch {
 public:
  // Seconds since the last lap.
  double lap() {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace stagenets
