// Candidates of the broad learning system (Chen and Liu, 2018). First feature nodes, window by
// window: linear or squashed maps of the inputs, by default refined by a sparse autoencoder that all
// candidates of a pool go through together, each node scaled to [-1, 1] over the training rows. Then
// enhancement nodes ξ(s [Z 0.1] V) on the feature nodes Z kept, with V orthonormal and s shrinking
// the largest argument to 0.8.
#pragma once

#include <memory>

#include "residuum/candidates.hpp"
#include "residuum/layer.hpp"
#include "residuum/weight_draws.hpp"

namespace residuum {

struct BroadSettings {
  Index windows = 10;
  Index window_nodes = 10;
  Index enhancement = 100;
  Activation feature_activation = Activation::identity;
  Activation enhancement_activation = Activation::tanh;
  bool sparse_features = true;
  Index pool = 100;
  Index block = 1;
  bool one_shot = false;
};

// Nodes gain·φ(x·w + β) + shift.
struct FeatureNodes {
  UnitWeights units;
  VectorD gain, shift;
};

template <class Scalar>
class BroadUnits final : public CandidateSource<Scalar> {
 public:
  BroadUnits(const Inputs<Scalar>& inputs, const WeightDraws& draws, const BroadSettings& settings,
             const RowBlocks& blocks, const double* root_weights, int workers, Team& team);

  StagePlan plan() const override;
  void draw(Index stage, const StagePlan& plan, Team& team) override;
  // Feature nodes are drawn from the inputs. Enhancement nodes look at the feature nodes kept; only their
  // directions are common.
  void share_draws_with(const CandidateSource<Scalar>& other) override {
    pool_nodes_ = static_cast<const BroadUnits&>(other).pool_nodes_;
    directions_ = static_cast<const BroadUnits&>(other).directions_;
  }
  bool pool_is_common() const override { return in_features(); }
  void select(const std::vector<Index>& candidates) override;
  void keep_selected() override;
  bool next_kind() override;
  void gather_kept() override;
  Index count(Units units) const override;
  Index features() const override { return features_.units.biases.size(); }
  void evaluate(Units units, RowRange range, Scalar* out, Index leading, double* square_norms,
                Scratch<Scalar>& scratch) const override;

  FeatureNodes kept_features() const;  // in terms of the standardised inputs
  UnitWeights kept_enhancement() const {
    return enhancement_list_.joined(features_.units.biases.size());
  }

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

  bool in_features() const { return features_.units.biases.size() < feature_target_; }
  FeatureLayer feature_layer(const FeatureNodes& nodes) const;
  void evaluate_features(const FeatureLayer& nodes, RowRange range, Scalar* out, Index leading,
                         Scratch<Scalar>& scratch) const;
  void draw_features(Index stage, Index count, Team& team);
  void draw_enhancement(Index stage, Index count, Team& team);
  void refine_sparsely(UnitWeights& units, Team& team) const;
  // Least and greatest activation of each unit over the rows that have weight.
  std::pair<VectorD, VectorD> range_of(const Layer<Scalar>& layer, Team& team) const;
  Layer<Scalar> input_layer(const UnitWeights& units, Activation phi) const {
    return Layer<Scalar>(units, inputs_, phi);
  }
  bool has_weight(Index row) const { return !root_weights_ || root_weights_[row] > 0; }

  const Inputs<Scalar>& inputs_;
  WeightDraws draws_;
  BroadSettings settings_;
  const RowBlocks& blocks_;
  const double* root_weights_;
  Index feature_target_;
  MatrixD input_gram_;  // Gram matrix of [U 1]
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

}  // namespace residuum
