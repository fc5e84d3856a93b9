// The ridge problem of a fit in progress: chooses the primal or the dual form, changes over when the
// design outgrows the rows, takes the best candidates that really add something, and gives the
// readout, refined where the problem is ill-conditioned.
#pragma once

#include <memory>

#include "residuum/factor.hpp"
#include "residuum/stagewise.hpp"

namespace residuum {

template <class Scalar>
class GrowingRidge {
 public:
  // All but the settings must outlive it.
  GrowingRidge(Design<Scalar>& design, const RowBlocks& blocks, const MatrixD& targets,
               const MatrixD& weighted_targets, const StagewiseSettings& settings, Team& team);

  const RidgeState<Scalar>& state() const { return state_; }

  // Appends `take` candidates of the ranking: the first ones, or (Selection::joint) those of a shortlist
  // that bring the largest drop one after another. Passes over any that add nothing (a relative pivot
  // below d·eps). Returns the ones taken, possibly none.
  std::vector<Index> append(const std::vector<Index>& ranking, Index take);

  // Ω. When it had to be refined, `objective` becomes the objective at the refined readout.
  MatrixD readout(double& objective);
  // Ω as the factor has it, without refinement.
  MatrixD unrefined_readout();
  ReadoutPath path();
  // The path through these numbers of units alone, if that is shorter than one through all.
  ReadoutPath path_through(const std::vector<Index>& units);

 private:
  void change_to_dual();
  bool try_dual();

  Design<Scalar>& design_;
  Team& team_;
  RidgeState<Scalar> state_;
  Solver solver_;
  Selection selection_;
  Index block_;
  bool primal_;
  Index width_;  // columns of the design so far
  std::unique_ptr<Factor<Scalar>> factor_;
  MatrixD start_;
  MatrixD primal_directions_;  // of the stages before the change to the dual form
  std::vector<MatrixD> steps_;
};

// Newton steps on Ω with the gradient taken anew from the data, while they help. `solve` applies
// (AᵀA + λI)⁻¹; returns the objective at the refined readout.
template <class Scalar, class Solve>
double refine(Design<Scalar>& design, const RidgeState<Scalar>& state, MatrixD& readout,
              int most_steps, Team& team, Solve&& solve) {
  double energy = 0;
  const auto gradient_at = [&](const MatrixD& omega) -> MatrixD {
    return design.residual_gradient(omega, state.targets, state.blocks, energy, team) -
           state.alpha * omega;
  };
  MatrixD gradient = gradient_at(readout);
  double objective = energy + state.alpha * readout.squaredNorm();
  for (int step = 0; step < most_steps; ++step) {
    const MatrixD better = readout + solve(gradient);
    const MatrixD new_gradient = gradient_at(better);
    if (!(new_gradient.norm() < gradient.norm())) break;
    readout = better;
    objective = energy + state.alpha * readout.squaredNorm();
    const bool converging = new_gradient.norm() < 0.1 * gradient.norm();
    gradient = new_gradient;
    if (!converging) break;
  }
  return objective;
}

// Whether rounding of the feature type, magnified by the conditioning, shows in the readout.
template <class Scalar>
bool needs_refinement(double worst_pivot) {
  return std::numeric_limits<Scalar>::epsilon() > 1e-11 * worst_pivot;
}

}  // namespace residuum
