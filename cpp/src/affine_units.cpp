#include "stagenets/affine_units.hpp"

namespace stagenets {
namespace {

template <class Scalar>
std::optional<SharedValues> shared_values(const TrainingRows<Scalar>& rows) {
  if (!rows.blocks.reduction() || !rows.draws.look_at_rows()) return std::nullopt;
  return SharedValues(training_values(rows.inputs, rows.root_weights, rows.blocks, rows.team),
                      rows.blocks);
}

// Ranking rows takes a sort, which other units do not need.
template <class Scalar>
TrainingValues values_for(const TrainingRows<Scalar>& rows,
                          const std::optional<SharedValues>& shared) {
  if (!rows.draws.look_at_rows()) return {};
  return shared ? shared->known()
                : training_values(rows.inputs, rows.root_weights, rows.blocks, rows.team);
}

// Pools of float64 fits are evaluated in single precision first, if the copy of the inputs that this takes is small or no
// larger than Q, and all rows are here. The bounds of single precision are for rows, not for differences of two of them, and
// sparse rows are never copied.
template <class Scalar>
bool may_screen(const AffineArchitecture& architecture, const TrainingRows<Scalar>& rows) {
  if (std::is_same_v<Scalar, float> || rows.stages.one_shot() || rows.blocks.reduction() ||
      rows.pairs || rows.inputs.is_sparse()) {
    return false;
  }
  constexpr double kSmall = 48 << 20;
  const Index inputs = rows.inputs.columns();
  const double width =
      static_cast<double>(architecture.hidden + (architecture.direct_links ? inputs : 0));
  // Where only some rows are scored, a large copy of all would gain little.
  const bool some = rows.stages.score_fraction < 1 && rows.inputs.rows() > kManyRows;
  const double q = static_cast<double>(rows.inputs.rows()) * width * sizeof(Scalar);
  return RoughPool::bytes(rows.inputs.rows(), inputs) <= (some ? kSmall : std::max(kSmall, q));
}

}  // namespace

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
      shared_values_(shared_values(rows)),
      values_(values_for(rows, shared_values_)),
      draws_(rows.draws),
      stages_(rows.stages),
      blocks_(rows.blocks),
      root_weights_(rows.root_weights),
      screens_(may_screen(architecture, rows)),
      pool_(architecture.activation),
      selected_(architecture.activation),
      kept_(architecture.activation) {}

// Draws do not depend on the units kept, so the values of many stages are asked for at once.
template <class Scalar>
void AffineUnits<Scalar>::learn_values(Index stage, Index pool) {
  constexpr Index kUnitsAhead = 4096;
  if (pool == learnt_pool_ && stage < learnt_until_) return;
  learnt_pool_ = pool;
  learnt_until_ = stage + std::max<Index>(1, kUnitsAhead / std::max<Index>(1, pool));
  shared_values_->learn([&](const TrainingValues& values) {
    UnitWeights drawn;
    Team::run(1, nullptr, [&](Team& alone) {
      for (Index t = stage; t < learnt_until_; ++t) {
        draws_.draw(Stream::hidden, t, pool, inputs_.columns(), values, alone, drawn);
      }
    });
  });
}

template <class Scalar>
void AffineUnits<Scalar>::draw(Index stage, const StagePlan& plan, Team& team) {
  if (shared_values_) learn_values(stage, plan.pool);
  draws_.draw(Stream::hidden, stage, plan.pool, inputs_.columns(), values_, team, drawn_->units);
  if (!screens_) pool_.assign(drawn_->units, inputs_);
}

template <class Scalar>
const RoughPool* AffineUnits<Scalar>::rough_pool(Team& team) {
  if constexpr (std::is_same_v<Scalar, double>) {
    if (!screens_) return nullptr;
    std::unique_ptr<RoughPool>& rough = drawn_->rough;
    if (!rough) {
      rough = std::make_unique<RoughPool>(inputs_, root_weights_, blocks_, architecture_.activation,
                                          team);
    }
    if (rough->usable()) {
      rough->assign(drawn_->units);
      return rough.get();
    }
    screens_ = false;
    pool_.assign(drawn_->units, inputs_);
  }
  return nullptr;
}

template <class Scalar>
void AffineUnits<Scalar>::select(const std::vector<Index>& candidates) {
  selected_units_ = pick(drawn_->units, candidates);
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
