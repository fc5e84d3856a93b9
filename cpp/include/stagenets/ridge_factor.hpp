// The primal form of the growing ridge factor; see factor.hpp. Q is held in row panels in the
// feature type, all d × d matrices in double. A stage sweeps twice over Q: once for B = QᵀG, once for
// Q' = (G − QB) L_s⁻ᵀ and the residual.
#pragma once

#include <memory>

#include "stagenets/coordinates.hpp"
#include "stagenets/row_space.hpp"

namespace stagenets {

template <class Scalar>
class RidgeFactor final : public CoordinateFactor<Scalar> {
 public:
  // Starts from the design's fixed columns, with room for `units` more and for `spare` columns that are
  // projected but not appended. Sets up the state. With a row space, the columns of that take the place of the fixed ones,
  // which gives the same readouts; these cannot be refined.
  RidgeFactor(Design<Scalar>& design, RidgeState<Scalar>& state, Index units, Index spare,
              std::unique_ptr<RowSpace<Scalar>> row_space, Team& team);

  Projection project(Design<Scalar>& design, RidgeState<Scalar>& state, Team& team) override;
  std::optional<Index> append(Choice& choice, const Projection& projection, Design<Scalar>& design,
                              RidgeState<Scalar>& state, Team& team) override;
  MatrixD readout(Design<Scalar>& design, Team& team) override;
  MatrixD solve(const MatrixD& rhs, Design<Scalar>& design, Team& team) override;
  MatrixD directions(Design<Scalar>& design, Team& team) override;
  MatrixD unit_columns(const std::vector<Index>& rows) const override;

  // Ω of the first units, for each of the given numbers of units, side by side.
  MatrixD readouts(const std::vector<Index>& units, Design<Scalar>& design, Team& team) const;

  Index fixed_width() const override { return static_cast<Index>(kept_fixed_.size()); }
  MatrixD image(const MatrixD& values, Team&) const override { return values; }
  ConstMatrixMap<Scalar> columns(Index block, Index first, Index count) const override {
    return q_.block(block, first, count);
  }
  MatrixD readout_of(const MatrixD& coordinates, Team& team) const override;

 private:
  void start(Design<Scalar>& design, RidgeState<Scalar>& state, Team& team);
  Index start_width() const { return row_space_ ? row_space_->columns().cols() : fixed_; }
  void start_columns(const Design<Scalar>& design, RowRange range, MatrixMap<double> out) const;
  void orthogonalize_start_again(RidgeState<Scalar>& state, Team& team);
  void absorb_block(Index block, Index first, const Matrix<Scalar>& z, RidgeState<Scalar>& state,
                    double* measures);
  // Returns the first new column that depends on those before it, if there is one.
  std::optional<Index> orthogonalize_again(MatrixD& overlap, MatrixD& schur_factor,
                                           RidgeState<Scalar>& state, Team& team);
  std::optional<Index> first_dependent(const MatrixD& overlap, const MatrixD& schur_factor,
                                       Team& team) const;
  void move_chosen(Index block, const std::vector<Index>& columns, Matrix<Scalar>& scratch);
  void normalize_block(Index block, const MatrixD& schur_factor);
  MatrixD expand(const MatrixD& kept, Index design_columns, Team& team) const;
  MatrixD compress(const MatrixD& all) const;

  Index fixed_;                                  // fixed columns of the design
  std::unique_ptr<RowSpace<Scalar>> row_space_;  // of the fixed columns, or null
  Index block_rows_;
  std::vector<Index>
      kept_fixed_;   // the columns that it starts with, of those of the design or of the row space
  Index width_ = 0;  // d, columns in the factor
  Panels<Scalar> q_;
  MatrixD l_;
  MatrixD z_;
  MatrixD overlap_;  // B = QᵀG of the columns last projected
};

}  // namespace stagenets
