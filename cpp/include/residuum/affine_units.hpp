// Candidates of RVFL and ELM: g = φ(U w + β) with (w, β) ~ P.
#pragma once

#include <memory>

#include "residuum/candidates.hpp"
#include "residuum/layer.hpp"
#include "residuum/weight_draws.hpp"

namespace residuum {

template <class Scalar>
class AffineUnits final : public CandidateSource<Scalar> {
 public:
  AffineUnits(const Inputs<Scalar>& inputs, const WeightDraws& draws, Activation activation,
              const Budget& budget);

  StagePlan plan() const override { return budget_.next(kept_list_.count()); }
  void draw(Index stage, const StagePlan& plan, Team& team) override;
  void share_draws_with(const CandidateSource<Scalar>& other) override {
    pool_units_ = static_cast<const AffineUnits&>(other).pool_units_;
  }
  bool pool_is_common() const override { return true; }
  void select(const std::vector<Index>& candidates) override;
  void keep_selected() override { kept_list_.append(selected_units_); }
  void gather_kept() override {
    if (kept_.units() < kept_list_.count()) kept_.assign(kept_units(), inputs_);
  }
  Index count(Units units) const override { return layer(units).units(); }
  void evaluate(Units units, RowRange range, Scalar* out, Index leading, double* square_norms,
                Scratch<Scalar>& scratch) const override;

  // The units kept, in terms of the standardised inputs.
  UnitWeights kept_units() const { return kept_list_.joined(inputs_.columns()); }

 private:
  const Layer<Scalar>& layer(Units units) const {
    return units == Units::pool ? pool_ : units == Units::selected ? selected_ : kept_;
  }

  const Inputs<Scalar>& inputs_;
  WeightDraws draws_;
  Budget budget_;
  std::shared_ptr<UnitWeights> pool_units_ = std::make_shared<UnitWeights>();
  UnitWeights selected_units_;
  UnitList kept_list_;
  Layer<Scalar> pool_, selected_, kept_;
};

}  // namespace residuum
