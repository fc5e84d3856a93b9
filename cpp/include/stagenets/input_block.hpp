// Some rows of the inputs on their way to the units: in memory as they are, standardised in a buffer, or sparse.
#pragma once

#include <cstdint>
#include <vector>

#include "stagenets/blas.hpp"
#include "stagenets/types.hpp"

namespace stagenets {

// Some rows of sparse inputs. An entry that is not stored has the same value in every row, which is zero unless the
// inputs had to be centred, or clamped to bounds without a zero between them.
template <class Scalar>
struct SparseBlock {
  std::vector<Index> starts;          // of each row's part of the next two, and the end of the last
  std::vector<std::int32_t> columns;  // rising in each row
  std::vector<Scalar> values;
  const VectorD* rest =
      nullptr;  // by column, the value of entries not stored; null if all are zero

  Scalar rest_of(Index column) const {
    return rest ? static_cast<Scalar>((*rest)[column]) : Scalar{0};
  }
};

// Rows as op(data), where row-major ones stay row-major and are read transposed; or a sparse block.
template <class Scalar>
struct InputBlock {
  const Scalar* data;
  Index leading;
  blas::Op op;
  const SparseBlock<Scalar>* sparse = nullptr;
};

// Where rows that cannot be used in place are kept.
template <class Scalar>
struct LoadedRows {
  Matrix<Scalar> dense;
  SparseBlock<Scalar> sparse;
};

// out (rows × weights.cols(), column-major) <- x W for a sparse block, summed in double. `base` is what the rest values
// alone give, rest · W; empty if they are all zero.
template <class Scalar, class Out>
void multiply_sparse(const SparseBlock<Scalar>& x, const Matrix<Scalar>& weights,
                     const VectorD& base, Out* out, Index leading) {
  const Index rows = static_cast<Index>(x.starts.size()) - 1;
  thread_local std::vector<double> over;  // by how much stored values exceed the rest
  over.resize(x.values.size());
  for (std::size_t e = 0; e < over.size(); ++e) {
    over[e] = static_cast<double>(x.values[e]) - static_cast<double>(x.rest_of(x.columns[e]));
  }
  // Unit by unit: a column of the weights stays in cache while all rows look into it.
  for (Index unit = 0; unit < weights.cols(); ++unit) {
    const Scalar* weight = weights.data() + unit * weights.rows();
    const double start = base.size() > 0 ? base[unit] : 0.0;
    for (Index i = 0; i < rows; ++i) {
      double sum = start;
      for (Index e = x.starts[i]; e < x.starts[i + 1]; ++e) {
        sum += over[e] * static_cast<double>(weight[x.columns[e]]);
      }
      out[unit * leading + i] = static_cast<Out>(sum);
    }
  }
}

}  // namespace stagenets
