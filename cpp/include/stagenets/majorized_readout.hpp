// The readout that minimises a penalised loss of a growing network other than the squared error,
//
//   Σ_i loss(a_iᵀ Ω, y_i) + λ/2 ‖Ω‖²   (+ γ/2 tr(ΩᵀAᵀLAΩ) if there is a graph of rows; of numbers, 2/σ times that),
//
// on the factor of the ridge problem. The second derivatives of the loss are at most κ (RowLoss), so with the penalty λ/κ
// (of numbers, λ) in the factor, AᵀA + λ/κ I = L Lᵀ and Q = A L⁻ᵀ, the objective in the coordinates Θ = LᵀΩ has curvature at most κ in
// every direction. With the scores F = QΘ and the errors R = −∂loss/∂F,
//
//   objective = Σ loss + κ/2 (‖Θ‖² − ‖F‖²),    gradient = −Qᵀ(R + κF) + κΘ,
//
// and Θ ← QᵀZ, the ridge fit to the working response Z = F + R/κ, is a step that lowers the objective by at least the
// squared norm of the gradient over 2κ. New columns Q' alone move by Q'ᵀZ, at the cost of one pass over them; in between,
// and at the end, all coordinates are fitted again by a quasi-Newton method that starts from such steps. All this is by
// output: κ may differ between them. Where it depends on scales, the objective is at those where it is least; it is then
// no more curved in Θ than with the scales held fast, so that the steps are as good as before.
//
// The log-loss, where its Hessian is at hand, is minimised by Newton's method (newton_readout.cpp): most rows are sure of
// their labels and count little, and gradients alone would take many steps.
//
// Since ‖Ω‖² is (‖Θ‖² − ‖F‖²) κ/λ whatever the loss of labels, other penalties rλ are minimised on the same factor: their
// term is r times as large, and the curvature at most κ max(1, r).
//
// A network grows by a convex loss. A bounded one, which is not convex, starts from what minimises that.
#pragma once

#include <algorithm>
#include <optional>

#include "stagenets/quasi_newton.hpp"
#include "stagenets/row_loss.hpp"

namespace stagenets {

template <class Scalar>
class MajorizedReadout {
 public:
  // Starts with the fixed columns of the factor. All arguments must outlive it.
  MajorizedReadout(const CoordinateFactor<Scalar>& factor, const Targets& targets, Loss loss,
                   const RowWeights& weights, const RowBlocks& blocks, Team& team);

  // Adds the next `count` columns of the factor.
  void grow(Index count);
  // Fits all coordinates again if many have been added since that was done last.
  void refit_if_due();
  // Fits all coordinates until a step would lower the objective by less than this fraction; with zero, until only rounding
  // is left, if that can be had (newton_readout.cpp). By the bounded loss at last, if that is wanted.
  void converge(double tolerance);

  // The objective has this many times the factor's penalty from now on; for labels only.
  void set_penalty(double ratio);
  // Whether the loss is not convex any more.
  bool bounded() const { return loss_.bounded(); }

  double objective() const { return objective_; }
  double loss() const { return total_loss_; }
  const MatrixD& coordinates() const { return theta_.values; }

  // A state to return to, before columns were added or fitted.
  struct Snapshot {
    Coordinates theta;
    QuasiNewton memory;
    Index last_refit;
    RowLoss loss;
  };
  Snapshot snapshot() const { return {theta_, memory_, last_refit_, loss_}; }
  void return_to(const Snapshot& snapshot);

  // Estimates of the mean loss and, for one label per row, the accuracy when each row is left out; see the definition.
  struct LeftOut {
    double loss, accuracy;
  };
  LeftOut left_out(const VectorD& leverage) const;

  // The errors R/√(2κ), rows scaled by the roots of their weights: for these, the score of a candidate is what it lowers
  // the objective by at least.
  void put_errors(Panels<Scalar>& into) const;

 private:
  Index outputs() const { return targets_.outputs(); }
  Index width() const { return theta_.values.rows(); }
  RowRange samples_of(Index block) const;
  void measure_block(Index block, double* sums);
  static constexpr Index kSums = 3;
  void measured(const double* sums);
  // The bounds of the objective's curvature, by output.
  Eigen::RowVectorXd steepest() const { return std::max(1.0, ratio_) * bounds_; }
  void fit_scales();
  // Moves to `theta` and returns the gradient there.
  Coordinates move_to(const Coordinates& theta);
  // Adds the coordinates of the fixed columns where these are implicit.
  void grow_implicitly();
  void improve(double tolerance, int most_steps);
  static constexpr int kMostSteps = 500;
  // Moves along the direction, or half or a quarter of it, if that lowers the objective; returns the gradient there.
  std::optional<Coordinates> descend(const Coordinates& start, double before, double slope,
                                     Coordinates& direction);
  // Floating-point operations that a step takes. It counts the rows of all processes, each of which decides by it.
  double work_of_step() const {
    return 4 * total_weight_ * static_cast<double>(width() * outputs());
  }
  // The sum of the leverages for this mean curvature of the rows, in units of κ, over that of the factor's.
  double leverage_share(double mean_curvature) const;
  // Whether steps may use the Hessian: it is that of the log-loss, and not of as many coordinates as there are rows, some of
  // which may be implicit. Wide problems are fitted by the same steps, whether their inputs are dense or sparse.
  bool has_plain_hessian() const {
    return targets_.task() != Task::numbers && !loss_.bounded() && !factor_.is_wide();
  }
  MatrixD chances_of(Index block) const;
  // p(1 − p) of the labels of all samples, and κ for pairs.
  MatrixD curvatures() const;
  // Qᵀ diag(w) Q; rows without weight cost nothing.
  MatrixD weighted_gram(const VectorD& weights) const;
  // Cholesky factors of models of the Hessian, one for each output or one for all; none if it is singular to rounding.
  std::vector<MatrixD> hessian_factors() const;

  struct NewtonStep {
    MatrixD direction;
    Index iterations;
  };
  MatrixD centered(MatrixD rows) const;
  MatrixD curvature_along(const MatrixD& direction) const;
  NewtonStep newton_step(const MatrixD& gradient, const std::vector<MatrixD>& factors,
                         double negligible) const;
  // Newton's method, from some steps of `improve` on; false if the Hessian is singular to rounding, or steps lead nowhere.
  bool newton(double tolerance);
  bool newton_steps(double tolerance);
  // By which the objective may seem to change where it does not.
  double rounding_of(const MatrixD& theta) const;
  static constexpr bool kSingle = std::is_same_v<Scalar, float>;

  const CoordinateFactor<Scalar>& factor_;
  const Targets& targets_;
  const double* roots_;
  const double* left_out_;
  const RowBlocks& blocks_;
  Team& team_;
  const bool wants_bounded_;
  RowLoss loss_;
  Eigen::RowVectorXd bounds_;  // κ
  double ratio_ = 1;           // of the penalty to that of the factor
  Coordinates theta_;
  Panels<Scalar> scores_;  // F, rows scaled by the roots of their weights
  Panels<Scalar> errors_;  // R, scaled likewise
  QuasiNewton memory_;
  Index last_refit_ = 0;  // independent coordinates at that time
  double total_weight_;
  double objective_ = 0, total_loss_ = 0;
  double curvature_ = 0;  // sum over the rows of their mean curvature, in units of κ
  // The last leverage_share, which changes slowly.
  struct {
    Index width = 0;
    double mean_curvature = 1, share = 1;
  } mutable flatter_;
};

}  // namespace stagenets
