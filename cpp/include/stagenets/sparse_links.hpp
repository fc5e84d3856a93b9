// A₀ = [1 U], the fixed columns of a design whose inputs are sparse, in products. Centring fills U in, but it gives all
// entries of a column that are not stored the same value r: U = 1rᵀ + D, where D has the entries that are stored and
// nothing else. So products with U are those with D and with r, at the cost of the entries stored.
#pragma once

#include "stagenets/inputs.hpp"

namespace stagenets {

template <class Scalar>
class SparseLinks {
 public:
  // Inputs and weights must outlive it; root_weights is null for equal weights. Rows are scaled by these.
  SparseLinks(const Inputs<Scalar>& inputs, bool intercept, const double* root_weights);

  // The number of rows with a weight that differ from each other.
  Index distinct_rows() const;
  // The lower triangle of A₀A₀ᵀ over all rows. What is above it is never touched, so that the system need not provide
  // memory for it.
  MatrixD products_of_rows(Team& team) const;
  // A₀ᵀ x over all rows.
  MatrixD transposed_times(const MatrixD& x, Team& team) const;
  // out <- A₀ x on some rows; without their weights if the rows are a list.
  void times(RowRange range, const MatrixD& x, Eigen::Ref<MatrixD> out) const;

 private:
  Index columns() const { return inputs_.columns(); }
  Index ones() const { return intercept_ ? 1 : 0; }
  double root(Index row) const { return root_weights_ ? root_weights_[row] : 1.0; }

  const Inputs<Scalar>& inputs_;
  bool intercept_;
  const double* root_weights_;
  VectorD rest_;               // r
  std::vector<Index> starts_;  // D column by column: start of each one's part of the next two
  std::vector<std::int32_t> rows_;
  std::vector<double> values_;
};

}  // namespace stagenets
