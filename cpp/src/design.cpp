#include "stagenets/design.hpp"

#include "stagenets/team_blas.hpp"

namespace stagenets {

template <class Scalar>
template <class Number, class Fill>
void Design<Scalar>::combine(RowRange range, Index columns, Number* out, Index leading,
                             Fill&& fill) const {
  const bool in_place = !range.list && range.first + range.count <= samples();
  if (!weights_.graph || in_place) return fill(range, out, leading);
  std::vector<Index> first, second, differences;  // the last are places in the range
  for (Index i = 0; i < range.count; ++i) {
    const Index pair = range[i] - samples();
    if (pair < 0) {
      first.push_back(range[i]);
      continue;
    }
    const auto [one, other] = weights_.graph->pairs[static_cast<std::size_t>(pair)];
    first.push_back(one);
    second.push_back(other);
    differences.push_back(i);
  }
  fill(RowRange{0, range.count, first.data()}, out, leading);
  if (differences.empty()) return;
  Matrix<Number> others(static_cast<Index>(second.size()), columns);
  fill(RowRange{0, others.rows(), second.data()}, others.data(), others.rows());
  for (Index j = 0; j < columns; ++j) {
    for (Index k = 0; k < others.rows(); ++k) {
      out[j * leading + differences[static_cast<std::size_t>(k)]] -= others(k, j);
    }
  }
}

template <class Scalar>
void Design<Scalar>::evaluate(Units units, RowRange range, Scalar* out, Index leading,
                              double* square_norms, int worker) {
  combine(range, source_.count(units), out, leading,
          [&](RowRange rows, Scalar* to, Index leading_to) {
            source_.evaluate(units, rows, to, leading_to, root_weights_ ? nullptr : square_norms,
                             scratch(worker));
          });
  if (!root_weights_) return;
  weigh(range, matrix_map(out, range.count, source_.count(units), leading), square_norms);
}

template <class Scalar>
void Design<Scalar>::evaluate(const RoughPool& pool, RowRange range, float* out, Index leading,
                              double* square_norms, int worker) {
  Scratch<Scalar>& own = scratch(worker);
  pool.evaluate(range, out, leading, root_weights_ ? nullptr : square_norms, own.rough_inputs,
                own.profile);
  if (!root_weights_) return;
  weigh(range, matrix_map(out, range.count, source_.count(Units::pool), leading), square_norms);
}

template <class Scalar>
template <class Number>
void Design<Scalar>::weigh(RowRange range, MatrixMap<Number> columns, double* square_norms) const {
  const Vector<Number> roots = roots_of(range).template cast<Number>();
  for (Index j = 0; j < columns.cols(); ++j) {
    columns.col(j).array() *= roots.array();
    if (square_norms) square_norms[j] += columns.col(j).template cast<double>().squaredNorm();
  }
}

template <class Scalar>
void Design<Scalar>::copy_fixed_columns(RowRange range, Index first, Index count, double* out,
                                        Index leading) const {
  const Index ones = intercept_ && first == 0 && count > 0 ? 1 : 0;
  if (ones) Eigen::Map<VectorD>(out, range.count).setOnes();
  const Index first_input = first + ones - (intercept_ ? 1 : 0);
  inputs_.copy_columns(range, first_input, count - ones, out + ones * leading, leading);
}

template <class Scalar>
void Design<Scalar>::fixed_columns(RowRange range, Index first, Index count, double* out,
                                   Index leading) const {
  combine(range, count, out, leading, [&](RowRange rows, double* to, Index leading_to) {
    copy_fixed_columns(rows, first, count, to, leading_to);
  });
  if (!root_weights_) return;
  matrix_map(out, range.count, count, leading).array().colwise() *= roots_of(range).array();
}

template <class Scalar>
MatrixD Design<Scalar>::fixed_products_of_rows(const RowBlocks& blocks, Team& team) const {
  if (sparse_links_) return sparse_links_->products_of_rows(team);
  MatrixD products = MatrixD::Zero(rows(), rows());
  visit_fixed_columns(blocks, team, [&](Index, Index count, const MatrixD& columns) {
    add_outer_product(1, columns.leftCols(count), products, team);
  });
  return products;
}

// The columns are divided among the threads.
template <class Scalar>
MatrixD Design<Scalar>::fixed_transposed_times(const MatrixD& x, Team& team) {
  if (sparse_links_) return sparse_links_->transposed_times(x, team);
  constexpr Index kColumns = 256;
  MatrixD product(fixed(), x.cols());
  team.for_each((fixed() + kColumns - 1) / kColumns, [&](Index chunk, int worker) {
    team.poll(worker);
    const Index first = chunk * kColumns, count = std::min(kColumns, fixed() - first);
    MatrixD& columns = scratch(worker).wide;
    columns.resize(rows(), count);
    fixed_columns({0, rows()}, first, count, columns.data(), rows());
    blas::gemm(blas::Op::transpose, blas::Op::none, 1, columns, x, 0,
               product.middleRows(first, count));
  });
  return product;
}

template <class Scalar>
void Design<Scalar>::all_columns(RowRange range, double* out, Index leading, int worker) {
  fixed_columns(range, 0, fixed(), out, leading);
  unit_columns(range, out + fixed() * leading, leading, worker);
}

template <class Scalar>
void Design<Scalar>::unit_columns(RowRange range, double* out, Index leading, int worker) {
  const Index units = source_.count(Units::kept);
  if (units == 0) return;
  Matrix<Scalar>& hidden = scratch(worker).pool;
  if (hidden.rows() < range.count || hidden.cols() < units) hidden.resize(range.count, units);
  evaluate(Units::kept, range, hidden.data(), hidden.rows(), nullptr, worker);
  matrix_map(out, range.count, units, leading) =
      hidden.topLeftCorner(range.count, units).template cast<double>();
}

template <class Scalar>
MatrixD Design<Scalar>::times(const MatrixD& x, const RowBlocks& blocks, Team& team) {
  MatrixD product(rows(), x.cols());
  if (sparse_links_) {
    const Index units = columns() - fixed();
    blocks.sweep(team, [&](Index, Index b, int worker) {
      const RowRange range = blocks.block(b);
      auto out = product.middleRows(range.first, range.count);
      sparse_links_->times(range, x.topRows(fixed()), out);
      if (units == 0) return;
      MatrixD& block = scratch(worker).wide;
      block.resize(range.count, units);
      unit_columns(range, block.data(), range.count, worker);
      blas::gemm(blas::Op::none, blas::Op::none, 1, block, x.bottomRows(units), 1, out);
    });
    return product;
  }
  blocks.sweep(team, [&](Index, Index b, int worker) {
    const RowRange range = blocks.block(b);
    MatrixD& block = scratch(worker).wide;
    block.resize(range.count, columns());
    all_columns(range, block.data(), range.count, worker);
    blas::gemm(blas::Op::none, blas::Op::none, 1, block, x, 0,
               product.middleRows(range.first, range.count));
  });
  return product;
}

template <class Scalar>
MatrixD Design<Scalar>::transposed_times(const MatrixD& x, const RowBlocks& blocks, Team& team) {
  const Index units = columns() - fixed(), outputs = x.cols();
  MatrixD product(columns(), outputs);
  product.topRows(fixed()) = fixed_transposed_times(x, team);
  if (units == 0) return product;
  const VectorD total = blocks.sum(team, units * outputs, [&](double* sums, Index b, int worker) {
    const RowRange range = blocks.block(b);
    MatrixD& block = scratch(worker).wide;
    block.resize(range.count, units);
    unit_columns(range, block.data(), range.count, worker);
    const MatrixD rows = x.middleRows(range.first, range.count);
    blas::gemm(blas::Op::transpose, blas::Op::none, 1, block, rows, 1,
               matrix_map(sums, units, outputs, units));
  });
  product.bottomRows(units) = Eigen::Map<const MatrixD>(total.data(), units, outputs);
  return product;
}

template <class Scalar>
MatrixD Design<Scalar>::residual_gradient(const MatrixD& readout, const MatrixD& targets,
                                          const RowBlocks& blocks, double& residual_energy,
                                          Team& team) {
  using blas::Op;
  const Index width = columns(), outputs = targets.cols();
  if (sparse_links_) {
    const MatrixD residual = targets - times(readout, blocks, team);
    residual_energy = residual.squaredNorm();
    return transposed_times(residual, blocks, team);
  }
  const Index size = width * outputs + 1;
  const VectorD total = blocks.sum(team, size, [&](double* sums, Index b, int worker) {
    const RowRange range = blocks.block(b);
    MatrixD& block = scratch(worker).wide;
    block.resize(range.count, width);
    all_columns(range, block.data(), range.count, worker);
    MatrixD residual = targets.middleRows(range.first, range.count);
    blas::gemm(Op::none, Op::none, -1, block, readout, 1, residual);
    blas::gemm(Op::transpose, Op::none, 1, block, residual, 1,
               matrix_map(sums, width, outputs, width));
    sums[width * outputs] += residual.squaredNorm();
  });
  residual_energy = total[width * outputs];
  return Eigen::Map<const MatrixD>(total.data(), width, outputs);
}

template class Design<float>;
template class Design<double>;

}  // namespace stagenets
