// Some columns of Q for products block by block: blocks X with Q = X C, where X and C are Q and I if these columns are
// held, or A and L⁻ᵀ if a primal factor makes them again of its design.
#pragma once

#include "stagenets/panels.hpp"
#include "stagenets/team.hpp"

namespace stagenets {

template <class Scalar>
class RidgeFactor;

template <class Scalar>
class FactorColumns {
 public:
  FactorColumns(const Panels<Scalar>& held, Index first, Index count)
      : held_(&held), first_(first), count_(count) {}
  FactorColumns(const RidgeFactor<Scalar>& maker, Index first, Index count)
      : maker_(&maker), first_(first), count_(count) {}

  // The number of columns of X, and these on a block of rows; valid until the worker asks for another.
  Index width() const { return held_ ? count_ : first_ + count_; }
  ConstMatrixMap<Scalar> block(Index b, int worker) const;
  // C Θ, so that QΘ = X (C Θ); and QᵀY from XᵀY.
  MatrixD coefficients(const MatrixD& theta, Team& team) const;
  MatrixD products(MatrixD sums, Team& team) const;

 private:
  const Panels<Scalar>* held_ = nullptr;
  const RidgeFactor<Scalar>* maker_ = nullptr;  // if they are not held
  Index first_, count_;
};

}  // namespace stagenets
