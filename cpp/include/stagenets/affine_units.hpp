// RVFL and ELM: hidden units g = φ(U w + β) with (w, β) ~ P. An RVFL also links the inputs to the readout.
#pragma once

#include <optional>

#include "stagenets/architecture.hpp"
#include "stagenets/rough_pool.hpp"

namespace stagenets {

struct AffineArchitecture final : Architecture {
  AffineArchitecture(Index hidden_units, Activation phi, bool with_direct_links)
      : hidden(hidden_units), activation(phi), direct_links(with_direct_links) {}

  Index size() const override { return hidden; }
  std::shared_ptr<const Architecture> with_size(Index units) const override {
    return std::make_shared<AffineArchitecture>(units, activation, direct_links);
  }
  Index max_units() const override { return hidden; }
  bool links_inputs() const override { return direct_links; }
  bool one_shots_are_nested() const override { return true; }
  std::unique_ptr<NetworkUnits<float>> units(const TrainingRows<float>& rows) const override;
  std::unique_ptr<NetworkUnits<double>> units(const TrainingRows<double>& rows) const override;

  Index hidden;
  Activation activation;
  bool direct_links;
};

template <class Scalar>
class AffineUnits final : public NetworkUnits<Scalar> {
 public:
  AffineUnits(const AffineArchitecture& architecture, const TrainingRows<Scalar>& rows);

  Index max_units() const override { return architecture_.hidden; }
  StagePlan plan() const override {
    const Index kept = kept_list_.count();
    return plan_stage(stages_, architecture_.hidden - kept, kept);
  }
  void draw(Index stage, const StagePlan& plan, Team& team) override;
  void share_draws_with(const CandidateSource<Scalar>& other) override {
    drawn_ = static_cast<const AffineUnits&>(other).drawn_;
  }
  bool pool_is_common() const override { return true; }
  void select(const std::vector<Index>& candidates) override;
  void keep_selected() override { kept_list_.append(selected_units_); }
  void gather_kept() override {
    if (kept_.units() < kept_list_.count()) kept_.assign(kept_units(), inputs_);
  }
  Index count(Units units) const override {
    return units == Units::pool ? drawn_->units.count() : layer(units).units();
  }
  const RoughPool* rough_pool(Team& team) override;
  void evaluate(Units units, RowRange range, Scalar* out, Index leading, double* square_norms,
                Scratch<Scalar>& scratch) const override;
  Network network(Index count) const override;

 private:
  void learn_values(Index stage, Index pool);
  UnitWeights kept_units() const { return kept_list_.joined(inputs_.columns()); }
  const Layer<Scalar>& layer(Units units) const {
    return units == Units::pool ? pool_ : units == Units::selected ? selected_ : kept_;
  }

  AffineArchitecture architecture_;
  const Inputs<Scalar>& inputs_;
  std::optional<SharedValues> shared_values_;  // if other processes hold rows that units look at
  Index learnt_pool_ = 0, learnt_until_ = 0;   // values for pools of this size, before this stage
  const TrainingValues values_;                // if units look at them
  const WeightDraws& draws_;
  const StagewiseSettings& stages_;
  const RowBlocks& blocks_;
  const double* root_weights_;
  bool screens_;  // whether pools are first evaluated in single precision, and pool_ is not needed
  struct DrawnPool {
    UnitWeights units;
    std::unique_ptr<RoughPool> rough;  // made when first needed
  };
  std::shared_ptr<DrawnPool> drawn_ = std::make_shared<DrawnPool>();
  UnitWeights selected_units_;
  UnitList kept_list_;
  Layer<Scalar> pool_, selected_, kept_;
};

}  // namespace stagenets
