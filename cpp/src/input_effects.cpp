#include "stagenets/input_effects.hpp"

#include <Eigen/SparseCore>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "stagenets/blas.hpp"
#include "stagenets/kernels.hpp"

namespace stagenets {
namespace {

// The same order on every system.
std::vector<Index> shuffled(Index count) {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  std::mt19937_64 random(static_cast<std::uint64_t>(count));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

template <class Scalar>
MatrixD dense_copy(const InputView<Scalar>& view) {
  return MatrixD::NullaryExpr(view.rows, view.columns,
                              [&](Index i, Index j) { return static_cast<double>(view(i, j)); });
}

using SparseColumns = Eigen::SparseMatrix<double, Eigen::ColMajor, Index>;

template <class Scalar>
SparseColumns sparse_copy(const InputView<Scalar>& view) {
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (Index i = 0; i < view.rows; ++i) {
    for (Index e = view.sparse.starts[i]; e < view.sparse.starts[i + 1]; ++e) {
      entries.emplace_back(i, view.sparse.columns[e], static_cast<double>(view.sparse.values[e]));
    }
  }
  SparseColumns copy(view.rows, view.columns);
  copy.setFromTriplets(entries.begin(), entries.end());
  return copy;
}

// The values of a unit, from those of its terms.
void unit_values(const NetworkLayer& layer, Index unit, const MatrixD& terms, Index first_term,
                 Eigen::Ref<VectorD> values) {
  values = terms.col(first_term);
  for (Index t = 1; t < layer.units.terms(unit); ++t) {
    values = values.cwiseMin(terms.col(first_term + t));
  }
  kernels<double>().activate(layer.activation, values.data(), values.size(), 0);
  if (layer.gain.size() > 0) values = (layer.gain[unit] * values).array() + layer.shift[unit];
}

// Units may see a few of many inputs.
void add_product(const MatrixD& a, const MatrixD& b, MatrixD& sum) {
  const Index nonzeros = (b.array() != 0).count();
  if (nonzeros < b.size() / 10) {
    sum += a * b.sparseView();
  } else if (sum.cols() > 0) {
    blas::gemm(blas::Op::none, blas::Op::none, 1, a, b, 1, sum);
  }
}
void add_product(const SparseColumns& a, const MatrixD& b, MatrixD& sum) { sum += a * b; }

template <class Read>
MatrixD terms_of(const NetworkLayer& layer, const Read& read) {
  MatrixD terms = layer.units.biases.transpose().replicate(read.rows(), 1);
  add_product(read, layer.units.weights, terms);
  return terms;
}

MatrixD values_of(const NetworkLayer& layer, const MatrixD& terms) {
  MatrixD values(terms.rows(), layer.outputs());
  for (Index unit = 0; unit < layer.outputs(); ++unit) {
    unit_values(layer, unit, terms, layer.units.first_term(unit), values.col(unit));
  }
  return values;
}

// The units that look at each input, in their order.
std::vector<std::vector<Index>> units_by_input(const UnitWeights& units) {
  std::vector<std::vector<Index>> readers(static_cast<std::size_t>(units.weights.rows()));
  for (Index unit = 0; unit < units.count(); ++unit) {
    for (Index term = units.first_term(unit); term < units.end_of_terms(unit); ++term) {
      for (Index input = 0; input < units.weights.rows(); ++input) {
        std::vector<Index>& own = readers[static_cast<std::size_t>(input)];
        const bool known = !own.empty() && own.back() == unit;
        if (units.weights(input, term) != 0 && !known) own.push_back(unit);
      }
    }
  }
  return readers;
}

// A network on some rows, ready for one block of inputs after another to be exchanged; rows are dense or sparse columns.
template <class Rows>
class Exchange {
 public:
  Exchange(const Network& network, const MatrixD& readout, Rows x)
      : network_(network),
        readout_(readout),
        x_(std::move(x)),
        partner_(shuffled(x_.rows())),
        readers_(units_by_input(network.layers.front().units)) {
    for (const NetworkLayer& layer : network.layers) {
      const MatrixD terms = values_.empty() ? terms_of(layer, x_) : terms_of(layer, values_.back());
      if (values_.empty()) first_terms_ = terms;
      values_.push_back(values_of(layer, terms));
    }
  }

  // The effect on each output of inputs that are exchanged together.
  Eigen::RowVectorXd effect(Index input, Index inputs) const {
    const MatrixD block = x_.middleCols(input, inputs);
    const MatrixD step = block(partner_, Eigen::all) - block;
    if (step.isZero(0)) return Eigen::RowVectorXd::Zero(readout_.cols());
    const std::vector<Index> units = readers(input, inputs);
    if (units.empty() && inputs == 1) return linear_effect(input, step);
    MatrixD change = MatrixD::Zero(x_.rows(), readout_.cols());
    if (network_.direct_links) change.noalias() += step * readout_.middleRows(input, inputs);
    const NetworkLayer& first = network_.layers.front();
    const bool only = network_.layers.size() == 1;
    MatrixD values = only ? MatrixD() : values_.front();
    MatrixD terms;
    VectorD changed(x_.rows());
    for (const Index unit : units) {
      const Index begin = first.units.first_term(unit), count = first.units.terms(unit);
      terms = first_terms_.middleCols(begin, count) +
              step * first.units.weights.block(input, begin, inputs, count);
      unit_values(first, unit, terms, 0, changed);
      change.noalias() +=
          (changed - values_.front().col(unit)) * readout_.row(network_.linked() + unit);
      if (!only) values.col(unit) = changed;
    }
    Index row = network_.linked() + first.outputs();
    for (std::size_t l = 1; l < network_.layers.size(); ++l) {
      const NetworkLayer& layer = network_.layers[l];
      values = values_of(layer, terms_of(layer, values));
      change.noalias() += (values - values_[l]) * readout_.middleRows(row, layer.outputs());
      row += layer.outputs();
    }
    return 0.5 * change.colwise().squaredNorm() / static_cast<double>(x_.rows());
  }

 private:
  // Of an input that no unit looks at. Squares of a huge input would overflow, and those of its readout vanish.
  Eigen::RowVectorXd linear_effect(Index input, const MatrixD& step) const {
    if (!network_.direct_links) return Eigen::RowVectorXd::Zero(readout_.cols());
    const double deviation = step.stableNorm() * std::sqrt(0.5 / static_cast<double>(x_.rows()));
    return (deviation * readout_.row(input)).array().square();
  }

  // The units of the first layer that look at any of these inputs.
  std::vector<Index> readers(Index input, Index inputs) const {
    const auto begin = readers_.begin() + input;
    if (inputs == 1) return *begin;
    std::set<Index> all;
    for (auto own = begin; own != begin + inputs; ++own) all.insert(own->begin(), own->end());
    return {all.begin(), all.end()};
  }

  const Network& network_;
  const MatrixD& readout_;
  const Rows x_;
  const std::vector<Index> partner_;
  const std::vector<std::vector<Index>> readers_;  // by input
  MatrixD first_terms_;
  std::vector<MatrixD> values_;  // of the units, layer by layer
};

template <class Rows>
MatrixD effects_on(const Network& network, const MatrixD& readout, Rows rows,
                   const std::vector<Index>& ends, int threads, const Team::Poll& poll) {
  const Index blocks = static_cast<Index>(ends.size());
  MatrixD effects(blocks, readout.cols());
  const Exchange<Rows> exchange(network, readout, std::move(rows));
  Team::run(threads, poll, [&](Team& team) {
    team.for_each(blocks, [&](Index block, int worker) {
      team.poll(worker);
      const std::size_t b = static_cast<std::size_t>(block);
      const Index begin = b == 0 ? 0 : ends[b - 1];
      effects.row(block) = exchange.effect(begin, ends[b] - begin);
    });
  });
  return effects;
}

}  // namespace

template <class Scalar>
MatrixD input_effects(const Network& network, const MatrixD& readout, const VectorD& units,
                      const InputView<Scalar>& rows, const std::vector<Index>& ends, int threads,
                      const Team::Poll& poll) {
  const MatrixD in_units = readout.array().rowwise() / units.array().transpose();
  return rows.is_sparse() ? effects_on(network, in_units, sparse_copy(rows), ends, threads, poll)
                          : effects_on(network, in_units, dense_copy(rows), ends, threads, poll);
}

template MatrixD input_effects<float>(const Network&, const MatrixD&, const VectorD&,
                                      const InputView<float>&, const std::vector<Index>&, int,
                                      const Team::Poll&);
template MatrixD input_effects<double>(const Network&, const MatrixD&, const VectorD&,
                                       const InputView<double>&, const std::vector<Index>&, int,
                                       const Team::Poll&);

}  // namespace stagenets
