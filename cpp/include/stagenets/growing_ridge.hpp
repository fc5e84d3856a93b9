// The ridge problem of a fit in progress: chooses the primal, the dual or the wide form, switches when the
// design has more columns than rows, appends the best candidates that add something, and computes the
// readout, refined where the problem is ill-conditioned.
#pragma once

#include <memory>

#include "stagenets/factor.hpp"
#include "stagenets/readout_path.hpp"
#include "stagenets/ridge_factor.hpp"
#include "stagenets/settings.hpp"

namespace stagenets {

// Units that are appended at a time where none are to be chosen.
constexpr Index kMostTogether = 128;

template <class Scalar>
class GrowingRidge {
 public:
  // All arguments but `settings` and `wanted` must outlive it. `calibration` is null unless links are requested.
  GrowingRidge(Design<Scalar>& design, const RowBlocks& blocks, const Targets& targets,
               const MatrixD& weighted_targets, const StagewiseSettings& settings,
               const Wanted& wanted, const Calibration* calibration, Team& team);

  const RidgeState<Scalar>& state() const { return state_; }
  // R, by which units are chosen. With another loss than the squared error it may be replaced by the errors of that.
  Panels<Scalar>& residual() { return state_.residual; }
  // The factor with its coordinates; it has some, throughout, if the loss is not squared.
  const CoordinateFactor<Scalar>& coordinate_factor() const {
    return static_cast<const CoordinateFactor<Scalar>&>(*factor_);
  }
  // Γ of all units so far, if the form is primal.
  MatrixD directions();

  // Appends as many candidates of the ranking as planned: the first ones, or (Selection::joint) those of a shortlist
  // that give the largest drop one after another. Skips any that add nothing (a relative pivot below
  // d·eps). The result depends on no candidate beyond those looked at.
  struct Appended {
    std::vector<Index> candidates;  // possibly none
    std::vector<double> scores;     // of those
    std::size_t looked_at = 0;      // in the ranking
  };
  Appended append_best(RankedPool& ranking, const StagePlan& plan);
  // How many candidates that considers, if all of them add something.
  Index considered(const StagePlan& plan) const;

  // Ω. If it had to be refined, `objective` becomes the objective at the refined readout.
  MatrixD readout(double& objective);
  // Ω from the factor, without refinement.
  MatrixD unrefined_readout();
  ReadoutPath path();
  // Throws unless a readout of the path, for its first columns, leaves the residual that the path claims.
  void check_readout(const MatrixD& readout, double residual_energy);
  // The path through these numbers of units only, if that is shorter than the path through all.
  ReadoutPath path_through(const std::vector<Index>& units);
  // The path by another penalty than its own, in the primal form; empty if rounding makes that impossible.
  std::optional<ReadoutPath> path_by(double alpha);

  // What makes probabilities of the scores after these numbers of units (increasing).
  std::vector<Link> links(const std::vector<Index>& units) const;

 private:
  bool ill_conditioned() const;
  void change_to_dual();
  bool try_dual();
  bool try_wide(Index spare);
  MatrixD all_steps() const;

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
  const Calibration* calibration_;
  CalibrationState calibration_start_;  // before the first unit
  MatrixD
      primal_columns_;  // of Q on those rows, from the stages before the change to the dual form
  MatrixD primal_directions_;  // of those stages
  std::vector<MatrixD> steps_;
};

// Newton steps on Ω with the gradient recomputed from the data, while they help. `solve` applies
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

// Whether the objective at a readout, measured on the data, is what the factor says. What is nothing beside the targets
// does not count.
inline bool agree(double measured, double expected, const MatrixD& targets) {
  return measured <= 1.0001 * expected + 1e-10 * targets.squaredNorm();
}

// Whether rounding in the feature type, magnified by the conditioning, affects the readout.
template <class Scalar>
bool needs_refinement(double worst_pivot) {
  return std::numeric_limits<Scalar>::epsilon() > 1e-11 * worst_pivot;
}

}  // namespace stagenets
