#include "stagenets/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "stagenets/quartiles.hpp"

namespace stagenets {
namespace {

// Weights for raw inputs are the inverse of a column's deviation times something: both must be finite in double.
void check_deviation(Index column, double deviation) {
  constexpr double kLeast = 1e-300;
  if (deviation >= kLeast) return;
  std::ostringstream message;
  message << "column " << column
          << " of X (counting from 0) varies by too little to be scaled: its "
          << "standard deviation is " << deviation
          << "; multiply it by a large number or leave it out";
  throw std::domain_error(message.str());
}

// Whether weights times these scales fit the feature type; constant columns have zeros.
template <class Scalar>
bool within_range(const VectorD& scales) {
  constexpr double kLargest = std::is_same_v<Scalar, double> ? 1e290 : 1e30;
  return (scales.array() == 0 || (scales.array() <= kLargest && scales.array() >= 1 / kLargest))
      .all();
}

std::vector<Index> rows_with_weight(const Eigen::ArrayXd& weights) {
  std::vector<Index> rows;
  for (Index i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0) rows.push_back(i);
  }
  return rows;
}

}  // namespace

template <class Scalar>
Inputs<Scalar>::Inputs(const InputView<Scalar>& view)
    : data_(view.data),
      sparse_(view.sparse),
      rows_(view.rows),
      columns_(view.columns),
      row_major_(view.row_major),
      center_(VectorD::Zero(view.columns)),
      inverse_scale_(VectorD::Ones(view.columns)) {}

template <class Scalar>
void Inputs<Scalar>::to_column_major(Team& team) {
  if (!row_major_) return;
  owned_ = std::make_shared<std::vector<Scalar>>(static_cast<std::size_t>(rows_ * columns_));
  Scalar* copy = owned_->data();
  const RowBlocks blocks = RowBlocks::for_width(rows_, 0, columns_);
  blocks.sweep(team, [&](Index, Index b, int) {
    const RowRange range = blocks.block(b);
    matrix_map(copy + range.first, range.count, columns_, rows_) =
        matrix_map(data_ + range.first * columns_, columns_, range.count, columns_).transpose();
  });
  data_ = copy;
  row_major_ = false;
}

// Calls along_row(values, weight) or along_column(column, values, weights), in the order of memory, for all values of the
// rows of a range that have nonzero weight. Along columns, values of other rows read as 0: they may be so large that
// their squares overflow.
template <class Scalar>
template <class AlongRow, class AlongColumn>
void Inputs<Scalar>::visit(RowRange range, const Eigen::ArrayXd& weights, const AlongRow& along_row,
                           const AlongColumn& along_column) const {
  using Line = Eigen::Array<Scalar, Eigen::Dynamic, 1>;
  const auto block_weights = weights.segment(range.first, range.count);
  for (Index i = range.first; row_major_ && i < range.first + range.count; ++i) {
    if (weights[i] == 0) continue;
    const Eigen::Map<const Line> row(data_ + i * columns_, columns_);
    along_row(row.template cast<double>(), weights[i]);
  }
  for (Index j = 0; !row_major_ && j < columns_; ++j) {
    const Eigen::Map<const Line> column(data_ + j * rows_ + range.first, range.count);
    along_column(j, (block_weights > 0).select(column.template cast<double>(), 0.0), block_weights);
  }
}

template <class Scalar>
RowTotals Inputs<Scalar>::means_and_ranges(const Eigen::ArrayXd& weights, double total,
                                           const RowBlocks& blocks, Team& team) const {
  using Doubles = Eigen::ArrayXd;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto add_to_means = [&](const LaneTotals& lane, Index b, int) {
    Eigen::Map<Doubles> means(lane.sums, columns_);
    Eigen::Map<Doubles> low(lane.least, columns_), high(lane.greatest, columns_);
    visit(
        blocks.block(b), weights,
        [&](const auto& row, double weight) {
          means += row * (weight / total);
          low = low.min(row);
          high = high.max(row);
        },
        [&](Index j, const auto& column, const auto& weight) {
          means[j] += (column * (weight / total)).sum();
          low[j] = std::min(low[j], (weight > 0).select(column, kInfinity).minCoeff());
          high[j] = std::max(high[j], (weight > 0).select(column, -kInfinity).maxCoeff());
        });
  };
  return blocks.totals(team, columns_, columns_, add_to_means);
}

template <class Scalar>
VectorD Inputs<Scalar>::squared_deviations(const Eigen::ArrayXd& weights,
                                           const Eigen::ArrayXd& inverse_unit,
                                           const RowBlocks& blocks, Team& team) const {
  return blocks.sum(team, columns_, [&](double* sums, Index b, int) {
    visit(
        blocks.block(b), weights,
        [&](const auto& row, double weight) {
          Eigen::Map<Eigen::ArrayXd>(sums, columns_) +=
              ((row - center_.array()) * inverse_unit).square() * weight;
        },
        [&](Index j, const auto& column, const auto& weight) {
          sums[j] += (((column - center_[j]) * inverse_unit[j]).square() * weight).sum();
        });
  });
}

template <class Scalar>
void Inputs<Scalar>::learn_scales(Scaling scaling, const double* root_weights, Team& team,
                                  const Reduction* reduction) {
  using Doubles = Eigen::ArrayXd;
  const RowBlocks blocks = RowBlocks::for_width(rows_, 0, columns_).completed_by(reduction);
  const Doubles weights = root_weights
                              ? Doubles(Eigen::Map<const Doubles>(root_weights, rows_).square())
                              : Doubles::Ones(rows_);
  const double total = blocks.complete(weights.sum());
  const RowTotals first = is_sparse() ? sparse_means_and_ranges(weights, total, blocks, team)
                                      : means_and_ranges(weights, total, blocks, team);
  const VectorD &minimum = first.least, &maximum = first.greatest;
  bounds_ = {minimum, maximum};
  const Flags constant = minimum.array() == maximum.array();
  if (scaling == Scaling::none) {
    for (Index j = 0; j < columns_; ++j) {
      if (constant[j]) frozen_.push_back(j);
    }
    frozen_values_ = minimum(frozen_);
    learn_rest();
    return;
  }
  if (scaling == Scaling::common) {
    center_ = constant.select(minimum, 0.0);
    return scale_by(VectorD::Constant(columns_, common_scale(weights, blocks, team)), constant);
  }
  center_ = constant.select(minimum, first.sums);
  // Deviations are squared in units of the column's range, so that columns of size 1e±160 do not overflow or vanish.
  const Doubles unit = (maximum - minimum).array().max(std::numeric_limits<double>::min());
  const Doubles inverse_unit = unit.inverse();

  const VectorD squares =
      is_sparse() ? sparse_squared_deviations(weights, total, inverse_unit, blocks, team)
                  : squared_deviations(weights, inverse_unit, blocks, team);
  VectorD scale = ((squares.array() / total).sqrt() * unit).matrix();
  if (scaling == Scaling::robust) {
    resist_wild_values(rows_with_weight(weights), weights, blocks, scale, team);
  }
  scale_by(scale, constant);
}

template <class Scalar>
double Inputs<Scalar>::common_scale(const Eigen::ArrayXd& weights, const RowBlocks& blocks,
                                    Team& team) const {
  using Line = Eigen::Array<Scalar, Eigen::Dynamic, 1>;
  const double largest =  // squares of others are in units of it
      std::max(bounds_.lower.cwiseAbs().maxCoeff(), bounds_.upper.cwiseAbs().maxCoeff());
  const VectorD sums = blocks.sum(team, 2, [&](double* lane, Index b, int) {
    const auto add = [&](const auto& values, const auto& weight) {
      lane[0] += ((values / largest).square() * weight).sum();
      lane[1] += ((values != 0).template cast<double>() * weight).sum();
    };
    const RowRange range = blocks.block(b);
    if (!is_sparse()) {
      return visit(range, weights, add,
                   [&](Index, const auto& column, const auto& weight) { add(column, weight); });
    }
    for (Index i = range.first; i < range.first + range.count; ++i) {
      if (weights[i] == 0) continue;
      const Index first = sparse_.starts[i], count = sparse_.starts[i + 1] - first;
      add(Eigen::Map<const Line>(sparse_.values + first, count).template cast<double>(),
          weights[i]);
    }
  });
  return largest * std::sqrt(sums[0] / sums[1]);
}

template <class Scalar>
void Inputs<Scalar>::scale_by(const VectorD& scale, const Flags& constant) {
  for (Index j = 0; j < columns_; ++j) {
    if (!constant[j]) check_deviation(j, scale[j]);
    inverse_scale_[j] = constant[j] ? 0.0 : 1 / scale[j];
  }
  standardized_ = true;
  // Folding turns x·w into (x/σ)·w − (µ/σ)·w, which loses as many digits as µ/σ has.
  constexpr double kFarthestFolded = std::is_same_v<Scalar, double> ? 1e3 : 8.0;
  folded_ = (center_.array().abs() * inverse_scale_.array()).maxCoeff() <= kFarthestFolded &&
            within_range<Scalar>(inverse_scale_);
  learn_rest();
}

template <class Scalar>
void Inputs<Scalar>::resist_wild_values(const std::vector<Index>& rows,
                                        const Eigen::ArrayXd& weights, const RowBlocks& blocks,
                                        VectorD& scale, Team& team) {
  // Quartiles are worth a look only where a value is this many deviations from the mean, and they count if they tell
  // of a deviation that is smaller by this factor. Normal data reach neither.
  constexpr double kFar = 4, kTimesWider = 5;
  constexpr double kQuartilesOfNormal = 1.349;  // their distance in units of the deviation
  constexpr double kLargest =
      1e9;  // squares of scaled values must not overflow, nor hide all others
  constexpr Index kEnough = 4096;
  const auto farthest = [&](Index j) {
    return std::max(bounds_.upper[j] - center_[j], center_[j] - bounds_.lower[j]);
  };
  std::vector<Index> far;
  for (Index j = 0; j < columns_; ++j) {
    if (farthest(j) > kFar * scale[j]) far.push_back(j);
  }
  if (far.empty()) return;
  const Index wide = static_cast<Index>(far.size());

  // Every so many rows of all, wherever they are.
  const RowNumbers numbers = blocks.number(static_cast<Index>(rows.size()));
  const Index step = (numbers.all + kEnough - 1) / kEnough;
  const auto resist = [&](Index j, const std::array<double, 3>& found) {
    const auto [low, median, high] = found;
    const double narrow = (high - low) / kQuartilesOfNormal;
    if (!(narrow > 0 && scale[j] > kTimesWider * narrow)) return;
    scale[j] = std::max(narrow, farthest(j) / kLargest);
    center_[j] = median;
  };
  if (is_sparse()) {
    const auto found = sparse_quartiles(far, rows, step, weights);
    for (std::size_t c = 0; c < far.size(); ++c) resist(far[c], found[c]);
    return;
  }
  const Index skipped = (numbers.first + step - 1) / step * step - numbers.first;
  const Index own = std::max<Index>(0, (numbers.count - skipped + step - 1) / step);
  VectorD samples(wide * own), counts(own);  // values row by row, and the weights of these rows
  for (Index i = 0; i < own; ++i) {
    counts[i] = weights[rows[static_cast<std::size_t>(skipped + i * step)]];
  }
  team.for_each(own, [&](Index i, int worker) {
    team.poll(worker);
    const Index row = rows[static_cast<std::size_t>(skipped + i * step)];
    for (Index c = 0; c < wide; ++c) {
      samples[i * wide + c] = raw(row, far[static_cast<std::size_t>(c)]);
    }
  });
  samples = blocks.gather(samples);
  counts = blocks.gather(counts);
  team.for_each(wide, [&](Index c, int worker) {
    team.poll(worker);
    std::vector<std::pair<double, double>> values;
    values.reserve(static_cast<std::size_t>(counts.size()));
    for (Index i = 0; i < counts.size(); ++i) values.emplace_back(samples[i * wide + c], counts[i]);
    resist(far[static_cast<std::size_t>(c)], quartiles(values));
  });
}

template <class Scalar>
UnitWeights Inputs<Scalar>::for_raw_inputs(UnitWeights units) const {
  if (!frozen_.empty()) {
    units.biases += units.weights(frozen_, Eigen::all).transpose() * frozen_values_;
    units.weights(frozen_, Eigen::all).setZero();
  }
  units.weights.array().colwise() *= inverse_scale_.array();
  units.biases -= units.weights.transpose() * center_;
  return units;
}

template <class Scalar>
void Inputs<Scalar>::make_raw(Eigen::Ref<MatrixD> links,
                              Eigen::Ref<Eigen::RowVectorXd> intercept) const {
  if (!frozen_.empty()) {
    intercept += frozen_values_.transpose() * links(frozen_, Eigen::all);
    links(frozen_, Eigen::all).setZero();
  }
  links = inverse_scale_.asDiagonal() * links;
  intercept -= center_.transpose() * links;
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
InputBlock<Scalar> Inputs<Scalar>::load(RowRange range, LoadedRows<Scalar>& loaded) const {
  if (is_sparse()) return load_sparse(range, loaded.sparse);
  Matrix<Scalar>& scratch = loaded.dense;
  const bool scaled = standardized_ && !folded_;
  const blas::Op op = row_major_ ? blas::Op::transpose : blas::Op::none;
  if (!scaled && !range.list) {
    return {data_ + range.first * (row_major_ ? columns_ : 1), row_major_ ? columns_ : rows_, op};
  }
  const Index leading = row_major_ ? columns_ : range.count;
  const Index lines = row_major_ ? range.count : columns_;
  if (scratch.rows() != leading || scratch.cols() < lines) scratch.resize(leading, lines);
  const bool bounded = range.list && !bounds_.unbounded();
  for (Index line = 0; line < lines; ++line) {
    Scalar* to = scratch.data() + line * leading;
    if (row_major_) {
      const Scalar* from = data_ + range[line] * columns_;
      for (Index j = 0; j < columns_; ++j) {
        const double value = bounded ? within_bounds(from[j], j) : from[j];
        to[j] = static_cast<Scalar>(scaled ? (value - center_[j]) * inverse_scale_[j] : value);
      }
    } else {
      // A column at a time, in loops without branches: rows of a list are gathered anew at every stage.
      Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>> values(to, range.count);
      const Scalar* from = data_ + line * rows_ + (range.list ? 0 : range.first);
      if (range.list) {
        const Index* list = range.list + range.first;
        for (Index i = 0; i < range.count; ++i) to[i] = from[list[i]];
      } else {
        std::copy_n(from, range.count, to);
      }
      if (bounded) {
        const Scalar lower = static_cast<Scalar>(bounds_.lower[line]);
        const Scalar upper = static_cast<Scalar>(bounds_.upper[line]);
        for (Index i = 0; i < range.count; ++i) to[i] = clamped(to[i], lower, upper);
      }
      if (scaled) {
        values = ((values.template cast<double>() - center_[line]) * inverse_scale_[line])
                     .template cast<Scalar>();
      }
    }
  }
  return {scratch.data(), leading, op};
}

template <class Scalar>
void Inputs<Scalar>::copy_columns(RowRange range, Index first, Index count, double* out,
                                  Index leading) const {
  if (is_sparse()) return copy_sparse_columns(range, first, count, out, leading);
  // From row-major rows, eight at a time, which fill one cache line of a column.
  const Index run = row_major_ ? 8 : range.count;
  for (Index start = 0; start < range.count; start += run) {
    const Index stop = std::min(start + run, range.count);
    for (Index j = first; j < first + count; ++j) {
      double* to = out + (j - first) * leading;
      if (range.list && !bounds_.unbounded()) {
        for (Index i = start; i < stop; ++i) {
          to[i] = standardized(within_bounds(raw(range[i], j), j), j);
        }
      } else if (row_major_ || range.list) {
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

}  // namespace stagenets
