// Inputs of which only the entries that are not zero are stored: what inputs.hpp promises, in time proportional to these
// and to the number of columns.
#include "stagenets/inputs.hpp"
#include "stagenets/quartiles.hpp"

namespace stagenets {

// Sums per column: means, then the number of entries stored.
template <class Scalar>
RowTotals Inputs<Scalar>::sparse_means_and_ranges(const Eigen::ArrayXd& weights, double total,
                                                  const RowBlocks& blocks, Team& team) const {
  const RowBlocks few = blocks.for_sums(4 * columns_);
  RowTotals found =
      few.totals(team, 2 * columns_, columns_, [&](const LaneTotals& lane, Index b, int) {
        const RowRange range = few.block(b);
        for (Index i = range.first; i < range.first + range.count; ++i) {
          if (weights[i] == 0) continue;
          for (Index e = sparse_.starts[i]; e < sparse_.starts[i + 1]; ++e) {
            const Index j = sparse_.columns[e];
            const double value = static_cast<double>(sparse_.values[e]);
            lane.sums[j] += value * (weights[i] / total);
            lane.sums[columns_ + j] += 1;
            lane.least[j] = std::min(lane.least[j], value);
            lane.greatest[j] = std::max(lane.greatest[j], value);
          }
        }
      });
  const double rows = blocks.complete(static_cast<double>((weights > 0).count()));
  for (Index j = 0; j < columns_; ++j) {
    if (found.sums[columns_ + j] == rows) continue;
    found.least[j] = std::min(found.least[j], 0.0);
    found.greatest[j] = std::max(found.greatest[j], 0.0);
  }
  found.sums.conservativeResize(columns_);
  return found;
}

// Sums per column: of the entries stored, then of their weights.
template <class Scalar>
VectorD Inputs<Scalar>::sparse_squared_deviations(const Eigen::ArrayXd& weights, double total,
                                                  const Eigen::ArrayXd& inverse_unit,
                                                  const RowBlocks& blocks, Team& team) const {
  const RowBlocks few = blocks.for_sums(2 * columns_);
  const VectorD sums = few.sum(team, 2 * columns_, [&](double* lane, Index b, int) {
    const RowRange range = few.block(b);
    for (Index i = range.first; i < range.first + range.count; ++i) {
      if (weights[i] == 0) continue;
      for (Index e = sparse_.starts[i]; e < sparse_.starts[i + 1]; ++e) {
        const Index j = sparse_.columns[e];
        const double far = (static_cast<double>(sparse_.values[e]) - center_[j]) * inverse_unit[j];
        lane[j] += far * far * weights[i];
        lane[columns_ + j] += weights[i];
      }
    }
  });
  const auto rest_weight = (total - sums.tail(columns_).array()).max(0.0);
  return sums.head(columns_).array() + (center_.array() * inverse_unit).square() * rest_weight;
}

template <class Scalar>
std::vector<std::array<double, 3>> Inputs<Scalar>::sparse_quartiles(
    const std::vector<Index>& columns, const std::vector<Index>& rows, Index step,
    const Eigen::ArrayXd& weights) const {
  std::vector<Index> place(static_cast<std::size_t>(columns_), -1);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    place[static_cast<std::size_t>(columns[c])] = static_cast<Index>(c);
  }
  std::vector<std::vector<std::pair<double, double>>> values(columns.size());
  VectorD rest = VectorD::Zero(static_cast<Index>(columns.size()));  // weight of what is not stored
  double total = 0;
  for (std::size_t r = 0; r < rows.size(); r += static_cast<std::size_t>(step)) {
    const Index row = rows[r];
    total += weights[row];
    for (Index e = sparse_.starts[row]; e < sparse_.starts[row + 1]; ++e) {
      const Index c = place[static_cast<std::size_t>(sparse_.columns[e])];
      if (c < 0) continue;
      values[static_cast<std::size_t>(c)].emplace_back(sparse_.values[e], weights[row]);
      rest[c] -= weights[row];
    }
  }
  std::vector<std::array<double, 3>> found;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const double zeros = total + rest[static_cast<Index>(c)];
    if (zeros > 0) values[c].emplace_back(0.0, zeros);
    found.push_back(quartiles(values[c]));
  }
  return found;
}

template <class Scalar>
void Inputs<Scalar>::extrapolate() {
  bounds_ = {};
  learn_rest();
}

template <class Scalar>
void Inputs<Scalar>::learn_rest() {
  rest_.resize(0);
  if (!is_sparse()) return;
  const bool scaled = standardized_ && !folded_;
  const VectorD all = VectorD::NullaryExpr(
      columns_, [&](Index j) { return scaled ? standardized_rest(j) : within(0.0, j); });
  if (!all.isZero(0)) rest_ = all;
}

template <class Scalar>
VectorD Inputs<Scalar>::rest_product(const Matrix<Scalar>& weights) const {
  if (rest_.size() == 0) return {};
  return weights.template cast<double>().transpose() * rest_;
}

template <class Scalar>
InputBlock<Scalar> Inputs<Scalar>::load_sparse(RowRange range, SparseBlock<Scalar>& block) const {
  const bool scaled = standardized_ && !folded_;
  const bool bounded = range.list && !bounds_.unbounded();
  block.starts.assign(1, 0);
  block.columns.clear();
  block.values.clear();
  for (Index i = 0; i < range.count; ++i) {
    for (Index e = sparse_.starts[range[i]]; e < sparse_.starts[range[i] + 1]; ++e) {
      const Index j = sparse_.columns[e];
      const double given = static_cast<double>(sparse_.values[e]);
      const double value = bounded ? within_bounds(given, j) : given;
      block.columns.push_back(sparse_.columns[e]);
      block.values.push_back(
          static_cast<Scalar>(scaled ? (value - center_[j]) * inverse_scale_[j] : value));
    }
    block.starts.push_back(static_cast<Index>(block.values.size()));
  }
  block.rest = rest_.size() > 0 ? &rest_ : nullptr;
  return {nullptr, 0, blas::Op::none, &block};
}

template <class Scalar>
void Inputs<Scalar>::copy_sparse_columns(RowRange range, Index first, Index count, double* out,
                                         Index leading) const {
  const bool bounded = range.list && !bounds_.unbounded();
  for (Index c = 0; c < count; ++c) {
    std::fill_n(out + c * leading, range.count, standardized_rest(first + c));
  }
  for (Index i = 0; i < range.count; ++i) {
    const Index row = range[i], end = sparse_.starts[row + 1];
    for (Index e = sparse_.find(row, first); e < end; ++e) {
      const Index j = sparse_.columns[e];
      if (j >= first + count) break;
      const double value = static_cast<double>(sparse_.values[e]);
      out[(j - first) * leading + i] = standardized(bounded ? within_bounds(value, j) : value, j);
    }
  }
}

template <class Scalar>
bool Inputs<Scalar>::comes_before(Index a, Index b) const {
  Index left = sparse_.starts[a], right = sparse_.starts[b];
  const Index left_end = sparse_.starts[a + 1], right_end = sparse_.starts[b + 1];
  const auto column = [&](Index e, Index end) {
    return e < end ? static_cast<Index>(sparse_.columns[e]) : columns_;
  };
  while (left < left_end || right < right_end) {
    const Index j = std::min(column(left, left_end), column(right, right_end));
    const auto value = [&](Index& e, Index end) {
      if (column(e, end) != j) return standardized_rest(j);
      return standardized(static_cast<double>(sparse_.values[e++]), j);
    };
    const double of_a = value(left, left_end), of_b = value(right, right_end);
    if (of_a != of_b) return of_a < of_b;
  }
  return false;
}

#define STAGENETS_INSTANTIATE(Scalar)                                                              \
  template RowTotals Inputs<Scalar>::sparse_means_and_ranges(const Eigen::ArrayXd&, double,        \
                                                             const RowBlocks&, Team&) const;       \
  template VectorD Inputs<Scalar>::sparse_squared_deviations(                                      \
      const Eigen::ArrayXd&, double, const Eigen::ArrayXd&, const RowBlocks&, Team&) const;        \
  template std::vector<std::array<double, 3>> Inputs<Scalar>::sparse_quartiles(                    \
      const std::vector<Index>&, const std::vector<Index>&, Index, const Eigen::ArrayXd&) const;   \
  template void Inputs<Scalar>::extrapolate();                                                     \
  template void Inputs<Scalar>::learn_rest();                                                      \
  template VectorD Inputs<Scalar>::rest_product(const Matrix<Scalar>&) const;                      \
  template InputBlock<Scalar> Inputs<Scalar>::load_sparse(RowRange, SparseBlock<Scalar>&) const;   \
  template void Inputs<Scalar>::copy_sparse_columns(RowRange, Index, Index, double*, Index) const; \
  template bool Inputs<Scalar>::comes_before(Index, Index) const;
STAGENETS_INSTANTIATE(float)
STAGENETS_INSTANTIATE(double)
#undef STAGENETS_INSTANTIATE

}  // namespace stagenets
