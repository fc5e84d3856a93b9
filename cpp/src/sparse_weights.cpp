#include "stagenets/sparse_weights.hpp"

#include <algorithm>

#include "stagenets/kernels.hpp"
#include "stagenets/thread_buffers.hpp"

namespace stagenets {
namespace {

// The BLAS multiplies and adds about this many times faster than we gather.
constexpr Index kDenseAdvantage = 4;
// Products with sparse rows cost little; gathered columns are filled in.
constexpr Index kMostOfSparseRows = 64;

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

// The same of sparse rows; `place` has the position of every input in `columns`, or -1.
template <class Scalar>
void gather_columns(const SparseBlock<Scalar>& x, const std::vector<Index>& columns,
                    const std::vector<Index>& place, Index rows, Scalar* out) {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::fill_n(out + static_cast<Index>(c) * rows, rows, x.rest_of(columns[c]));
  }
  for (Index i = 0; i < rows; ++i) {
    for (Index e = x.starts[i]; e < x.starts[i + 1]; ++e) {
      const Index at = place[static_cast<std::size_t>(x.columns[e])];
      if (at >= 0) out[at * rows + i] = x.values[e];
    }
  }
}

}  // namespace

template <class Scalar>
void SparseWeights<Scalar>::clear(Index inputs) {
  place_.resize(static_cast<std::size_t>(inputs), -1);
  for (const Index input : inputs_) place_[static_cast<std::size_t>(input)] = -1;
  inputs_.clear();
  units_.clear();
  unit_ends_.clear();
  term_biases_.clear();
  term_ends_.clear();
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

// Called once all weights are added: sorts the inputs by their order in a row, so that rows are gathered sequentially.
template <class Scalar>
void SparseWeights<Scalar>::finish() {
  std::sort(inputs_.begin(), inputs_.end());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    place_[static_cast<std::size_t>(inputs_[i])] = static_cast<Index>(i);
  }
  for (Index& position : position_) position = place_[static_cast<std::size_t>(position)];
}

template <class Scalar>
std::vector<Index> SparseWeights<Scalar>::assign(const UnitWeights& units,
                                                 const Inputs<Scalar>* inputs,
                                                 Vector<Scalar>& biases) {
  const Index p = units.weights.rows();
  const SeenInputs& seen = units.seen;
  // Only for speed in a fit. Predictions must not depend on it: a network from a file does not know what its units see.
  const bool known = inputs && seen.known();
  const auto nonzeros = [&](Index term) {
    return known ? seen.end_of(term) - seen.begin_of(term)
                 : (units.weights.col(term).array() != 0).count();
  };
  // Adds a term's weights; returns its bias.
  const auto add_term = [&](Index term) {
    double offset = 0;
    const auto add_weight = [&](Index input) {
      const double weight =
          units.weights(input, term) * (inputs ? inputs->weight_factor(input) : 1.0);
      offset += weight * (inputs ? inputs->bias_share(input) : 0.0);
      add(input, static_cast<Scalar>(weight));
    };
    if (known) {
      const auto all = seen.inputs.begin();
      std::for_each(all + seen.begin_of(term), all + seen.end_of(term), add_weight);
    } else {
      for (Index input = 0; input < p; ++input) {
        if (units.weights(input, term) != 0) add_weight(input);
      }
    }
    term_ends_.push_back(static_cast<Index>(weights_.size()));
    return static_cast<Scalar>(units.biases[term] - offset);
  };
  const Index most = inputs && inputs->is_sparse()
                         ? std::min(p / kDenseAdvantage, kMostOfSparseRows)
                         : p / kDenseAdvantage;
  std::vector<Index> others;
  clear(p);
  biases.resize(units.count());
  for (Index unit = 0; unit < units.count(); ++unit) {
    Index term = units.first_term(unit);
    if (units.terms(unit) == 1 && nonzeros(term) > most) {
      others.push_back(unit);
      continue;
    }
    biases[unit] = add_term(term);
    term_biases_.push_back(0);
    while (++term < units.end_of_terms(unit)) term_biases_.push_back(add_term(term) - biases[unit]);
    units_.push_back(unit);
    unit_ends_.push_back(static_cast<Index>(term_ends_.size()));
  }
  finish();
  return others;
}

template <class Scalar>
std::vector<const Scalar*> SparseWeights<Scalar>::columns(const InputBlock<Scalar>& x,
                                                          Index rows) const {
  std::vector<Scalar>& gathered = thread_buffers<Scalar>().gathered;
  std::vector<const Scalar*> columns;
  columns.reserve(inputs_.size());
  if (!x.sparse && x.op == blas::Op::none) {
    for (const Index input : inputs_) columns.push_back(x.data + input * x.leading);
  } else {
    gathered.resize(inputs_.size() * static_cast<std::size_t>(rows));
    if (x.sparse) {
      gather_columns(*x.sparse, inputs_, place_, rows, gathered.data());
    } else {
      gather_columns(x, inputs_, rows, gathered.data());
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      columns.push_back(gathered.data() + i * static_cast<std::size_t>(rows));
    }
  }
  return columns;
}

template <class Scalar>
void SparseWeights<Scalar>::map_term(Index term, const std::vector<const Scalar*>& columns,
                                     Index rows, Scalar* out) const {
  std::vector<const Scalar*>& seen = thread_buffers<Scalar>().seen;
  const Index first = first_weight(term), count = first_weight(term + 1) - first;
  seen.clear();
  for (Index i = first; i < first + count; ++i) {
    seen.push_back(columns[static_cast<std::size_t>(position_[static_cast<std::size_t>(i)])]);
  }
  kernels<Scalar>().combine_columns(seen.data(), weights_.data() + first, count, rows, out);
}

// Lowers `out` to a term of its unit where that is less. A step, which sees one input, is made on the way.
template <class Scalar>
void SparseWeights<Scalar>::lower_to_term(Index term, const std::vector<const Scalar*>& columns,
                                          Index rows, Scalar* out) const {
  const Scalar bias = term_biases_[static_cast<std::size_t>(term)];
  const std::size_t first = static_cast<std::size_t>(first_weight(term));
  if (first_weight(term + 1) == first_weight(term) + 1) {
    const Scalar* column = columns[static_cast<std::size_t>(position_[first])];
    return kernels<Scalar>().lower_to_column(column, weights_[first], bias, rows, out);
  }
  std::vector<Scalar>& values = thread_buffers<Scalar>().values;
  values.resize(static_cast<std::size_t>(rows));
  map_term(term, columns, rows, values.data());
  kernels<Scalar>().lower_to_column(values.data(), 1, bias, rows, out);
}

template <class Scalar>
void SparseWeights<Scalar>::map(const std::vector<const Scalar*>& columns, Index first, Index last,
                                Index rows, Scalar* out, Index leading) const {
  Index term = first == 0 ? 0 : unit_ends_[static_cast<std::size_t>(first - 1)];
  for (Index i = first; i < last; ++i) {
    Scalar* least = out + units_[static_cast<std::size_t>(i)] * leading;
    const Index end = unit_ends_[static_cast<std::size_t>(i)];
    map_term(term, columns, rows, least);
    for (++term; term < end; ++term) lower_to_term(term, columns, rows, least);
  }
}

template class SparseWeights<float>;
template class SparseWeights<double>;

}  // namespace stagenets
