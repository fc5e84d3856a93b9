#include "residuum/network.hpp"

namespace residuum {
namespace {

// The network's layers in the feature type, evaluated on one block of rows after another.
template <class Scalar>
class NetworkBlocks {
 public:
  NetworkBlocks(const Network& network, const Inputs<Scalar>& inputs)
      : inputs_(inputs),
        direct_links_(network.direct_links),
        hidden_(network.hidden, network.activation) {
    if (!network.features) return;
    features_.emplace(network.features->nodes.units, network.features->activation);
    gain_ = network.features->nodes.gain.template cast<Scalar>();
    shift_ = network.features->nodes.shift.template cast<Scalar>();
  }

  Index features() const { return features_ ? features_->units() : 0; }
  Index linked() const {
    if (!direct_links_) return 0;
    return features_ ? features() : inputs_.columns();
  }
  Index hidden() const { return hidden_.units(); }

  // block (rows × …) <- [x' if wanted, hidden units, 1].
  void design(RowRange range, Matrix<Scalar>& block, Scratch<Scalar>& scratch) const {
    const Index n = range.count;
    block.resize(n, linked() + hidden() + 1);
    const InputBlock<Scalar> x = nodes(range, scratch);
    hidden_.evaluate(x, n, block.col(linked()).data(), n);
    if (linked() > 0 && x.op == blas::Op::transpose) {
      const ConstMatrixMap<Scalar> rows(x.data, linked(), n, Eigen::OuterStride<>(x.leading));
      block.leftCols(linked()) = rows.transpose();
    } else if (linked() > 0) {
      block.leftCols(linked()) =
          ConstMatrixMap<Scalar>(x.data, n, linked(), Eigen::OuterStride<>(x.leading));
    }
    block.col(linked() + hidden()).setOnes();
  }

  // x': the inputs themselves or the feature nodes on them.
  InputBlock<Scalar> nodes(RowRange range, Scratch<Scalar>& scratch) const {
    const InputBlock<Scalar> x = inputs_.load(range, scratch.inputs);
    if (!features_) return x;
    Matrix<Scalar>& values = scratch.features;
    values.resize(range.count, features());
    features_->evaluate(x, range.count, values.data(), range.count);
    values = (values * gain_.asDiagonal()).rowwise() + shift_.transpose();
    return {values.data(), range.count, blas::Op::none};
  }

  const Layer<Scalar>& hidden_layer() const { return hidden_; }

 private:
  const Inputs<Scalar>& inputs_;
  bool direct_links_;
  std::optional<Layer<Scalar>> features_;
  Vector<Scalar> gain_, shift_;
  Layer<Scalar> hidden_;
};

template <class Scalar>
using RowMajorMap =
    Eigen::Map<Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
               Eigen::OuterStride<>>;

}  // namespace

template <class Scalar>
void evaluate_network(const Network& network, const Inputs<Scalar>& inputs, const MatrixD& readout,
                      Scalar* out, Team& team) {
  const NetworkBlocks<Scalar> network_blocks(network, inputs);
  const Matrix<Scalar> weights = readout.template cast<Scalar>();
  const Index columns = weights.cols();
  const RowBlocks blocks =
      RowBlocks::for_width(inputs.rows(), inputs.columns(), weights.rows() + columns);
  std::vector<Scratch<Scalar>> scratch(static_cast<std::size_t>(team.size()));
  blocks.sweep(team, [&](Index, Index b, int worker) {
    const RowRange range = blocks.block(b);
    Scratch<Scalar>& own = scratch[static_cast<std::size_t>(worker)];
    network_blocks.design(range, own.pool, own);
    // Row-major out is column-major outᵀ = readoutᵀ · designᵀ.
    blas::gemm<Scalar>(blas::Op::transpose, blas::Op::transpose, columns, range.count,
                       weights.rows(), 1, weights.data(), weights.rows(), own.pool.data(),
                       range.count, 0, out + range.first * columns, columns);
  });
}

template <class Scalar>
void hidden_activations(const Network& network, const Inputs<Scalar>& inputs, Scalar* out,
                        Team& team) {
  const NetworkBlocks<Scalar> network_blocks(network, inputs);
  const Index features = network_blocks.features(), hidden = network_blocks.hidden();
  const Index columns = features + hidden;
  const RowBlocks blocks = RowBlocks::for_width(inputs.rows(), inputs.columns(), columns);
  std::vector<Scratch<Scalar>> scratch(static_cast<std::size_t>(team.size()));
  blocks.sweep(team, [&](Index, Index b, int worker) {
    const RowRange range = blocks.block(b);
    Scratch<Scalar>& own = scratch[static_cast<std::size_t>(worker)];
    const InputBlock<Scalar> x = network_blocks.nodes(range, own);
    own.pool.resize(range.count, hidden);
    network_blocks.hidden_layer().evaluate(x, range.count, own.pool.data(), range.count);
    RowMajorMap<Scalar> rows(out + range.first * columns, range.count, columns,
                             Eigen::OuterStride<>(columns));
    if (features > 0) rows.leftCols(features) = own.features;
    rows.rightCols(hidden) = own.pool;
  });
}

#define RESIDUUM_INSTANTIATE(Scalar)                                                            \
  template void evaluate_network<Scalar>(const Network&, const Inputs<Scalar>&, const MatrixD&, \
                                         Scalar*, Team&);                                       \
  template void hidden_activations<Scalar>(const Network&, const Inputs<Scalar>&, Scalar*, Team&);
RESIDUUM_INSTANTIATE(float)
RESIDUUM_INSTANTIATE(double)
#undef RESIDUUM_INSTANTIATE

}  // namespace residuum
