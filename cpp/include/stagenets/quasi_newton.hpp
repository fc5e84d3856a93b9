// The memory of a limited-memory quasi-Newton method (L-BFGS): the last few steps and the changes of the gradient along
// them, from which a direction of descent follows. Points may grow by coordinates. What the steps do not tell about the
// curvature is taken to be the same in all directions, or to be that of a model, the same for all columns.
#pragma once

#include <deque>

#include "stagenets/coordinates.hpp"
#include "stagenets/team_blas.hpp"

namespace stagenets {

class QuasiNewton {
 public:
  bool empty() const { return pairs_.empty(); }
  void forget() {
    pairs_.clear();
    model_.resize(0, 0);
  }
  // The Cholesky factor of the model, of coordinates none of which are implicit.
  void set_model(MatrixD factor) { model_ = std::move(factor); }
  // Ignores steps along which the gradient does not increase.
  void remember(Coordinates step, Coordinates change);
  // The negative gradient, with its columns multiplied by `steps`, is a good step as long as nothing else is known.
  Coordinates direction(const Coordinates& gradient, const Eigen::RowVectorXd& steps,
                        Team& team) const;
  // Coordinates added to all points, along which nothing has moved yet. There is no model of these.
  void grow(Index rows);

 private:
  struct Pair {
    Coordinates step, change;
    double curvature;  // step · change
  };

  // The model's inverse times a point, or all that is known without a model.
  Coordinates unmodelled(Coordinates point, const Eigen::RowVectorXd& steps, Team& team) const;

  std::deque<Pair> pairs_;
  MatrixD model_;  // empty if there is none
};

}  // namespace stagenets
