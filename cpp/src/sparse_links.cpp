#include "stagenets/sparse_links.hpp"

#include "stagenets/team_blas.hpp"

namespace stagenets {

template <class Scalar>
SparseLinks<Scalar>::SparseLinks(const Inputs<Scalar>& inputs, bool intercept,
                                 const double* root_weights)
    : inputs_(inputs),
      intercept_(intercept),
      root_weights_(root_weights),
      rest_(VectorD::NullaryExpr(inputs.columns(),
                                 [&](Index j) { return inputs.standardized_rest(j); })),
      starts_(static_cast<std::size_t>(inputs.columns()) + 1, 0) {
  const SparseRows<Scalar>& stored = inputs.sparse_rows();
  const Index count = stored.starts[inputs.rows()];
  for (Index e = 0; e < count; ++e) ++starts_[static_cast<std::size_t>(stored.columns[e]) + 1];
  for (std::size_t j = 1; j < starts_.size(); ++j) starts_[j] += starts_[j - 1];
  rows_.resize(static_cast<std::size_t>(count));
  values_.resize(static_cast<std::size_t>(count));
  std::vector<Index> next(starts_.begin(), starts_.end() - 1);
  for (Index i = 0; i < inputs.rows(); ++i) {
    for (Index e = stored.starts[i]; e < stored.starts[i + 1]; ++e) {
      const Index j = stored.columns[e];
      const std::size_t at = static_cast<std::size_t>(next[static_cast<std::size_t>(j)]++);
      rows_[at] = static_cast<std::int32_t>(i);
      values_[at] = inputs.standardized(static_cast<double>(stored.values[e]), j) - rest_[j];
    }
  }
}

template <class Scalar>
Index SparseLinks<Scalar>::distinct_rows() const {
  std::vector<Index> rows;
  for (Index i = 0; i < inputs_.rows(); ++i) {
    if (root(i) > 0) rows.push_back(i);
  }
  const auto before = [&](Index a, Index b) { return inputs_.comes_before(a, b); };
  std::sort(rows.begin(), rows.end(), before);
  const auto same = [&](Index a, Index b) { return !before(a, b); };
  return std::unique(rows.begin(), rows.end(), same) - rows.begin();
}

// x_i·x_k = 1 + ‖r‖² + r·d_i + r·d_k + d_i·d_k. A column of the result is formed by one thread, from the columns of D
// that its row has entries in.
template <class Scalar>
MatrixD SparseLinks<Scalar>::products_of_rows(Team& team) const {
  constexpr Index kTogether = 64;
  const Index n = inputs_.rows();
  VectorD with_rest = VectorD::Zero(n);
  for (Index j = 0; j < columns(); ++j) {
    for (Index e = starts_[j]; e < starts_[j + 1]; ++e) {
      with_rest[rows_[e]] += rest_[j] * values_[e];
    }
  }
  const double common = static_cast<double>(ones()) + rest_.squaredNorm();
  MatrixD products(n, n);
  const SparseRows<Scalar>& stored = inputs_.sparse_rows();
  for_each_run(team, n, kTogether, [&](Index first, Index count, int) {
    for (Index i = first; i < first + count; ++i) {
      double* column = products.col(i).data();
      for (Index k = i; k < n; ++k) column[k] = common + with_rest[i] + with_rest[k];
      for (Index e = stored.starts[i]; e < stored.starts[i + 1]; ++e) {
        const Index j = stored.columns[e];
        const auto begin = rows_.begin() + starts_[j], end = rows_.begin() + starts_[j + 1];
        Index at = std::lower_bound(begin, end, i) - rows_.begin();
        const double own = values_[at];  // row i itself
        for (; at < starts_[j + 1]; ++at) column[rows_[at]] += own * values_[at];
      }
      for (Index k = i; root_weights_ && k < n; ++k) column[k] *= root(i) * root(k);
    }
  });
  return products;
}

template <class Scalar>
MatrixD SparseLinks<Scalar>::transposed_times(const MatrixD& x, Team& team) const {
  constexpr Index kTogether = 512;
  const Index outputs = x.cols();
  // Row by row, as entries refer to single rows.
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> weighted = x;
  for (Index i = 0; root_weights_ && i < weighted.rows(); ++i) weighted.row(i) *= root(i);
  const Eigen::RowVectorXd sums = weighted.colwise().sum();
  MatrixD product(ones() + columns(), outputs);
  if (intercept_) product.row(0) = sums;
  for_each_run(team, columns(), kTogether, [&](Index first, Index count, int) {
    Eigen::RowVectorXd sum(outputs);
    for (Index j = first; j < first + count; ++j) {
      sum = rest_[j] * sums;
      for (Index e = starts_[j]; e < starts_[j + 1]; ++e) {
        sum += values_[e] * weighted.row(rows_[e]);
      }
      product.row(ones() + j) = sum;
    }
  });
  return product;
}

template <class Scalar>
void SparseLinks<Scalar>::times(RowRange range, const MatrixD& x, Eigen::Ref<MatrixD> out) const {
  const bool listed = range.list != nullptr;
  const SparseRows<Scalar>& stored = inputs_.sparse_rows();
  const auto links = x.bottomRows(columns());
  for (Index c = 0; c < x.cols(); ++c) {
    const double* weight = x.data() + c * x.rows() + ones();
    const double base = (intercept_ ? x(0, c) : 0.0) + rest_.dot(links.col(c));
    for (Index i = 0; i < range.count; ++i) {
      const Index row = range[i];
      double sum = base;
      for (Index e = stored.starts[row]; e < stored.starts[row + 1]; ++e) {
        const Index j = stored.columns[e];
        const double value = inputs_.standardized(inputs_.within(stored.values[e], j), j);
        sum += (value - rest_[j]) * weight[j];
      }
      out(i, c) = listed ? sum : sum * root(row);
    }
  }
}

template class SparseLinks<float>;
template class SparseLinks<double>;

}  // namespace stagenets
