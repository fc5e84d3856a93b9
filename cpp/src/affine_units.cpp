#include "residuum/affine_units.hpp"

namespace residuum {

template <class Scalar>
AffineUnits<Scalar>::AffineUnits(const Inputs<Scalar>& inputs, const WeightDraws& draws,
                                 Activation activation, const Budget& budget)
    : inputs_(inputs),
      draws_(draws),
      budget_(budget),
      pool_(activation),
      selected_(activation),
      kept_(activation) {}

template <class Scalar>
void AffineUnits<Scalar>::draw(Index stage, const StagePlan& plan, Team& team) {
  draws_.draw(Stream::hidden, stage, plan.pool, inputs_.columns(), team, *pool_units_);
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

template class AffineUnits<float>;
template class AffineUnits<double>;

}  // namespace residuum
