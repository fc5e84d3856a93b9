// The primal form of the growing ridge factor; see factor.hpp. Q is held in row panels in the
// feature type, everything d × d in double. A stage sweeps twice over Q: once for B = QᵀG, once for
// Q' = (G − QB) L_s⁻ᵀ and the residual.
#pragma once

#include "residuum/factor.hpp"

namespace residuum {

template <class Scalar>
class RidgeFactor final : public Factor<Scalar> {
 public:
  // Starts from the design's fixed columns, with room for `units` more and for `spare` columns that are
  // looked at but not taken. Sets up the state.
  RidgeFactor(Design<Scalar>& design, RidgeState<Scalar>& state, Index units, Index spare,
              Team& team);

  Projection project(Design<Scalar>& design, RidgeState<Scalar>& state, Team& team) override;
  void append(Choice& choice, const Projection& projection, Design<Scalar>& design,
              RidgeState<Scalar>& state, Team& team) override;
  MatrixD readout(Design<Scalar>& design, Team& team) override;
  MatrixD solve(const MatrixD& rhs, Design<Scalar>& design, Team& team) override;
  MatrixD directions(Design<Scalar>& design, Team& team) override;

  // Ω of the first so many units, for every number given, side by side.
  MatrixD readouts(const std::vector<Index>& units, Design<Scalar>& design) const;

 private:
  void start(Design<Scalar>& design, RidgeState<Scalar>& state, Team& team);
  void orthogonalize_start_again(RidgeState<Scalar>& state, Team& team);
  void absorb_block(Index block, Index first, const Matrix<Scalar>& z, RidgeState<Scalar>& state,
                    double* measures);
  void orthogonalize_again(MatrixD& overlap, MatrixD& schur_factor, RidgeState<Scalar>& state,
                           Team& team);
  void move_chosen(Index block, Index rows, const std::vector<Index>& columns,
                   Matrix<Scalar>& scratch);
  void normalize_block(Index block, Index rows, const MatrixD& schur_factor);
  MatrixD expand(const MatrixD& kept, Index design_columns) const;
  MatrixD compress(const MatrixD& all) const;

  Index fixed_;                    // fixed columns of the design
  std::vector<Index> kept_fixed_;  // those of them that are in the factor
  Index width_ = 0;                // d, columns in the factor
  Panels<Scalar> q_;
  MatrixD l_;
  MatrixD z_;
  MatrixD overlap_;  // B = QᵀG of the columns last looked at
};

}  // namespace residuum
