#include "residuum/broad_units.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <cmath>
#include <limits>

#include "residuum/gram.hpp"
#include "residuum/kernels.hpp"

namespace residuum {
namespace {

// Constants of the reference system.
constexpr double kBiasInput = 0.1;  // what the constant input of a node is worth
constexpr double kShrink = 0.8;     // the largest argument of an enhancement node
constexpr double kSparsity = 1e-3;  // penalty of the sparse autoencoder
constexpr int kAdmmIterations = 50;

// gain·v + shift takes [low, high] to [-1, 1]; a constant goes to zero.
void scale_to_unit_range(const VectorD& low, const VectorD& high, VectorD& gain, VectorD& shift) {
  gain = (high - low).unaryExpr([](double width) { return width > 0 ? 2.0 / width : 0.0; });
  shift = -(gain.array() * 0.5 * (high + low).array());
}

// min ‖A X − H‖² + penalty |X|₁ by ADMM, from AᵀA and AᵀH.
MatrixD sparse_code(const MatrixD& a_gram, const MatrixD& a_targets) {
  const Index m = a_gram.rows();
  const MatrixD inverse = (a_gram + MatrixD::Identity(m, m)).llt().solve(MatrixD::Identity(m, m));
  const MatrixD constant = inverse * a_targets;
  MatrixD sparse = MatrixD::Zero(m, a_targets.cols()), dual = sparse, dense(sparse);
  MatrixD difference(sparse);
  for (int iteration = 0; iteration < kAdmmIterations; ++iteration) {
    difference = sparse - dual;
    dense = constant;
    blas::gemm<double>(blas::Op::none, blas::Op::none, m, sparse.cols(), m, 1.0, inverse.data(), m,
                       difference.data(), m, 1.0, dense.data(), m);
    sparse = (dense + dual).unaryExpr([](double v) {
      return std::copysign(std::max(std::abs(v) - kSparsity, 0.0), v);
    });
    dual += dense - sparse;
  }
  return sparse;
}

// Orthonormal columns with the span of v's (v tall), by QR with a positive diagonal.
MatrixD orthonormal_columns(const MatrixD& v) {
  const Eigen::HouseholderQR<MatrixD> qr(v);
  MatrixD q = qr.householderQ() * MatrixD::Identity(v.rows(), v.cols());
  for (Index j = 0; j < v.cols(); ++j) {
    if (qr.matrixQR()(j, j) < 0) q.col(j) = -q.col(j);
  }
  return q;
}

FeatureNodes pick(const FeatureNodes& nodes, const std::vector<Index>& columns) {
  FeatureNodes picked{residuum::pick(nodes.units, columns), VectorD(columns.size()),
                      VectorD(columns.size())};
  for (std::size_t j = 0; j < columns.size(); ++j) {
    picked.gain[j] = nodes.gain[columns[j]];
    picked.shift[j] = nodes.shift[columns[j]];
  }
  return picked;
}

template <class Vector>
void extend(Vector& values, const Vector& more) {
  const Index before = values.size();
  values.conservativeResize(before + more.size());
  values.tail(more.size()) = more;
}

}  // namespace

template <class Scalar>
BroadUnits<Scalar>::BroadUnits(const Inputs<Scalar>& inputs, const WeightDraws& draws,
                               const BroadSettings& settings, const RowBlocks& blocks,
                               const double* root_weights, int workers, Team& team)
    : inputs_(inputs),
      draws_(draws),
      settings_(settings),
      blocks_(blocks),
      root_weights_(root_weights),
      feature_target_(settings.windows * settings.window_nodes),
      scratch_(static_cast<std::size_t>(workers)) {
  features_.units.weights.resize(inputs.columns(), 0);
  if (!settings.sparse_features) return;
  const Index p = inputs.columns();
  input_gram_ = gram(blocks, p + 1, team, [&](RowRange range, double* out, Index leading, int) {
    MatrixMap<double> rows(out, range.count, p + 1, Eigen::OuterStride<>(leading));
    inputs_.copy_columns(range, 0, p, out, leading);
    rows.col(p).setOnes();
    if (!root_weights_) return;
    const Eigen::Map<const VectorD> roots(root_weights_ + range.first, range.count);
    rows.array().colwise() *= roots.array();
  });
  input_gram_.template triangularView<Eigen::StrictlyUpper>() = input_gram_.transpose();
}

template <class Scalar>
StagePlan BroadUnits<Scalar>::plan() const {
  Budget budget{settings_.enhancement, settings_.pool, settings_.block, settings_.one_shot};
  if (!in_features()) return budget.next(enhancement_list_.count());
  budget.units = settings_.window_nodes;
  return budget.next(features_.units.biases.size() % settings_.window_nodes);
}

template <class Scalar>
void BroadUnits<Scalar>::draw(Index stage, const StagePlan& plan, Team& team) {
  pool_of_features_ = in_features();
  if (pool_of_features_) {
    draw_features(stage, plan.pool, team);
  } else {
    draw_enhancement(stage, plan.pool, team);
  }
}

template <class Scalar>
void BroadUnits<Scalar>::draw_features(Index stage, Index count, Team& team) {
  draws_.draw(Stream::hidden, stage, count, inputs_.columns(), team, pool_nodes_->units);
  if (settings_.sparse_features) refine_sparsely(pool_nodes_->units, team);
  const auto [low, high] =
      range_of(input_layer(pool_nodes_->units, settings_.feature_activation), team);
  scale_to_unit_range(low, high, pool_nodes_->gain, pool_nodes_->shift);
  pool_layer_ = feature_layer(*pool_nodes_);
}

// The autoencoder: random maps of the inputs, scaled to [-1, 1], code the inputs sparsely; the code
// turned round is the node's map.
template <class Scalar>
void BroadUnits<Scalar>::refine_sparsely(UnitWeights& units, Team& team) const {
  const Index p = inputs_.columns(), count = units.biases.size();
  const auto [low, high] = range_of(input_layer(units, Activation::identity), team);
  VectorD gain, shift;
  scale_to_unit_range(low, high, gain, shift);
  // The scaled maps are [U 1] times this, so their Gram matrix needs no pass over the rows.
  MatrixD maps(p + 1, count);
  maps.topRows(p) = units.weights * gain.asDiagonal();
  maps.row(p) = (units.biases.array() * gain.array() + shift.array()).transpose();
  const MatrixD image = input_gram_ * maps;
  MatrixD targets = image.transpose();
  targets.col(p) *= kBiasInput;
  const MatrixD code = sparse_code(maps.transpose() * image, targets);
  units.weights = code.leftCols(p).transpose();
  units.biases = kBiasInput * code.col(p);
  units.seen = {};
}

template <class Scalar>
const MatrixD& BroadUnits<Scalar>::draw_directions(Index stage, Index count, Team& team) {
  const Index nodes = feature_target_;
  MatrixD& v = directions_->v;
  if (directions_->stage == stage && v.rows() == nodes + 1 && v.cols() == count) return v;
  directions_->stage = stage;
  UnitWeights units;
  draws_.draw(Stream::enhancement, stage, count, nodes, team, units);
  v.resize(nodes + 1, count);
  v.topRows(nodes) = units.weights;
  v.row(nodes) = units.biases.transpose();
  v = nodes + 1 >= count ? orthonormal_columns(v)
                         : MatrixD(orthonormal_columns(v.transpose()).transpose());
  return v;
}

template <class Scalar>
void BroadUnits<Scalar>::draw_enhancement(Index stage, Index count, Team& team) {
  const Index nodes = feature_target_;
  feature_layer_ = feature_layer(features_);
  UnitWeights& units = pool_enhancement_;
  const MatrixD& v = draw_directions(stage, count, team);
  units.weights = v.topRows(nodes);
  units.biases = kBiasInput * v.row(nodes).transpose();

  pool_hidden_ = Layer<Scalar>(units, Activation::identity);
  const auto [low, high] = range_of(pool_hidden_, team);
  const double largest = std::max(high.cwiseAbs().maxCoeff(), low.cwiseAbs().maxCoeff());
  const double shrink = largest > 0 ? kShrink / largest : 1.0;
  units.weights *= shrink;
  units.biases *= shrink;
  pool_hidden_ = Layer<Scalar>(units, settings_.enhancement_activation);
}

template <class Scalar>
std::pair<VectorD, VectorD> BroadUnits<Scalar>::range_of(const Layer<Scalar>& layer,
                                                         Team& team) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Index count = layer.units();
  MatrixD low = MatrixD::Constant(count, blocks_.lanes(), kInfinity), high = -low;
  blocks_.sweep(team, [&](Index lane, Index b, int worker) {
    const RowRange range = blocks_.block(b);
    Scratch<Scalar>& scratch = scratch_[static_cast<std::size_t>(worker)];
    scratch.pool.resize(range.count, count);
    if (pool_of_features_) {
      const InputBlock<Scalar> x = inputs_.load(range, scratch.inputs);
      layer.evaluate(x, range.count, scratch.pool.data(), range.count);
    } else {
      scratch.features.resize(range.count, feature_target_);
      evaluate_features(feature_layer_, range, scratch.features.data(), range.count, scratch);
      layer.evaluate({scratch.features.data(), range.count, blas::Op::none}, range.count,
                     scratch.pool.data(), range.count);
    }
    for (Index j = 0; j < count; ++j) {
      for (Index i = 0; i < range.count; ++i) {
        if (!has_weight(range[i])) continue;
        const double value = scratch.pool(i, j);
        low(j, lane) = std::min(low(j, lane), value);
        high(j, lane) = std::max(high(j, lane), value);
      }
    }
  });
  return {low.rowwise().minCoeff(), high.rowwise().maxCoeff()};
}

template <class Scalar>
void BroadUnits<Scalar>::select(const std::vector<Index>& candidates) {
  if (pool_of_features_) {
    selected_nodes_ = pick(*pool_nodes_, candidates);
    selected_layer_ = feature_layer(selected_nodes_);
  } else {
    selected_enhancement_ = residuum::pick(pool_enhancement_, candidates);
    selected_hidden_ = Layer<Scalar>(selected_enhancement_, settings_.enhancement_activation);
  }
}

template <class Scalar>
void BroadUnits<Scalar>::keep_selected() {
  if (!pool_of_features_) return enhancement_list_.append(selected_enhancement_);
  UnitList both;
  both.append(features_.units);
  both.append(selected_nodes_.units);
  features_.units = both.joined(inputs_.columns());
  extend(features_.gain, selected_nodes_.gain);
  extend(features_.shift, selected_nodes_.shift);
}

// Inputs of few dimensions run out of feature nodes early; enhancement nodes may still add something.
template <class Scalar>
bool BroadUnits<Scalar>::next_kind() {
  if (!pool_of_features_) return false;
  feature_target_ = features_.units.biases.size();
  return feature_target_ > 0;
}

template <class Scalar>
void BroadUnits<Scalar>::gather_kept() {
  feature_layer_ = feature_layer(features_);
  hidden_ = Layer<Scalar>(kept_enhancement(), settings_.enhancement_activation);
}

template <class Scalar>
Index BroadUnits<Scalar>::count(Units units) const {
  if (units == Units::kept) return feature_layer_.layer.units() + hidden_.units();
  const bool pool = units == Units::pool;
  if (pool_of_features_) return (pool ? pool_layer_ : selected_layer_).layer.units();
  return (pool ? pool_hidden_ : selected_hidden_).units();
}

template <class Scalar>
void BroadUnits<Scalar>::evaluate(Units units, RowRange range, Scalar* out, Index leading,
                                  double* square_norms, Scratch<Scalar>& scratch) const {
  const bool pool = units == Units::pool, kept = units == Units::kept;
  const bool features_only = !kept && pool_of_features_;
  if (features_only || kept) {
    const FeatureLayer& nodes = kept ? feature_layer_ : pool ? pool_layer_ : selected_layer_;
    evaluate_features(nodes, range, out, leading, scratch);
    if (features_only) {
      for (Index j = 0; square_norms && j < nodes.layer.units(); ++j) {
        square_norms[j] += Eigen::Map<const Vector<Scalar>>(out + j * leading, range.count)
                               .template cast<double>()
                               .squaredNorm();
      }
      return;
    }
    // The enhancement nodes read the feature nodes just written.
    hidden_.evaluate({out, leading, blas::Op::none}, range.count,
                     out + nodes.layer.units() * leading, leading);
    return;
  }
  Matrix<Scalar>& features = scratch.features;
  if (features.rows() != range.count || features.cols() != feature_target_) {
    features.resize(range.count, feature_target_);
  }
  evaluate_features(feature_layer_, range, features.data(), range.count, scratch);
  (pool ? pool_hidden_ : selected_hidden_)
      .evaluate({features.data(), range.count, blas::Op::none}, range.count, out, leading,
                square_norms, pool ? &scratch.profile : nullptr);
}

template <class Scalar>
typename BroadUnits<Scalar>::FeatureLayer BroadUnits<Scalar>::feature_layer(
    const FeatureNodes& nodes) const {
  return {input_layer(nodes.units, settings_.feature_activation),
          nodes.gain.template cast<Scalar>(), nodes.shift.template cast<Scalar>()};
}

template <class Scalar>
void BroadUnits<Scalar>::evaluate_features(const FeatureLayer& nodes, RowRange range, Scalar* out,
                                           Index leading, Scratch<Scalar>& scratch) const {
  const InputBlock<Scalar> x = inputs_.load(range, scratch.inputs);
  nodes.layer.evaluate(x, range.count, out, leading);
  for (Index j = 0; j < nodes.layer.units(); ++j) {
    Eigen::Map<Vector<Scalar>> column(out + j * leading, range.count);
    column.array() = nodes.gain[j] * column.array() + nodes.shift[j];
  }
}

template <class Scalar>
FeatureNodes BroadUnits<Scalar>::kept_features() const {
  return features_;
}

template class BroadUnits<float>;
template class BroadUnits<double>;

}  // namespace residuum
