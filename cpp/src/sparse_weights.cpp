#include "residuum/sparse_weights.hpp"

#include "residuum/kernels.hpp"

namespace residuum {
namespace {

// The BLAS multiplies and adds about this many times as fast as we gather.
constexpr Index kDenseAdvantage = 4;

// Some columns of row-major rows, one after another. Eight rows at a time fill a cache line of a column.
template <class Scalar>
void gather_columns(const InputBlock<Scalar>& x, const std::vector<Index>& columns, Index rows,
                    Scalar* out) {
  constexpr Index kTogether = 8;
  Index row = 0;
  for (; row + kTogether <= rows; row += kTogether) {
    const Scalar* from = x.data + row * x.leading;
    Scalar* to = out + row;
    for (const Index column : columns) {
      for (Index i = 0; i < kTogether; ++i) to[i] = from[i * x.leading + column];
      to += rows;
    }
  }
  for (; row < rows; ++row) {
    Scalar* to = out + row;
    for (const Index column : columns) {
      *to = x.data[row * x.leading + column];
      to += rows;
    }
  }
}

}  // namespace

template <class Scalar>
bool SparseWeights<Scalar>::take(const Matrix<Scalar>& weights) {
  inputs_.clear();
  ends_.clear();
  position_.clear();
  weights_.clear();
  const std::size_t most = static_cast<std::size_t>(weights.size() / kDenseAdvantage);
  std::vector<Index> place(static_cast<std::size_t>(weights.rows()), -1);
  for (Index j = 0; j < weights.cols(); ++j) {
    for (Index i = 0; i < weights.rows(); ++i) {
      if (weights(i, j) == 0) continue;
      if (weights_.size() == most) return false;
      Index& at = place[static_cast<std::size_t>(i)];
      if (at < 0) {
        at = static_cast<Index>(inputs_.size());
        inputs_.push_back(i);
      }
      position_.push_back(at);
      weights_.push_back(weights(i, j));
    }
    ends_.push_back(static_cast<Index>(weights_.size()));
  }
  return true;
}

template <class Scalar>
void SparseWeights<Scalar>::map(const InputBlock<Scalar>& x, Index rows, Scalar* out,
                                Index leading) const {
  thread_local std::vector<Scalar> gathered;
  thread_local std::vector<const Scalar*> columns, seen;
  columns.clear();
  if (x.op == blas::Op::none) {
    for (const Index input : inputs_) columns.push_back(x.data + input * x.leading);
  } else {
    gathered.resize(inputs_.size() * static_cast<std::size_t>(rows));
    gather_columns(x, inputs_, rows, gathered.data());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      columns.push_back(gathered.data() + i * static_cast<std::size_t>(rows));
    }
  }
  seen.resize(columns.size());
  Index first = 0;
  for (const Index end : ends_) {
    for (Index i = first; i < end; ++i) {
      seen[static_cast<std::size_t>(i - first)] =
          columns[static_cast<std::size_t>(position_[static_cast<std::size_t>(i)])];
    }
    kernels<Scalar>().combine_columns(seen.data(), weights_.data() + first, end - first, rows, out);
    out += leading;
    first = end;
  }
}

template class SparseWeights<float>;
template class SparseWeights<double>;

}  // namespace residuum
