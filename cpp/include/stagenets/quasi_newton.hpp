// The memory of a limited-memory quasi-Newton method (L-BFGS): the last few steps and the changes of the gradient along
// them, from which a direction of descent follows. Points may grow by coordinates. What the steps do not tell about the
// curvature is taken to be the same in all directions.
#pragma once

#include <deque>

#include "stagenets/coordinates.hpp"

namespace stagenets {

class QuasiNewton {
 public:
  bool empty() const { return pairs_.empty(); }
  void forget() { pairs_.clear(); }
  // Ignores steps along which the gradient does not increase.
  void remember(Coordinates step, Coordinates change);
  // The negative gradient, with its columns multiplied by `steps`, is a good step as long as nothing else is known.
  Coordinates direction(const Coordinates& gradient, const Eigen::RowVectorXd& steps) const;
  // Coordinates added to all points, along which nothing has moved yet.
  void grow(Index rows);

 private:
  struct Pair {
    Coordinates step, change;
    double curvature;  // step · change
  };

  std::deque<Pair> pairs_;
};

}  // namespace stagenets
