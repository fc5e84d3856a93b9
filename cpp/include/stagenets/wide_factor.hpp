// The growing ridge factor of a design that begins with more fixed columns A₀ than it has rows, without ever holding
// these or the n × n columns of Q that belong to them; see factor.hpp. K₀ = A₀A₀ᵀ + λI = L₀L₀ᵀ is factorised once, and
//
//   Q₀Q₀ᵀ = I − λK₀⁻¹,   S = λ (I + VᵀV) − BᵀB with V = L₀⁻¹G and B = Q'ᵀG,   Q' ← (λL₀⁻ᵀV − Q'B) L_s⁻ᵀ,
//
// so only the columns Q' of the units are stored, and nothing is left of A₀ but products with it. A stage costs O(n²)
// for each candidate of its shortlist. Unlike the dual form, which has no coordinates, this one serves any loss: the
// fixed ones are implicit. All rows must be in one place.
#pragma once

#include <stdexcept>

#include "stagenets/coordinates.hpp"

namespace stagenets {

template <class Scalar>
class WideFactor final : public CoordinateFactor<Scalar> {
 public:
  // Factorises K₀ for the fixed columns of the design, which must outlive it; `spare` columns are needed beyond `units` ones.
  // Throws std::domain_error if K₀ is singular to working precision.
  WideFactor(Design<Scalar>& design, RidgeState<Scalar>& state, Index units, Index spare,
             Team& team);

  // Of [A₀ √λI], roughly: its Frobenius norm and the smallest pivot.
  double condition() const { return std::sqrt(trace_) / l0_.diagonal().minCoeff(); }

  // Sets residual, objective and leverages; to be called before the first unit.
  void initialize(RidgeState<Scalar>& state, Team& team);

  Projection project(Design<Scalar>& design, RidgeState<Scalar>& state, Team& team) override;
  std::optional<Index> append(Choice& choice, const Projection& projection, Design<Scalar>& design,
                              RidgeState<Scalar>& state, Team& team) override;
  MatrixD readout(Design<Scalar>& design, Team& team) override;
  MatrixD solve(const MatrixD& rhs, Design<Scalar>& design, Team& team) override;
  MatrixD directions(Design<Scalar>& design, Team& team) override;
  MatrixD unit_columns(const std::vector<Index>& rows) const override;

  Index fixed_width() const override { return l0_.rows(); }
  bool is_implicit() const override { return true; }
  bool is_wide() const override { return true; }
  Index width() const override { return fixed_width() + width_; }
  MatrixD shrinkage(Index, Team&) const override {
    throw std::logic_error("coordinates of the fixed columns are implicit");
  }
  Index fixed_rank() const override { return rank_; }
  MatrixD image(const MatrixD& values, Team& team) const override;
  FactorColumns<Scalar> columns(Index first, Index count) const override {
    return {q_, first - fixed_width(), count};
  }
  MatrixD readout_of(const MatrixD& coordinates, Team& team) const override;

 private:
  void solve_kernel(MatrixD& x, Team& team) const;
  // Ω of K₀⁻¹V, which is given, and of the coordinates of the first units.
  MatrixD readout_of(MatrixD solved, const MatrixD& unit_coordinates, Team& team) const;
  // Q'x and Q'ᵀx, for the first units and for all.
  MatrixD times(const MatrixD& x, Team& team) const;
  MatrixD transposed_times(const MatrixD& x, Team& team) const;

  Design<Scalar>& design_;
  const RowBlocks& blocks_;
  double alpha_;
  MatrixD l0_;
  Index rank_;                     // of A₀, but for coincidences
  double trace_, largest_;         // of K₀, and its largest diagonal element
  MatrixD dual_;                   // K₀⁻¹T
  Index width_ = 0;                // units so far
  Panels<Scalar> q_;               // Q'
  MatrixD l_;                      // of the units, given A₀: S = L Lᵀ
  MatrixD z_;                      // coordinates of the ridge solution
  MatrixD half_solved_, overlap_;  // V and B of the columns last projected
};

}  // namespace stagenets
