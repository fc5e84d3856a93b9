// The dual form of the growing ridge factor; see factor.hpp. K = AAᵀ + λI = L Lᵀ is n × n, so this
// form is the smaller one when the design has more columns than rows. With V = L⁻¹G the Schur complement is
// λ (I + VᵀV), Q' = λ K⁻¹ G L_s⁻ᵀ, and k new columns are k rank-one updates of L. K holds the products of
// every row with every other, so all rows must be in one place: rows with a Reduction are refused.
#pragma once

#include <cmath>
#include <stdexcept>

#include "stagenets/factor.hpp"

namespace stagenets {

// What is thrown where the dual form cannot be had, or cannot be trusted, to working precision.
std::domain_error dual_form_is_singular();

template <class Scalar>
class DualFactor final : public Factor<Scalar> {
 public:
  // Factorises K for the fixed columns and the first `units` of the units kept.
  DualFactor(Design<Scalar>& design, RidgeState<Scalar>& state, Index units, Team& team);

  // Of [A √λI], roughly: its Frobenius norm and the smallest pivot.
  double condition() const { return std::sqrt(trace_) / l_.diagonal().minCoeff(); }

  // Sets residual, objective and leverages from scratch, before any column is projected.
  void initialize(RidgeState<Scalar>& state, Team& team);

  Projection project(Design<Scalar>& design, RidgeState<Scalar>& state, Team& team) override;
  std::optional<Index> append(Choice& choice, const Projection& projection, Design<Scalar>& design,
                              RidgeState<Scalar>& state, Team& team) override;
  MatrixD readout(Design<Scalar>& design, Team& team) override;
  MatrixD solve(const MatrixD& rhs, Design<Scalar>& design, Team& team) override;
  MatrixD directions(Design<Scalar>& design, Team& team) override;
  MatrixD unit_columns(const std::vector<Index>& rows) const override;

 private:
  Index columns() const;  // of the design that are in K
  void refine_readout(MatrixD& omega, MatrixD& dual, Design<Scalar>& design, Team& team) const;
  void factor_by_qr(Design<Scalar>& design, Index units, Team& team);
  void solve_targets(RidgeState<Scalar>& state, Team& team);
  void solve_kernel(MatrixD& x, Team& team) const;

  double alpha_;
  const MatrixD& targets_;
  const RowBlocks& blocks_;
  Index columns_before_;  // of the design, when this factor was made
  MatrixD l_;
  MatrixD residual_;             // R, before it is rounded to the feature type
  double trace_;                 // of K
  MatrixD fresh_, half_solved_;  // G and V of the columns last projected
  std::vector<MatrixD> solved_;  // K⁻¹ G L_s⁻ᵀ of every block appended
  std::vector<MatrixD> own_;     // L_s⁻ᵀ of every block appended
};

}  // namespace stagenets
