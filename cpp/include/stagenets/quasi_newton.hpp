// The memory of a limited-memory quasi-Newton method (L-BFGS): the last few steps and the changes of the gradient along
// them, from which a direction of descent follows. Points are matrices with the usual inner product, and may grow by rows.
#pragma once

#include <deque>

#include "stagenets/types.hpp"

namespace stagenets {

class QuasiNewton {
 public:
  bool empty() const { return pairs_.empty(); }
  void forget() { pairs_.clear(); }
  // Ignores steps along which the gradient does not increase.
  void remember(MatrixD step, MatrixD change);
  // The negative gradient, with its columns multiplied by `steps`, is a good step as long as nothing else is known.
  MatrixD direction(const MatrixD& gradient, const Eigen::RowVectorXd& steps) const;
  // Coordinates added to all points, along which nothing has moved yet.
  void grow(Index rows);

 private:
  struct Pair {
    MatrixD step, change;
    double curvature;  // step · change
  };

  std::deque<Pair> pairs_;
};

}  // namespace stagenets
