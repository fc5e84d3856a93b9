#include "residuum/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace residuum {

template <class Scalar>
Inputs<Scalar>::Inputs(const Scalar* data, Index rows, Index columns, bool row_major)
    : data_(data),
      rows_(rows),
      columns_(columns),
      row_major_(row_major),
      center_(VectorD::Zero(columns)),
      scale_(VectorD::Ones(columns)),
      inverse_scale_(VectorD::Ones(columns)) {}

template <class Scalar>
void Inputs<Scalar>::turn(Team& team) {
  if (!row_major_) return;
  turned_ = std::make_shared<std::vector<Scalar>>(static_cast<std::size_t>(rows_ * columns_));
  Scalar* turned = turned_->data();
  const RowBlocks blocks = RowBlocks::for_width(rows_, 0, columns_);
  blocks.sweep(team, [&](Index, Index b, int) {
    const RowRange range = blocks.block(b);
    MatrixMap<Scalar>(turned + range.first, range.count, columns_, Eigen::OuterStride<>(rows_)) =
        ConstMatrixMap<Scalar>(data_ + range.first * columns_, columns_, range.count,
                               Eigen::OuterStride<>(columns_))
            .transpose();
  });
  data_ = turned;
  row_major_ = false;
}

template <class Scalar>
void Inputs<Scalar>::standardize(const double* root_weights, Team& team) {
  using Line = Eigen::Array<Scalar, Eigen::Dynamic, 1>;
  using Doubles = Eigen::ArrayXd;
  const RowBlocks blocks = RowBlocks::for_width(rows_, 0, columns_);
  const Doubles weights = root_weights
                              ? Doubles(Eigen::Map<const Doubles>(root_weights, rows_).square())
                              : Doubles::Ones(rows_);
  const double total = weights.sum();
  // along_row(lane, values, weight) or along_column(lane, column, values, weights): all values of the rows that
  // have weight, the way memory runs.
  const auto visit = [&](const auto& along_row, const auto& along_column) {
    blocks.sweep(team, [&](Index lane, Index b, int) {
      const RowRange range = blocks.block(b);
      const auto block_weights = weights.segment(range.first, range.count);
      for (Index i = range.first; row_major_ && i < range.first + range.count; ++i) {
        if (weights[i] == 0) continue;
        const Eigen::Map<const Line> row(data_ + i * columns_, columns_);
        along_row(lane, row.template cast<double>(), weights[i]);
      }
      for (Index j = 0; !row_major_ && j < columns_; ++j) {
        const Eigen::Map<const Line> column(data_ + j * rows_ + range.first, range.count);
        along_column(lane, j, column.template cast<double>(), block_weights);
      }
    });
  };

  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  LaneSums means(blocks.lanes(), columns_);
  MatrixD low = MatrixD::Constant(columns_, blocks.lanes(), kInfinity), high = -low;
  visit(
      [&](Index lane, const auto& row, double weight) {
        Eigen::Map<Doubles>(means.lane(lane), columns_) += row * (weight / total);
        low.col(lane).array() = low.col(lane).array().min(row);
        high.col(lane).array() = high.col(lane).array().max(row);
      },
      [&](Index lane, Index j, const auto& column, const auto& weight) {
        means.lane(lane)[j] += (column * (weight / total)).sum();
        const double least = (weight > 0).select(column, kInfinity).minCoeff();
        const double most = (weight > 0).select(column, -kInfinity).maxCoeff();
        low(j, lane) = std::min(low(j, lane), least);
        high(j, lane) = std::max(high(j, lane), most);
      });
  center_ = means.total();
  const VectorD minimum = low.rowwise().minCoeff(), maximum = high.rowwise().maxCoeff();
  // Deviations are squared in units of the column's range: columns of size 1e±160 survive that.
  const Doubles unit = (maximum - minimum).array().max(std::numeric_limits<double>::min());
  const Doubles inverse_unit = unit.inverse();

  LaneSums squares(blocks.lanes(), columns_);
  visit(
      [&](Index lane, const auto& row, double weight) {
        Eigen::Map<Doubles>(squares.lane(lane), columns_) +=
            ((row - center_.array()) * inverse_unit).square() * weight;
      },
      [&](Index lane, Index j, const auto& column, const auto& weight) {
        squares.lane(lane)[j] +=
            (((column - center_[j]) * inverse_unit[j]).square() * weight).sum();
      });
  scale_ = (squares.total().array() / total).sqrt() * unit;
  for (Index j = 0; j < columns_; ++j) {
    if (minimum[j] == maximum[j]) center_[j] = minimum[j];
    if (minimum[j] == maximum[j] || !(scale_[j] > 0)) scale_[j] = 1.0;
  }
  inverse_scale_ = scale_.cwiseInverse();
  standardized_ = true;
  // Folding turns x·w into (x/σ)·w − (µ/σ)·w, which costs as many digits as µ/σ has.
  constexpr double kFarthestFolded = std::is_same_v<Scalar, double> ? 1e3 : 8.0;
  folded_ = (center_.array().abs() * inverse_scale_.array()).maxCoeff() <= kFarthestFolded;
}

template <class Scalar>
UnitWeights Inputs<Scalar>::unstandardized(UnitWeights units) const {
  units.weights.array().colwise() *= inverse_scale_.array();
  units.biases -= units.weights.transpose() * center_;
  return units;
}

template <class Scalar>
void Inputs<Scalar>::adapt(const UnitWeights& units, Matrix<Scalar>& weights,
                           Vector<Scalar>& biases) const {
  weights.resize(units.weights.rows(), units.weights.cols());
  biases = units.biases.template cast<Scalar>();
  if (!folded_) {
    weights = units.weights.template cast<Scalar>();
    return;
  }
  for (Index j = 0; j < weights.cols(); ++j) {
    double offset = 0;
    for (Index i = 0; i < weights.rows(); ++i) {
      const double weight = units.weights(i, j) * inverse_scale_[i];
      offset += weight * center_[i];
      weights(i, j) = static_cast<Scalar>(weight);
    }
    biases[j] = static_cast<Scalar>(units.biases[j] - offset);
  }
}

template <class Scalar>
InputBlock<Scalar> Inputs<Scalar>::load(RowRange range, Matrix<Scalar>& scratch) const {
  const bool scaled = standardized_ && !folded_;
  const blas::Op op = row_major_ ? blas::Op::transpose : blas::Op::none;
  if (!scaled && !range.list) {
    return {data_ + range.first * (row_major_ ? columns_ : 1), row_major_ ? columns_ : rows_, op};
  }
  const Index leading = row_major_ ? columns_ : range.count;
  const Index lines = row_major_ ? range.count : columns_;
  if (scratch.rows() != leading || scratch.cols() < lines) scratch.resize(leading, lines);
  for (Index line = 0; line < lines; ++line) {
    Scalar* to = scratch.data() + line * leading;
    if (row_major_) {
      const Scalar* from = data_ + range[line] * columns_;
      if (!scaled) {
        std::copy_n(from, columns_, to);
        continue;
      }
      for (Index j = 0; j < columns_; ++j) {
        to[j] = static_cast<Scalar>((from[j] - center_[j]) * inverse_scale_[j]);
      }
    } else {
      const double center = scaled ? center_[line] : 0.0;
      const double inverse = scaled ? inverse_scale_[line] : 1.0;
      for (Index i = 0; i < range.count; ++i) {
        to[i] = static_cast<Scalar>((raw(range[i], line) - center) * inverse);
      }
    }
  }
  return {scratch.data(), leading, op};
}

template <class Scalar>
void Inputs<Scalar>::copy_columns(RowRange range, Index first, Index count, double* out,
                                  Index leading) const {
  // Rounded to the feature type, as load() does: both see the same features.
  const auto standardized = [&](double value, Index column) {
    return static_cast<double>(
        static_cast<Scalar>((value - center_[column]) * inverse_scale_[column]));
  };
  // Out of row-major rows, eight at a time, which fill a cache line of a column.
  const Index run = row_major_ ? 8 : range.count;
  for (Index start = 0; start < range.count; start += run) {
    const Index stop = std::min(start + run, range.count);
    for (Index j = first; j < first + count; ++j) {
      double* to = out + (j - first) * leading;
      if (row_major_ || range.list) {
        for (Index i = start; i < stop; ++i) to[i] = standardized(raw(range[i], j), j);
      } else {
        const Scalar* from = data_ + j * rows_ + range.first;
        for (Index i = start; i < stop; ++i) to[i] = standardized(from[i], j);
      }
    }
  }
}

template class Inputs<float>;
template class Inputs<double>;

}  // namespace residuum
