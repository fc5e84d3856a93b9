#include "stagenets/predictor.hpp"

#include <limits>

namespace stagenets {
namespace {

template <class Scalar>
using RowMajorMap =
    Eigen::Map<Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
               Eigen::OuterStride<>>;

// out (rows × columns, column-major) <- the rows of a block, each input clamped to its bounds.
template <class Scalar, class Given>
void copy_clamped(const InputBlock<Given>& x, Index rows, const Vector<Scalar>& lower,
                  const Vector<Scalar>& upper, Scalar* out) {
  const bool by_rows = x.op == blas::Op::transpose;
  const Index row_step = by_rows ? x.leading : 1, column_step = by_rows ? 1 : x.leading;
  // Of row-major rows, eight at a time, which fill one cache line of a column.
  const Index run = by_rows ? 8 : rows;
  for (Index first = 0; first < rows; first += run) {
    const Index count = std::min(run, rows - first);
    for (Index j = 0; j < lower.size(); ++j) {
      const Given* from = x.data + first * row_step + j * column_step;
      Scalar* to = out + j * rows + first;
      const Scalar least = lower[j], greatest = upper[j];
      if (by_rows) {
        for (Index i = 0; i < count; ++i) {
          to[i] = clamped(static_cast<Scalar>(from[i * row_step]), least, greatest);
        }
      } else {
        for (Index i = 0; i < count; ++i) {
          to[i] = clamped(static_cast<Scalar>(from[i]), least, greatest);
        }
      }
    }
  }
}

// The same for sparse rows.
template <class Scalar, class Given>
void copy_clamped(const SparseBlock<Given>& x, const Vector<Scalar>& lower,
                  const Vector<Scalar>& upper, SparseBlock<Scalar>& out) {
  out.starts = x.starts;
  out.columns = x.columns;
  out.values.resize(x.values.size());
  for (std::size_t e = 0; e < out.values.size(); ++e) {
    const Index j = x.columns[e];
    out.values[e] = clamped(static_cast<Scalar>(x.values[e]), lower[j], upper[j]);
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The bounds, or as many others if there are none.
VectorD bounds_or(const VectorD& bounds, Index inputs, double other) {
  return bounds.size() > 0 ? bounds : VectorD::Constant(inputs, other);
}

// What zeros are within the bounds; empty if they are zeros.
VectorD rest_within(const InputBounds& bounds) {
  const VectorD rest = VectorD::NullaryExpr(
      bounds.lower.size(), [&](Index j) { return clamped(0.0, bounds.lower[j], bounds.upper[j]); });
  return rest.isZero(0) ? VectorD() : rest;
}

}  // namespace

bool needs_double(const Network& network, const MatrixD& readout) {
  // A float has 24 bits: these leave an error of 2e-5 in the argument of an activation and, in a score, one of 2e-4 of
  // what a unit can bring.
  constexpr double kLargestBias = 256, kLargestOffset = 4096, kLargest = 1e30;
  const auto beyond = [](const auto& values, double most) {
    return values.size() > 0 && !(values.cwiseAbs().maxCoeff() <= most);
  };
  for (const NetworkLayer& layer : network.layers) {
    const VectorD& biases = layer.units.biases;
    const bool scaled = layer.gain.size() > 0;
    if (beyond(layer.units.weights, kLargest) || beyond(layer.gain, kLargest)) return true;
    if (beyond(biases, kLargestBias) || beyond(layer.shift, kLargestBias)) return true;
    if (scaled && beyond(biases.cwiseProduct(layer.gain), kLargestBias)) return true;
  }
  if (beyond(readout, kLargest)) return true;
  const auto units = readout.middleRows(network.linked(), network.units());
  for (Index c = 0; c < readout.cols() && units.rows() > 0; ++c) {
    const double unit = units.col(c).cwiseAbs().maxCoeff();
    const double offset = std::abs(readout(readout.rows() - 1, c));
    if (unit > 0 && offset > kLargestOffset * unit) return true;
  }
  return false;
}

int prediction_threads(const Network& network, Index rows, int threads) {
  const double operations = 2.0 * static_cast<double>(rows) *
                            static_cast<double>(network.inputs() + 10) *
                            static_cast<double>(network.units() + 1);
  // Helpers are started for this one call: that pays from about a millisecond of work on.
  constexpr double kWorthStarting = 2e7;
  return operations < kWorthStarting ? 1 : threads;
}

template <class Scalar>
Predictor<Scalar>::Predictor(const Network& network, const MatrixD& readout)
    : bounded_(!network.bounds.unbounded()),
      lower_(bounds_or(network.bounds.lower, network.inputs(), -kInfinity).cast<Scalar>()),
      upper_(bounds_or(network.bounds.upper, network.inputs(), kInfinity).cast<Scalar>()),
      rest_(rest_within(network.bounds)),
      linked_(network.linked()),
      units_(network.units()),
      readout_(readout.template cast<Scalar>()) {
  for (const NetworkLayer& layer : network.layers) {
    const bool reads_inputs = layers_.empty();
    layers_.push_back(
        {Layer<Scalar>(layer.units, layer.activation, reads_inputs ? rest_ : VectorD()),
         layer.gain.template cast<Scalar>(), layer.shift.template cast<Scalar>()});
  }
  if (linked_ > 0 && rest_.size() > 0) {
    links_base_ = readout_.topRows(linked_).template cast<double>().transpose() * rest_;
  }
}

template <class Scalar>
template <class Given>
InputBlock<Scalar> Predictor<Scalar>::load(const Inputs<Given>& inputs, RowRange range,
                                           LoadedRows<Given>& loaded, LoadedRows<Scalar>& converted,
                                           Scalar* place) const {
  const InputBlock<Given> x = inputs.load(range, loaded);
  if (x.sparse) {
    copy_clamped(*x.sparse, lower_, upper_, converted.sparse);
    converted.sparse.rest = rest_.size() > 0 ? &rest_ : nullptr;
    return {nullptr, 0, blas::Op::none, &converted.sparse};
  }
  if (!place) {
    if constexpr (std::is_same_v<Scalar, Given>) {
      if (!bounded_) return x;
    }
    converted.dense.resize(range.count, inputs.columns());
    place = converted.dense.data();
  }
  copy_clamped(x, range.count, lower_, upper_, place);
  return {place, range.count, blas::Op::none};
}

template <class Scalar>
void Predictor<Scalar>::evaluate_layers(const InputBlock<Scalar>& x, Index rows,
                                        Matrix<Scalar>& block, Index first) const {
  InputBlock<Scalar> read = x;
  for (const PreparedLayer& prepared : layers_) {
    const Index count = prepared.layer.units();
    Scalar* out = block.data() + first * block.rows();
    prepared.layer.evaluate(read, rows, out, block.rows());
    if (prepared.gain.size() > 0) {
      auto values = block.middleCols(first, count);
      values = (values * prepared.gain.asDiagonal()).rowwise() + prepared.shift.transpose();
    }
    read = {out, block.rows(), blas::Op::none};
    first += count;
  }
}

template <class Scalar>
template <class Given>
void Predictor<Scalar>::scores(const Inputs<Given>& inputs, Scalar* out, Team& team,
                               const std::vector<Index>* rows) const {
  const Index count = rows ? static_cast<Index>(rows->size()) : inputs.rows();
  const Index columns = readout_.cols();
  const Index skipped =
      inputs.is_sparse() ? linked_ : 0;  // links of sparse inputs are multiplied apart
  const Index height = readout_.rows() - skipped;
  const RowBlocks blocks = RowBlocks::for_width(count, inputs.columns(), height + columns);
  std::vector<Scratch<Scalar>> scratch(static_cast<std::size_t>(team.size()));
  std::vector<LoadedRows<Given>> loaded(scratch.size());
  blocks.sweep(team, [&](Index, Index b, int worker) {
    RowRange range = blocks.block(b);
    if (rows) range.list = rows->data();
    Scratch<Scalar>& own = scratch[static_cast<std::size_t>(worker)];
    own.pool.resize(range.count, height);
    // Inputs that are linked directly are loaded to where the readout wants them.
    const InputBlock<Scalar> x = load(inputs, range, loaded[static_cast<std::size_t>(worker)],
                                      own.inputs, linked_ > 0 ? own.pool.data() : nullptr);
    evaluate_layers(x, range.count, own.pool, linked_ - skipped);
    own.pool.col(height - 1).setOnes();
    // Row-major out is column-major outᵀ = readoutᵀ · designᵀ.
    blas::gemm<Scalar>(blas::Op::transpose, blas::Op::transpose, columns, range.count, height, 1,
                       readout_.data() + skipped, readout_.rows(), own.pool.data(), range.count, 0,
                       out + range.first * columns, columns);
    if (skipped == 0) return;
    MatrixD linked(range.count, columns);
    multiply_sparse(*x.sparse, readout_, links_base_, linked.data(), range.count);
    RowMajorMap<Scalar>(out + range.first * columns, range.count, columns,
                        Eigen::OuterStride<>(columns)) += linked.template cast<Scalar>();
  });
}

template <class Scalar>
template <class Given>
void Predictor<Scalar>::activations(const Inputs<Given>& inputs, Given* out, Team& team) const {
  const RowBlocks blocks = RowBlocks::for_width(inputs.rows(), inputs.columns(), units_);
  std::vector<Scratch<Scalar>> scratch(static_cast<std::size_t>(team.size()));
  std::vector<LoadedRows<Given>> loaded(scratch.size());
  blocks.sweep(team, [&](Index, Index b, int worker) {
    const RowRange range = blocks.block(b);
    Scratch<Scalar>& own = scratch[static_cast<std::size_t>(worker)];
    own.pool.resize(range.count, units_);
    const InputBlock<Scalar> x =
        load(inputs, range, loaded[static_cast<std::size_t>(worker)], own.inputs, nullptr);
    evaluate_layers(x, range.count, own.pool, 0);
    RowMajorMap<Given>(out + range.first * units_, range.count, units_,
                       Eigen::OuterStride<>(units_)) = own.pool.template cast<Given>();
  });
}

template class Predictor<float>;
template class Predictor<double>;
#define STAGENETS_INSTANTIATE(Scalar, Given)                                           \
  template void Predictor<Scalar>::scores<Given>(const Inputs<Given>&, Scalar*, Team&, \
                                                 const std::vector<Index>*) const;     \
  template void Predictor<Scalar>::activations<Given>(const Inputs<Given>&, Given*, Team&) const;
STAGENETS_INSTANTIATE(float, float)
STAGENETS_INSTANTIATE(double, double)
STAGENETS_INSTANTIATE(double, float)
#undef STAGENETS_INSTANTIATE

}  // namespace stagenets
