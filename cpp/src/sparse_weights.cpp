#include "residuum/sparse_weights.hpp"

#include <algorithm>

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
void SparseWeights<Scalar>::clear(Index inputs) {
  place_.resize(static_cast<std::size_t>(inputs), -1);
  for (const Index input : inputs_) place_[static_cast<std::size_t>(input)] = -1;
  inputs_.clear();
  ends_.clear();
  position_.clear();
  weights_.clear();
}

template <class Scalar>
void SparseWeights<Scalar>::add(Index input, Scalar weight) {
  Index& place = place_[static_cast<std::size_t>(input)];
  if (place < 0) {
    place = 0;
    inputs_.push_back(input);
  }
  position_.push_back(input);
  weights_.push_back(weight);
}

// Once all are there: inputs in the order they lie in a row, so that gathering them reads rows straight on.
template <class Scalar>
void SparseWeights<Scalar>::finish() {
  std::sort(inputs_.begin(), inputs_.end());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    place_[static_cast<std::size_t>(inputs_[i])] = static_cast<Index>(i);
  }
  for (Index& position : position_) position = place_[static_cast<std::size_t>(position)];
}

template <class Scalar>
bool SparseWeights<Scalar>::take(const Matrix<Scalar>& weights) {
  clear(weights.rows());
  const std::size_t most = static_cast<std::size_t>(weights.size() / kDenseAdvantage);
  for (Index j = 0; j < weights.cols(); ++j) {
    for (Index i = 0; i < weights.rows(); ++i) {
      if (weights(i, j) == 0) continue;
      if (weights_.size() == most) return false;
      add(i, weights(i, j));
    }
    end_unit();
  }
  finish();
  return true;
}

template <class Scalar>
bool SparseWeights<Scalar>::take(const UnitWeights& units, const Inputs<Scalar>& inputs,
                                 Vector<Scalar>& biases) {
  const SeenInputs& seen = units.seen;
  const Index nonzeros = static_cast<Index>(seen.inputs.size());
  if (!seen.known() || nonzeros * kDenseAdvantage > units.weights.size()) return false;
  clear(units.weights.rows());
  biases.resize(units.biases.size());
  for (Index j = 0; j < biases.size(); ++j) {
    double offset = 0;
    for (Index i = seen.begin_of(j); i < seen.end_of(j); ++i) {
      const Index input = seen.inputs[static_cast<std::size_t>(i)];
      const double weight = units.weights(input, j) * inputs.weight_factor(input);
      offset += weight * inputs.bias_share(input);
      add(input, static_cast<Scalar>(weight));
    }
    biases[j] = static_cast<Scalar>(units.biases[j] - offset);
    end_unit();
  }
  finish();
  return true;
}

template <class Scalar>
std::vector<const Scalar*> SparseWeights<Scalar>::columns(const InputBlock<Scalar>& x,
                                                          Index rows) const {
  thread_local std::vector<Scalar> gathered;
  std::vector<const Scalar*> columns;
  columns.reserve(inputs_.size());
  if (x.op == blas::Op::none) {
    for (const Index input : inputs_) columns.push_back(x.data + input * x.leading);
  } else {
    gathered.resize(inputs_.size() * static_cast<std::size_t>(rows));
    gather_columns(x, inputs_, rows, gathered.data());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      columns.push_back(gathered.data() + i * static_cast<std::size_t>(rows));
    }
  }
  return columns;
}

template <class Scalar>
void SparseWeights<Scalar>::map(const std::vector<const Scalar*>& columns, Index first_unit,
                                Index last_unit, Index rows, Scalar* out, Index leading) const {
  thread_local std::vector<const Scalar*> seen;
  seen.resize(columns.size());
  Index first = first_unit == 0 ? 0 : ends_[static_cast<std::size_t>(first_unit - 1)];
  for (Index unit = first_unit; unit < last_unit; ++unit) {
    const Index end = ends_[static_cast<std::size_t>(unit)];
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
