#include "stagenets/broad_units.hpp"

#include <Eigen/QR>
#include <cmath>
#include <limits>

#include "stagenets/cholesky.hpp"
#include "stagenets/cholesky_qr.hpp"
#include "stagenets/gram.hpp"
#include "stagenets/kernels.hpp"

namespace stagenets {
namespace {

// Constants of the reference system.
constexpr double kBiasInput = 0.1;  // value of the constant input of a node
constexpr double kShrink = 0.8;     // the largest argument of an enhancement node
constexpr double kSparsity = 1e-3;  // penalty of the sparse autoencoder
constexpr int kAdmmIterations = 50;

// gain·v + shift maps [low, high] to [-1, 1]; a constant is mapped to zero. So is what varies by less than the smallest
// float: its gain would be infinite, for a double at 1e-308 and for a float at once.
void scale_to_unit_range(const VectorD& low, const VectorD& high, VectorD& gain, VectorD& shift) {
  constexpr double kLeastWidth = std::numeric_limits<float>::min();
  gain =
      (high - low).unaryExpr([](double width) { return width > kLeastWidth ? 2.0 / width : 0.0; });
  shift = -(gain.array() * 0.5 * (high + low).array());
}

using blas::Op;

// (A + I)⁻¹ of a positive semidefinite A. If the inputs hardly vary, A may consist of rounding errors larger than I;
// then as large a multiple of I is added as the factorisation needs.
MatrixD inverse_beside_identity(const MatrixD& a, Team& team) {
  const Index m = a.rows();
  const double bound = static_cast<double>(m) * a.cwiseAbs().maxCoeff();  // on the eigenvalues
  MatrixD l = a;
  l.diagonal().array() += 1;
  bool sound = cholesky(l, team);
  for (double more = 1e-15 * bound; !sound && more <= 100 * bound; more *= 100) {
    l = a;
    l.diagonal().array() += 1 + more;
    sound = cholesky(l, team);
  }
  MatrixD inverse = MatrixD::Identity(m, m);
  solve_lower(l, inverse, team);
  solve_lower_transposed(l, inverse, team);
  return inverse;
}

// min ‖A X − H‖² + penalty |X|₁ by ADMM, from AᵀA and AᵀH. The columns of X are independent of each other.
MatrixD sparse_code(const MatrixD& a_gram, const MatrixD& a_targets, Team& team) {
  constexpr Index kTogether = 32;
  const MatrixD inverse = inverse_beside_identity(a_gram, team);
  MatrixD code(a_targets.rows(), a_targets.cols());
  for_each_run(team, code.cols(), kTogether, [&](Index first, Index count, int worker) {
    MatrixD constant(code.rows(), count), dense(code.rows(), count), difference;
    blas::gemm(Op::none, Op::none, 1, inverse, a_targets.middleCols(first, count), 0, constant);
    MatrixD sparse = MatrixD::Zero(code.rows(), count), dual = sparse;
    for (int iteration = 0; iteration < kAdmmIterations; ++iteration) {
      team.poll(worker);
      difference = sparse - dual;
      dense = constant;
      blas::gemm(Op::none, Op::none, 1, inverse, difference, 1, dense);
      sparse = (dense + dual).unaryExpr([](double v) {
        return std::copysign(std::max(std::abs(v) - kSparsity, 0.0), v);
      });
      dual += dense - sparse;
    }
    code.middleCols(first, count) = sparse;
  });
  return code;
}

// Orthonormal columns with the same span as those of v (tall), by QR with a positive diagonal.
MatrixD orthonormal_columns(const MatrixD& v, Team& team) {
  constexpr double kLeastPivot = 1e-7;  // for columns closer to dependence, Householder is used
  MatrixD rows = v.transpose();
  if (orthonormalize_rows(rows, kLeastPivot, team)) return rows.transpose();
  const Eigen::HouseholderQR<MatrixD> qr(v);
  MatrixD q = qr.householderQ() * MatrixD::Identity(v.rows(), v.cols());
  for (Index j = 0; j < v.cols(); ++j) {
    if (qr.matrixQR()(j, j) < 0) q.col(j) = -q.col(j);
  }
  return q;
}

FeatureNodes pick(const FeatureNodes& nodes, const std::vector<Index>& columns) {
  FeatureNodes picked{stagenets::pick(nodes.units, columns), VectorD(columns.size()),
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

std::unique_ptr<NetworkUnits<float>> BroadArchitecture::units(
    const TrainingRows<float>& rows) const {
  return std::make_unique<BroadUnits<float>>(*this, rows);
}

std::unique_ptr<NetworkUnits<double>> BroadArchitecture::units(
    const TrainingRows<double>& rows) const {
  return std::make_unique<BroadUnits<double>>(*this, rows);
}

double BroadArchitecture::draw_bytes(Index inputs, const StagewiseSettings& stages) const {
  const double features = static_cast<double>(stages.one_shot() ? window_nodes : stages.pool);
  const double others = static_cast<double>(enhancement == 0    ? 0
                                            : stages.one_shot() ? enhancement
                                                                : stages.pool);
  // Weights of either kind, and the Gram matrix of the autoencoder's maps.
  return 8 * (features * static_cast<double>(inputs + 1) +
              others * (static_cast<double>(feature_nodes()) + 1) +
              (sparse_features ? features * features : 0.0));
}

template <class Scalar>
BroadUnits<Scalar>::BroadUnits(const BroadArchitecture& architecture,
                               const TrainingRows<Scalar>& rows)
    : architecture_(architecture),
      inputs_(rows.inputs),
      draws_(rows.draws),
      stages_(rows.stages),
      blocks_(rows.blocks),
      root_weights_(rows.root_weights),
      feature_target_(architecture.feature_nodes()),
      scratch_(static_cast<std::size_t>(rows.team.size())) {
  features_.units.weights.resize(inputs_.columns(), 0);
  if (!architecture.sparse_features) return;
  if (inputs_.is_sparse()) {
    sparse_links_.emplace(inputs_, true, root_weights_);
    return;
  }
  const Index p = inputs_.columns();
  input_gram_ = gram(blocks_, p + 1, rows.team, [&](RowRange range, MatrixMap<double> rows, int) {
    inputs_.copy_columns(range, 0, p, rows.data(), rows.outerStride());
    rows.col(p).setOnes();
    if (!root_weights_) return;
    const Eigen::Map<const VectorD> roots(root_weights_ + range.first, range.count);
    rows.array().colwise() *= roots.array();
  });
  input_gram_.template triangularView<Eigen::StrictlyUpper>() = input_gram_.transpose();
}

template <class Scalar>
StagePlan BroadUnits<Scalar>::plan() const {
  if (!in_features()) {
    const Index kept = enhancement_list_.count();
    return plan_stage(stages_, architecture_.enhancement - kept, kept);
  }
  const Index in_window = features_.count() % architecture_.window_nodes;
  return plan_stage(stages_, architecture_.window_nodes - in_window, features_.count());
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
  draws_.draw(Stream::hidden, stage, count, inputs_.columns(), {}, team, pool_nodes_->units);
  if (architecture_.sparse_features) refine_sparsely(pool_nodes_->units, team);
  const auto [low, high] =
      range_of(input_layer(pool_nodes_->units, architecture_.feature_activation), team);
  scale_to_unit_range(low, high, pool_nodes_->gain, pool_nodes_->shift);
  pool_layer_ = feature_layer(*pool_nodes_);
}

template <class Scalar>
MatrixD BroadUnits<Scalar>::gram_times(const MatrixD& maps, Team& team) const {
  const Index p = inputs_.columns(), count = maps.cols();
  MatrixD image(p + 1, count);
  if (!sparse_links_) {
    multiply(Op::none, Op::none, 1, input_gram_, maps, 0, image, team);
    return image;
  }
  MatrixD ones_first(p + 1, count), mapped(inputs_.rows(), count);
  ones_first << maps.bottomRows(1), maps.topRows(p);
  blocks_.sweep(team, [&](Index, Index b, int) {
    const RowRange range = blocks_.block(b);
    sparse_links_->times(range, ones_first, mapped.middleRows(range.first, range.count));
  });
  ones_first = sparse_links_->transposed_times(mapped, team);
  image << ones_first.bottomRows(p), ones_first.topRows(1);
  return image;
}

// The autoencoder: random maps of the inputs, scaled to [-1, 1], encode the inputs sparsely; the
// transposed code is the node's map.
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
  const MatrixD image = gram_times(maps, team);
  MatrixD maps_gram(count, count);
  multiply(Op::transpose, Op::none, 1, maps, image, 0, maps_gram, team);
  MatrixD targets = image.transpose();
  targets.col(p) *= kBiasInput;
  const MatrixD code = sparse_code(maps_gram, targets, team);
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
  draws_.draw(Stream::enhancement, stage, count, nodes, {}, team, units);
  v.resize(nodes + 1, count);
  v.topRows(nodes) = units.weights;
  v.row(nodes) = units.biases.transpose();
  // Each column depends only on those before it: the first of many columns are few columns.
  for (Index first = 0; first < count; first += nodes + 1) {
    const Index some = std::min(nodes + 1, count - first);
    v.middleCols(first, some) = orthonormal_columns(v.middleCols(first, some), team);
  }
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
  VectorD largest = high.cwiseAbs().cwiseMax(low.cwiseAbs());
  // In one shot each node counts by itself, so that a network of a few nodes is the beginning of a larger one.
  if (!stages_.one_shot()) largest.setConstant(largest.maxCoeff());
  const VectorD shrink = largest.unaryExpr([](double v) { return v > 0 ? kShrink / v : 1.0; });
  units.weights *= shrink.asDiagonal();
  units.biases.array() *= shrink.array();
  pool_hidden_ = Layer<Scalar>(units, architecture_.enhancement_activation);
}

template <class Scalar>
std::pair<VectorD, VectorD> BroadUnits<Scalar>::range_of(const Layer<Scalar>& layer,
                                                         Team& team) const {
  const Index count = layer.units();
  RowTotals all = blocks_.totals(team, 0, count, [&](const LaneTotals& lane, Index b, int worker) {
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
      const auto column = scratch.pool.col(j);
      if (!root_weights_) {
        lane.least[j] = std::min(lane.least[j], static_cast<double>(column.minCoeff()));
        lane.greatest[j] = std::max(lane.greatest[j], static_cast<double>(column.maxCoeff()));
        continue;
      }
      for (Index i = 0; i < range.count; ++i) {
        if (!has_weight(range[i])) continue;
        lane.least[j] = std::min(lane.least[j], static_cast<double>(column[i]));
        lane.greatest[j] = std::max(lane.greatest[j], static_cast<double>(column[i]));
      }
    }
  });
  return {std::move(all.least), std::move(all.greatest)};
}

template <class Scalar>
void BroadUnits<Scalar>::select(const std::vector<Index>& candidates) {
  if (pool_of_features_) {
    selected_nodes_ = pick(*pool_nodes_, candidates);
    selected_layer_ = feature_layer(selected_nodes_);
  } else {
    selected_enhancement_ = stagenets::pick(pool_enhancement_, candidates);
    selected_hidden_ = Layer<Scalar>(selected_enhancement_, architecture_.enhancement_activation);
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

// With few inputs, feature nodes are exhausted early; enhancement nodes may still add something.
template <class Scalar>
bool BroadUnits<Scalar>::go_to_next_kind() {
  if (!pool_of_features_) return false;
  feature_target_ = features_.count();
  return feature_target_ > 0;
}

template <class Scalar>
void BroadUnits<Scalar>::gather_kept() {
  feature_layer_ = feature_layer(features_);
  hidden_ = Layer<Scalar>(kept_enhancement(), architecture_.enhancement_activation);
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
  return {input_layer(nodes.units, architecture_.feature_activation),
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

// A fit that went back to an earlier stage keeps the first nodes; those may all be feature nodes.
template <class Scalar>
Network BroadUnits<Scalar>::network(Index count) const {
  const Index features = std::min(count, features_.count());
  UnitWeights enhancement = first_units(kept_enhancement(), count - features);
  enhancement.weights.conservativeResize(features, Eigen::NoChange);
  NetworkLayer nodes{inputs_.for_raw_inputs(first_units(features_.units, features)),
                     architecture_.feature_activation, features_.gain.head(features),
                     features_.shift.head(features)};
  return {
      {std::move(nodes), {std::move(enhancement), architecture_.enhancement_activation, {}, {}}},
      false};
}

template class BroadUnits<float>;
template class BroadUnits<double>;

}  // namespace stagenets
