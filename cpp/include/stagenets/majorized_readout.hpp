// The readout that minimises a penalised loss of a growing network other than the squared error,
//
//   Σ_i loss(a_iᵀ Ω, y_i) + λ/2 ‖Ω‖²   (+ γ/2 tr(ΩᵀAᵀLAΩ) if there is a graph of rows),
//
// on the factor of the ridge problem. The second derivatives of the loss are at most κ (RowLoss), so with the penalty λ/κ
// in the factor, AᵀA + λ/κ I = L Lᵀ and Q = A L⁻ᵀ, the objective in the coordinates Θ = LᵀΩ has curvature at most κ in
// every direction. With the scores F = QΘ and the errors R = −∂loss/∂F,
//
//   objective = Σ loss + κ/2 (‖Θ‖² − ‖F‖²),    gradient = −Qᵀ(R + κF) + κΘ,
//
// and Θ ← QᵀZ, the ridge fit to the working response Z = F + R/κ, is a step that lowers the objective by at least the
// squared norm of the gradient over 2κ. New columns Q' alone move by Q'ᵀZ, at the cost of one pass over them; in between,
// and at the end, all coordinates are fitted again by a quasi-Newton method that starts from such steps.
#pragma once

#include "stagenets/quasi_newton.hpp"
#include "stagenets/row_loss.hpp"

namespace stagenets {

template <class Scalar>
class MajorizedReadout {
 public:
  // Starts with the fixed columns of the factor. All arguments must outlive it. `targets` are labels.
  MajorizedReadout(const CoordinateFactor<Scalar>& factor, const Targets& targets,
                   const RowWeights& weights, const RowBlocks& blocks, Team& team);

  // Adds the next `count` columns of the factor.
  void grow(Index count);
  // Fits all coordinates again if many have been added since that was done last.
  void refit_if_due();
  // Fits all coordinates until the gradient is negligible.
  void converge();

  double objective() const { return objective_; }
  double loss() const { return total_loss_; }
  const MatrixD& coordinates() const { return theta_.values; }

  // A state to return to, before columns were added or fitted.
  struct Snapshot {
    Coordinates theta;
    QuasiNewton memory;
    Index last_refit;
  };
  Snapshot snapshot() const { return {theta_, memory_, last_refit_}; }
  void return_to(const Snapshot& snapshot);

  // Estimates of the mean loss and, for one label per row, the accuracy when each row is left out; see the definition.
  struct LeftOut {
    double loss, accuracy;
  };
  LeftOut left_out(const VectorD& leverage) const;

 private:
  Index outputs() const { return targets_.outputs(); }
  Index width() const { return theta_.values.rows(); }
  RowRange samples_of(Index block) const;
  void measure_block(Index block, double* sums);
  static constexpr Index kSums = 3;
  void measured(const double* sums);
  // Moves to `theta` and returns the gradient there.
  Coordinates move_to(const Coordinates& theta);
  // Adds the coordinates of the fixed columns where these are implicit.
  void grow_implicitly();
  void improve(double tolerance, int most_steps);

  const CoordinateFactor<Scalar>& factor_;
  const Targets& targets_;
  const double* roots_;
  const double* left_out_;
  const RowBlocks& blocks_;
  Team& team_;
  const RowLoss loss_;
  const double bound_;  // κ
  Coordinates theta_;
  Panels<Scalar> scores_;  // F, rows scaled by the roots of their weights
  Panels<Scalar> errors_;  // R, scaled likewise
  QuasiNewton memory_;
  Index last_refit_ = 0;  // independent coordinates at that time
  double total_weight_;
  double objective_ = 0, total_loss_ = 0;
  double curvature_ = 0;  // sum over the rows of their mean curvature
};

}  // namespace stagenets
