// The memory of a limited-memory quasi-Newton method (L-BFGS): the last few steps and the changes of the gradient along
// them, from which a direction of descent follows. Points are matrices with the usual inner product, and may grow by rows.
// What the steps do not tell about the curvature is taken to be the same in all directions, or to be that of a model, the
// same for all columns.
#pragma once

#include <deque>

#include "stagenets/team_blas.hpp"

namespace stagenets {

class QuasiNewton {
 public:
  bool empty() const { return pairs_.empty(); }
  void forget() {
    pairs_.clear();
    model_.resize(0, 0);
  }
  // The Cholesky factor of the model.
  void set_model(MatrixD factor) { model_ = std::move(factor); }
  // Ignores steps along which the gradient does not increase.
  void remember(MatrixD step, MatrixD change);
  // The negative gradient, with its columns multiplied by `steps`, is a good step as long as nothing else is known.
  MatrixD direction(const MatrixD& gradient, const Eigen::RowVectorXd& steps, Team& team) const;
  // Coordinates added to all points, along which nothing has moved yet. There is no model of these.
  void grow(Index rows);

 private:
  struct Pair {
    MatrixD step, change;
    double curvature;  // step · change
  };

  // The model's inverse times some columns, or all that is known without a model.
  MatrixD unmodelled(MatrixD columns, const Eigen::RowVectorXd& steps, Team& team) const;

  std::deque<Pair> pairs_;
  MatrixD model_;  // empty if there is none
};

}  // namespace stagenets
