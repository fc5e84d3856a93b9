#include "stagenets/affine_units.hpp"

namespace stagenets {

std::unique_ptr<NetworkUnits<float>> AffineArchitecture::units(
    const TrainingRows<float>& rows) const {
  return std::make_unique<AffineUnits<float>>(*this, rows);
}

std::unique_ptr<NetworkUnits<double>> AffineArchitecture::units(
    const TrainingRows<double>& rows) const {
  return std::make_unique<AffineUnits<double>>(*this, rows);
}

template <class Scalar>
AffineUnits<Scalar>::AffineUnits(const AffineArchitecture& architecture,
                                 const TrainingRows<Scalar>& rows)
    : architecture_(architecture),
      inputs_(rows.inputs),
      values_(training_values(rows.inputs, rows.root_weights)),
      draws_(rows.draws),
      stages_(rows.stages),
      pool_(architecture.activation),
      selected_(architecture.activation),
      kept_(architecture.activation) {}

template <class Scalar>
void AffineUnits<Scalar>::draw(Index stage, const StagePlan& plan, Team& team) {
  draws_.draw(Stream::hidden, stage, plan.pool, inputs_.columns(), values_, team, *pool_units_);
  pool_.assign(*pool_units_, inputs_);
}

template <class Scalar>
void AffineUnits<Scalar>::select(const std::vector<Index>& candidates) {
  selected_units_ = pick(*pool_units_, candidates);
  selected_.assign(selected_units_, inputs_);
}

template <class Scalar>
void AffineUnits<Scalar>::evaluate(Units units, RowRange range, Scalar* out, Index leading,
                                   double* square_norms, Scratch<Scalar>& scratch) const {
  const InputBlock<Scalar> x = inputs_.load(range, scratch.inputs);
  layer(units).evaluate(x, range.count, out, leading, square_norms,
                        units == Units::pool ? &scratch.profile : nullptr);
}

template <class Scalar>
Network AffineUnits<Scalar>::network(Index count) const {
  UnitWeights hidden = inputs_.for_raw_inputs(first_units(kept_units(), count));
  return {{{std::move(hidden), architecture_.activation, {}, {}}}, architecture_.direct_links};
}

template class AffineUnits<float>;
template class AffineUnits<double>;

}  // namespace stagenets
