// Candidates of the broad learning system (Chen and Liu, 2018). First feature nodes, window by
// window: linear or squashed maps of the inputs, by default refined by a sparse autoencoder for all
// candidates of a pool together, each node scaled to [-1, 1] over the training rows. Then enhancement
// nodes ξ(s [Z 0.1] V) of the feature nodes Z kept, where the columns of V are orthonormal (or groups of them are, if
// there are more columns than rows) and s scales the largest argument of a pool to 0.8, in one shot that of each node.
#pragma once

#include <optional>

#include "stagenets/architecture.hpp"
#include "stagenets/feature_nodes.hpp"
#include "stagenets/layer.hpp"
#include "stagenets/sizes.hpp"
#include "stagenets/sparse_links.hpp"

namespace stagenets {

struct BroadArchitecture final : Architecture {
  Index size() const override { return enhancement; }
  std::shared_ptr<const Architecture> with_size(Index nodes) const override {
    auto other = std::make_shared<BroadArchitecture>(*this);
    other->enhancement = nodes;
    return other;
  }
  Index feature_nodes() const { return limited_product(windows, window_nodes); }
  Index max_units() const override { return limited_sum(feature_nodes(), enhancement); }
  bool links_inputs() const override { return false; }
  bool one_shots_are_nested() const override { return true; }
  double draw_bytes(Index inputs, const StagewiseSettings& stages) const override;
  std::unique_ptr<NetworkUnits<float>> units(const TrainingRows<float>& rows) const override;
  std::unique_ptr<NetworkUnits<double>> units(const TrainingRows<double>& rows) const override;

  Index windows = 10;
  Index window_nodes = 10;
  Index enhancement = 100;
  Activation feature_activation = Activation::identity;
  Activation enhancement_activation = Activation::tanh;
  bool sparse_features = true;
};

template <class Scalar>
class BroadUnits final : public NetworkUnits<Scalar> {
 public:
  BroadUnits(const BroadArchitecture& architecture, const TrainingRows<Scalar>& rows);

  Index max_units() const override { return architecture_.max_units(); }
  StagePlan plan() const override;
  void draw(Index stage, const StagePlan& plan, Team& team) override;
  // Pools of feature nodes depend only on the inputs. Enhancement nodes read the feature nodes kept; only their
  // directions are shared.
  void share_draws_with(const CandidateSource<Scalar>& other) override {
    pool_nodes_ = static_cast<const BroadUnits&>(other).pool_nodes_;
    directions_ = static_cast<const BroadUnits&>(other).directions_;
  }
  bool pool_is_common() const override { return in_features(); }
  void select(const std::vector<Index>& candidates) override;
  void keep_selected() override;
  bool go_to_next_kind() override;
  void gather_kept() override;
  Index count(Units units) const override;
  Index features() const override { return features_.count(); }
  void evaluate(Units units, RowRange range, Scalar* out, Index leading, double* square_norms,
                Scratch<Scalar>& scratch) const override;

  Network network(Index count) const override;

 private:
  // Feature nodes ready for evaluation.
  struct FeatureLayer {
    Layer<Scalar> layer;
    Vector<Scalar> gain, shift;
  };

  // Orthonormal V of an enhancement pool, weights above biases.
  struct Directions {
    Index stage = -1;
    MatrixD v;
  };
  const MatrixD& draw_directions(Index stage, Index count, Team& team);

  UnitWeights kept_enhancement() const { return enhancement_list_.joined(features_.count()); }
  bool in_features() const { return features_.count() < feature_target_; }
  FeatureLayer feature_layer(const FeatureNodes& nodes) const;
  void evaluate_features(const FeatureLayer& nodes, RowRange range, Scalar* out, Index leading,
                         Scratch<Scalar>& scratch) const;
  void draw_features(Index stage, Index count, Team& team);
  void draw_enhancement(Index stage, Index count, Team& team);
  void refine_sparsely(UnitWeights& units, Team& team) const;
  // The Gram matrix of [U 1], times `maps`.
  MatrixD gram_times(const MatrixD& maps, Team& team) const;
  // Minimum and maximum activation of each unit over the rows with nonzero weight.
  std::pair<VectorD, VectorD> range_of(const Layer<Scalar>& layer, Team& team) const;
  Layer<Scalar> input_layer(const UnitWeights& units, Activation phi) const {
    return Layer<Scalar>(units, inputs_, phi);
  }
  bool has_weight(Index row) const { return !root_weights_ || root_weights_[row] > 0; }

  BroadArchitecture architecture_;
  const Inputs<Scalar>& inputs_;
  const WeightDraws& draws_;
  const StagewiseSettings& stages_;
  const RowBlocks& blocks_;
  const double* root_weights_;
  Index feature_target_;
  MatrixD input_gram_;                               // Gram matrix of [U 1]
  std::optional<SparseLinks<Scalar>> sparse_links_;  // in place of that, [1 U] of sparse inputs
  mutable std::vector<Scratch<Scalar>> scratch_;

  bool pool_of_features_ = true;
  std::shared_ptr<FeatureNodes> pool_nodes_ = std::make_shared<FeatureNodes>();
  std::shared_ptr<Directions> directions_ = std::make_shared<Directions>();
  FeatureNodes selected_nodes_, features_;
  UnitWeights pool_enhancement_, selected_enhancement_;
  UnitList enhancement_list_;
  FeatureLayer pool_layer_, selected_layer_, feature_layer_;
  Layer<Scalar> pool_hidden_, selected_hidden_, hidden_;
};

}  // namespace stagenets
