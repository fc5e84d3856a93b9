// U, the input rows, as the network sees them: a view of the caller's array (copied as a whole only by
// to_column_major()) and the centre and scale of each column. Where that loses no accuracy, the scaling is folded into
// the weights and rows are used in place; otherwise (columns far from zero) blocks of rows are standardised on their
// way into the cache. A column that is constant in training says nothing about the effect of other values, so units
// and links give it weight zero. Training rows are within the bounds that were learnt from them; rows of a list, which
// may have been set aside, are clamped to the bounds when they are gathered. Sparse inputs are never filled in: centring
// and clamping give all entries of a column that are not stored one and the same value, its rest.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "stagenets/input_block.hpp"
#include "stagenets/input_bounds.hpp"
#include "stagenets/input_view.hpp"
#include "stagenets/row_blocks.hpp"
#include "stagenets/settings.hpp"
#include "stagenets/unit_weights.hpp"

namespace stagenets {

template <class Scalar>
class Inputs {
 public:
  explicit Inputs(const InputView<Scalar>& view);

  // Copies row-major inputs into a column-major array owned by this object: sparse units read columns. Sparse inputs stay.
  void to_column_major(Team& team);

  // Finds the constant columns and the bounds of all and, unless scaling is none, the centre and scale of each column.
  // Rows count root_weights² times (once if null); rows that other processes hold count through `reduction`.
  void learn_scales(Scaling scaling, const double* root_weights, Team& team,
                    const Reduction* reduction = nullptr);
  // Forgets the bounds, so that rows set aside are taken as they are.
  void extrapolate();

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  bool is_sparse() const { return sparse_.starts != nullptr; }
  const SparseRows<Scalar>& sparse_rows() const { return sparse_; }
  const InputBounds& bounds() const { return bounds_; }

  // Weights for raw inputs that are equivalent to `units` for the inputs as the network sees them.
  UnitWeights for_raw_inputs(UnitWeights units) const;
  // The same for the readout of direct links (one row per input), which shifts the intercept.
  void make_raw(Eigen::Ref<MatrixD> links, Eigen::Ref<Eigen::RowVectorXd> intercept) const;

  // The given rows, and weights for them that are equivalent to `units` for standardised inputs. `loaded`
  // holds rows that cannot be used in place.
  InputBlock<Scalar> load(RowRange range, LoadedRows<Scalar>& loaded) const;
  void adapt(const UnitWeights& units, Matrix<Scalar>& weights, Vector<Scalar>& biases) const;
  // The same for one weight: its factor, and the multiple of it that is subtracted from the bias.
  double weight_factor(Index input) const { return folded_ ? inverse_scale_[input] : 1.0; }
  double bias_share(Index input) const { return folded_ ? center_[input] : 0.0; }
  // What the rest values of sparse rows, as they are loaded, give with these weights; empty if they are all zero.
  VectorD rest_product(const Matrix<Scalar>& weights) const;

  // Rows `range` of columns [first, first + count), standardised, column-major into out.
  void copy_columns(RowRange range, Index first, Index count, double* out, Index leading) const;
  // The same for single values: of an entry that is stored, and of one that is not.
  double standardized(double value, Index column) const {
    // Rounded to the feature type, as load() does: both see the same features.
    return static_cast<double>(
        static_cast<Scalar>((value - center_[column]) * inverse_scale_[column]));
  }
  double standardized_rest(Index column) const { return standardized(within(0.0, column), column); }
  // A raw value, clamped to the bounds if there are any.
  double within(double value, Index column) const {
    return bounds_.unbounded() ? value : within_bounds(value, column);
  }
  // Whether sparse row `a` comes before row `b` in the order of their standardised inputs, first to last.
  bool comes_before(Index a, Index b) const;

 private:
  using Flags = Eigen::Array<bool, Eigen::Dynamic, 1>;  // a column each

  // Takes these scales, with the centres already set.
  void scale_by(const VectorD& scale, const Flags& constant);
  // Sums of weight · value / total, and extremes, over the rows of nonzero weight of each column; sums of
  // weight ((value − centre) / unit)².
  RowTotals means_and_ranges(const Eigen::ArrayXd& weights, double total, const RowBlocks& blocks,
                             Team& team) const;
  VectorD squared_deviations(const Eigen::ArrayXd& weights, const Eigen::ArrayXd& inverse_unit,
                             const RowBlocks& blocks, Team& team) const;
  template <class AlongRow, class AlongColumn>
  void visit(RowRange range, const Eigen::ArrayXd& weights, const AlongRow& along_row,
             const AlongColumn& along_column) const;
  // The same of sparse rows.
  RowTotals sparse_means_and_ranges(const Eigen::ArrayXd& weights, double total,
                                    const RowBlocks& blocks, Team& team) const;
  VectorD sparse_squared_deviations(const Eigen::ArrayXd& weights, double total,
                                    const Eigen::ArrayXd& inverse_unit, const RowBlocks& blocks,
                                    Team& team) const;
  // The root mean square of all values other than zero, by weight.
  double common_scale(const Eigen::ArrayXd& weights, const RowBlocks& blocks, Team& team) const;
  // Replaces centre and scale of columns with wild values by median and quartiles, by weight, over some of the given rows, and of
  // those that other processes give.
  void resist_wild_values(const std::vector<Index>& rows, const Eigen::ArrayXd& weights,
                          const RowBlocks& blocks, VectorD& scale, Team& team);

  // Quartiles of some columns of sparse rows, from every so many of the given ones.
  std::vector<std::array<double, 3>> sparse_quartiles(const std::vector<Index>& columns,
                                                      const std::vector<Index>& rows, Index step,
                                                      const Eigen::ArrayXd& weights) const;
  InputBlock<Scalar> load_sparse(RowRange range, SparseBlock<Scalar>& block) const;
  void copy_sparse_columns(RowRange range, Index first, Index count, double* out,
                           Index leading) const;
  void learn_rest();

  double raw(Index row, Index column) const {
    return static_cast<double>(row_major_ ? data_[row * columns_ + column]
                                          : data_[column * rows_ + row]);
  }
  double within_bounds(double value, Index column) const {
    return clamped(value, bounds_.lower[column], bounds_.upper[column]);
  }

  const Scalar* data_;  // null if the rows are sparse
  SparseRows<Scalar> sparse_;
  std::shared_ptr<std::vector<Scalar>> owned_;  // storage of data_, once copied
  Index rows_, columns_;
  bool row_major_;
  bool standardized_ = false;
  bool folded_ = false;
  InputBounds bounds_;
  VectorD center_, inverse_scale_;  // the inverse scale of a constant column is zero
  std::vector<Index> frozen_;       // columns that are constant and not standardised
  VectorD frozen_values_;           // their values
  VectorD rest_;                    // of sparse rows as they are loaded; empty if all are zero
};

}  // namespace stagenets
