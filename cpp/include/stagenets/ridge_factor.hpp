// The primal form of the growing ridge factor; see factor.hpp. Q is held in row panels in the
// feature type, all d × d matrices in double. A stage sweeps twice over Q: once for B = QᵀG, once for
// Q' = (G − QB) L_s⁻ᵀ and the residual. If Q is not to be held, Q = A L⁻ᵀ is what these sweeps make again of the design,
// at O(n d) activations each; only columns that are being appended are held then.
#pragma once

#include <memory>

#include "stagenets/coordinates.hpp"
#include "stagenets/readout_path.hpp"
#include "stagenets/row_space.hpp"

namespace stagenets {

// What a factor is to have room for.
struct FactorRoom {
  Index units;      // that are kept in the end
  Index projected;  // at a time, at most
  Index spare;      // of these that are not kept
  Store store;
};

template <class Scalar>
class RidgeFactor final : public CoordinateFactor<Scalar> {
 public:
  // Starts from the design's fixed columns. Sets up the state. With a row space, the columns of that take the place of the
  // fixed ones, which gives the same readouts; these cannot be refined. The design must outlive it.
  RidgeFactor(Design<Scalar>& design, RidgeState<Scalar>& state, const FactorRoom& room,
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
  // The path of the same units by another penalty, from AᵀA + αI = L Lᵀ + (α − λ)I. Empty if rounding makes that
  // impossible.
  std::optional<ReadoutPath> path_by(double alpha, Design<Scalar>& design, Team& team) const;

  FactorColumns<Scalar> columns(Index first, Index count) const override;
  Index fixed_width() const override { return static_cast<Index>(kept_fixed_.size()); }
  Index width() const override { return width_; }
  bool is_wide() const override { return row_space_ != nullptr; }
  MatrixD shrinkage(Index columns, Team& team) const override;
  MatrixD image(const MatrixD& values, Team&) const override { return values; }
  MatrixD readout_of(const MatrixD& coordinates, Team& team) const override;

 private:
  friend class FactorColumns<Scalar>;

  void start(RidgeState<Scalar>& state, Team& team);
  Index start_width() const { return row_space_ ? row_space_->columns().cols() : fixed_; }
  bool holds_q() const { return store_ == Store::memory; }
  MatrixMap<Scalar> fresh(Index block, Index count) {
    return q_.block(block, holds_q() ? width_ : 0, count);
  }
  void start_columns(RowRange range, MatrixMap<double> out) const;
  MatrixMap<Scalar> make_start(Index block, Team& team, int worker);
  MatrixMap<Scalar> start_of_q(Index block, Team& team, int worker);
  void orthogonalize_start_again(RidgeState<Scalar>& state, Team& team);
  void absorb_block(Index block, const MatrixMap<Scalar>& q, const Matrix<Scalar>& z,
                    RidgeState<Scalar>& state, double* measures);
  // Returns the first new column that depends on those before it, if there is one.
  std::optional<Index> orthogonalize_again(MatrixD& overlap, MatrixD& schur_factor,
                                           RidgeState<Scalar>& state, Team& team);
  std::optional<Index> first_dependent(const MatrixD& overlap, const MatrixD& schur_factor,
                                       Team& team) const;
  void move_chosen(Index block, const std::vector<Index>& columns, Matrix<Scalar>& scratch);
  void normalize_block(Index block, const MatrixD& schur_factor);
  MatrixD expand(const MatrixD& kept, Index design_columns, Team& team) const;
  MatrixD compress(const MatrixD& all) const;

  Design<Scalar>& design_;
  const RowBlocks& blocks_;
  const double alpha_;  // λ
  Store store_;
  Index fixed_;                                  // fixed columns of the design
  std::unique_ptr<RowSpace<Scalar>> row_space_;  // of the fixed columns, or null
  Index block_rows_;
  std::vector<Index>
      kept_fixed_;    // the columns that it starts with, of those of the design or of the row space
  Index width_ = 0;   // d, columns in the factor
  Panels<Scalar> q_;  // and behind it, or alone, the columns being appended
  MatrixD l_;
  MatrixD z_;
  MatrixD overlap_;  // B = QᵀG of the columns last projected
};

}  // namespace stagenets
