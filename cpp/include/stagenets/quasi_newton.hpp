// The memory of a limited-memory quasi-Newton method (L-BFGS): the last few steps and the changes of the gradient along
// them, from which a direction of descent follows. Points may grow by coordinates.
#pragma once

#include <deque>

#include "stagenets/coordinates.hpp"

namespace stagenets {

class QuasiNewton {
 public:
  // `scale` times the negative gradient is a good step as long as nothing else is known.
  explicit QuasiNewton(double scale) : scale_(scale) {}

  bool empty() const { return pairs_.empty(); }
  void forget() { pairs_.clear(); }
  // Ignores steps along which the gradient does not increase.
  void remember(Coordinates step, Coordinates change);
  Coordinates direction(const Coordinates& gradient) const;
  // Coordinates added to all points, along which nothing has moved yet.
  void grow(Index rows);

 private:
  struct Pair {
    Coordinates step, change;
    double curvature;  // step · change
  };

  double scale_;
  std::deque<Pair> pairs_;
};

}  // namespace stagenets
