// U, the input rows, as the network sees them: a view on the caller's array (rows or columns
// contiguous, copied as a whole only by turn()) and the centre and scale of each column. Where that
// loses no accuracy, the scaling is folded into the weights and rows are used as they lie in memory;
// elsewhere (columns far off zero) blocks of rows are standardised on their way into the cache.
#pragma once

#include <memory>
#include <vector>

#include "residuum/blas.hpp"
#include "residuum/row_blocks.hpp"
#include "residuum/unit_weights.hpp"

namespace residuum {

// Some rows of the inputs, as op(data): row-major inputs stay row-major and are read transposed.
template <class Scalar>
struct InputBlock {
  const Scalar* data;
  Index leading;
  blas::Op op;
};

template <class Scalar>
class Inputs {
 public:
  Inputs(const Scalar* data, Index rows, Index columns, bool row_major);

  // Turns row-major inputs into column-major ones of our own: sparse units read columns.
  void turn(Team& team);

  // Sets centre and scale to the columns' mean and deviation, rows counting root_weights² times
  // (once if null). A constant column is centred and left unscaled.
  void standardize(const double* root_weights, Team& team);

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  const VectorD& center() const { return center_; }
  const VectorD& scale() const { return scale_; }

  // Weights for raw inputs that do what `units` do for standardised ones.
  UnitWeights unstandardized(UnitWeights units) const;

  // The given rows, and weights that do to them what `units` do to standardised inputs. `scratch` holds
  // rows that cannot be used in place.
  InputBlock<Scalar> load(RowRange range, Matrix<Scalar>& scratch) const;
  void adapt(const UnitWeights& units, Matrix<Scalar>& weights, Vector<Scalar>& biases) const;
  // The same for one weight: what it is multiplied by, and how much of it leaves the bias then.
  double weight_factor(Index input) const { return folded_ ? inverse_scale_[input] : 1.0; }
  double bias_share(Index input) const { return folded_ ? center_[input] : 0.0; }

  // Rows `range` of columns [first, first + count), standardised, column-major into out.
  void copy_columns(RowRange range, Index first, Index count, double* out, Index leading) const;

 private:
  double raw(Index row, Index column) const {
    return static_cast<double>(row_major_ ? data_[row * columns_ + column]
                                          : data_[column * rows_ + row]);
  }

  const Scalar* data_;
  std::shared_ptr<std::vector<Scalar>> turned_;  // what data_ is, once turned
  Index rows_, columns_;
  bool row_major_;
  bool standardized_ = false;
  bool folded_ = false;
  VectorD center_, scale_, inverse_scale_;
};

}  // namespace residuum
