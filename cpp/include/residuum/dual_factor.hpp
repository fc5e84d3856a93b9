// The dual form of the growing ridge factor; see factor.hpp. K = AAᵀ + λI = L Lᵀ is n × n, so this
// is the small one when the design has more columns than rows. With V = L⁻¹G the Schur complement is
// λ (I + VᵀV), Q' = λ K⁻¹ G L_s⁻ᵀ, and k new columns are k rank-one updates of L.
#pragma once

#include "residuum/factor.hpp"

namespace residuum {

template <class Scalar>
class DualFactor final : public Factor<Scalar> {
 public:
  // Factors K of the fixed columns and the first `units` of the units kept.
  DualFactor(Design<Scalar>& design, RidgeState<Scalar>& state, Index units, Team& team);

  // Sets residual, objective and leverages from scratch; not needed when another form kept them.
  void initialize(RidgeState<Scalar>& state);

  Projection project(Design<Scalar>& design, RidgeState<Scalar>& state, Team& team) override;
  void append(Choice& choice, const Projection& projection, Design<Scalar>& design,
              RidgeState<Scalar>& state, Team& team) override;
  MatrixD readout(Design<Scalar>& design, Team& team) override;
  MatrixD solve(const MatrixD& rhs, Design<Scalar>& design, Team& team) override;
  MatrixD directions(Design<Scalar>& design, Team& team) override;

 private:
  void factor_by_qr(Design<Scalar>& design, Index units, Team& team);
  MatrixD residual_of(const RidgeState<Scalar>& state) const;
  void store_residual(const MatrixD& residual, RidgeState<Scalar>& state) const;
  void solve_kernel(MatrixD& x) const;

  double alpha_;
  const MatrixD& targets_;
  const RowBlocks& blocks_;
  Index columns_before_;  // of the design, when this factor was made
  MatrixD l_;
  MatrixD fresh_, half_solved_;  // G and V of the columns last looked at
  std::vector<MatrixD> solved_;  // K⁻¹ G L_s⁻ᵀ of every block appended
  std::vector<MatrixD> own_;     // L_s⁻ᵀ of every block appended
};

}  // namespace residuum
