// The fixed columns A₀ of a design that has more of them than rows, in as many columns as there are independent rows:
// A₀ = C Vᵀ, where V has orthonormal columns. What a penalty shrinks lies in the span of the rows, so the best readout of A₀
// is V times the best one of C, with the same penalty and whatever the loss. With S the independent rows and L Lᵀ = A₀A₀ᵀ
// over them, V = A₀ₛᵀ L⁻ᵀ and C = A₀A₀ₛᵀ L⁻ᵀ. All rows must be in one place.
#pragma once

#include "stagenets/cholesky.hpp"
#include "stagenets/design.hpp"

namespace stagenets {

template <class Scalar>
class RowSpace {
 public:
  // The design must outlive it.
  RowSpace(Design<Scalar>& design, const RowBlocks& blocks, Team& team);

  const MatrixD& columns() const { return columns_; }  // C, n × r

  // From a readout of C to one of A₀: VΦ.
  MatrixD expand(const MatrixD& readout, Team& team) const;

 private:
  RowSpace(Design<Scalar>& design, MatrixD products, Team& team);

  Design<Scalar>& design_;
  KeptCholesky factor_;
  MatrixD columns_;
};

}  // namespace stagenets
