// U, the input rows, as the network sees them: a view of the caller's array (copied as a whole only by
// to_column_major()) and the centre and scale of each column. Where that loses no accuracy, the scaling is folded into
// the weights and rows are used in place; otherwise (columns far from zero) blocks of rows are standardised on their
// way into the cache. A column that is constant in training says nothing about the effect of other values, so units
// and links give it weight zero. Training rows are within the bounds that were learnt from them; rows of a list, which
// may have been set aside, are clamped to the bounds when they are gathered.
#pragma once

#include <memory>
#include <vector>

#include "stagenets/blas.hpp"
#include "stagenets/input_bounds.hpp"
#include "stagenets/input_view.hpp"
#include "stagenets/row_blocks.hpp"
#include "stagenets/settings.hpp"
#include "stagenets/unit_weights.hpp"

namespace stagenets {

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
  explicit Inputs(const InputView<Scalar>& view);

  // Copies row-major inputs into a column-major array owned by this object: sparse units read columns.
  void to_column_major(Team& team);

  // Finds the constant columns and the bounds of all and, unless scaling is none, the centre and scale of each column.
  // Rows count root_weights² times (once if null); rows that other processes hold count through `reduction`.
  void learn_scales(Scaling scaling, const double* root_weights, Team& team,
                    const Reduction* reduction = nullptr);
  // Forgets the bounds, so that rows set aside are taken as they are.
  void extrapolate() { bounds_ = {}; }

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  const InputBounds& bounds() const { return bounds_; }

  // Weights for raw inputs that are equivalent to `units` for the inputs as the network sees them.
  UnitWeights for_raw_inputs(UnitWeights units) const;
  // The same for the readout of direct links (one row per input), which shifts the intercept.
  void make_raw(Eigen::Ref<MatrixD> links, Eigen::Ref<Eigen::RowVectorXd> intercept) const;

  // The given rows, and weights for them that are equivalent to `units` for standardised inputs. `scratch`
  // holds rows that cannot be used in place.
  InputBlock<Scalar> load(RowRange range, Matrix<Scalar>& scratch) const;
  void adapt(const UnitWeights& units, Matrix<Scalar>& weights, Vector<Scalar>& biases) const;
  // The same for one weight: its factor, and the multiple of it that is subtracted from the bias.
  double weight_factor(Index input) const { return folded_ ? inverse_scale_[input] : 1.0; }
  double bias_share(Index input) const { return folded_ ? center_[input] : 0.0; }

  // Rows `range` of columns [first, first + count), standardised, column-major into out.
  void copy_columns(RowRange range, Index first, Index count, double* out, Index leading) const;

 private:
  // Replaces centre and scale of columns with wild values by median and quartiles, by weight, over some of the given rows, and of
  // those that other processes give.
  void resist_wild_values(const std::vector<Index>& rows, const Eigen::ArrayXd& weights,
                          const RowBlocks& blocks, VectorD& scale, Team& team);

  double raw(Index row, Index column) const {
    return static_cast<double>(row_major_ ? data_[row * columns_ + column]
                                          : data_[column * rows_ + row]);
  }
  double within_bounds(double value, Index column) const {
    return clamped(value, bounds_.lower[column], bounds_.upper[column]);
  }

  const Scalar* data_;
  std::shared_ptr<std::vector<Scalar>> owned_;  // storage of data_, once copied
  Index rows_, columns_;
  bool row_major_;
  bool standardized_ = false;
  bool folded_ = false;
  InputBounds bounds_;
  VectorD center_, inverse_scale_;  // the inverse scale of a constant column is zero
  std::vector<Index> frozen_;       // columns that are constant and not standardised
  VectorD frozen_values_;           // their values
};

}  // namespace stagenets
