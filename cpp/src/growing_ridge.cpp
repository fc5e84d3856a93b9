#include "stagenets/growing_ridge.hpp"

#include <algorithm>
#include <stdexcept>

#include "stagenets/cholesky.hpp"
#include "stagenets/dual_factor.hpp"
#include "stagenets/row_loss.hpp"
#include "stagenets/sizes.hpp"
#include "stagenets/wide_factor.hpp"

namespace stagenets {
namespace {

constexpr double kWorstCondition = 1e6;  // of a dual or wide form, before the primal one is used

// Other losses than the squared one are minimised in the coordinates of a primal or wide factor.
bool by_squares(const StagewiseSettings& settings) { return settings.loss == Loss::squared; }

// The dual form needs all rows in one place.
Solver solver_for(const StagewiseSettings& settings, const RowBlocks& blocks) {
  const bool all_here = blocks.reduction() == nullptr;
  if (!by_squares(settings) || (settings.solver == Solver::automatic && !all_here)) {
    return Solver::primal;
  }
  return settings.solver;
}

double penalty_of(const StagewiseSettings& settings, Task task) {
  return by_squares(settings) ? settings.alpha : majorizing_penalty(task, settings.alpha);
}

// The number of candidates that the joint choice considers, however many units are still to be built: so the first
// units of a large network are those of a small one. The paper's score already ranks the good ones first, and
// considering more requires a wider pass over Q.
Index shortlist(Selection selection, Index block, Index wanted) {
  return selection == Selection::joint ? 6 + 2 * block : wanted;
}

// Chooses columns one after another, each time the best of those left: the one with the largest drop of
// the objective, ‖g_jᵀR‖² / S_jj, or simply the next one. This works on small matrices, which are downdated
// for every column chosen; a column whose pivot has fallen below the tolerance adds nothing.
Choice choose(const Projection& projection, Index wanted, Selection selection, double tolerance) {
  MatrixD schur = projection.schur, gain = projection.residual_gain;
  const Index count = schur.rows(), most = std::min(wanted, count);
  MatrixD columns(count, most), steps(most, gain.cols());
  std::vector<bool> taken(static_cast<std::size_t>(count), false);
  Choice choice;
  while (choice.size() < most) {
    Index best = -1;
    double best_drop = -1;
    for (Index j = 0; j < count; ++j) {
      if (taken[j] || !(schur(j, j) > tolerance * projection.penalized_norm[j])) continue;
      const double drop = gain.row(j).squaredNorm() / schur(j, j);
      if (drop > best_drop) {
        best = j;
        best_drop = drop;
      }
      if (selection != Selection::joint) break;
    }
    if (best < 0) break;
    const Index t = choice.size();
    const double pivot = schur(best, best), root = std::sqrt(pivot);
    choice.worst_pivot = std::min(choice.worst_pivot, pivot / projection.penalized_norm[best]);
    columns.col(t) = schur.col(best) / root;
    steps.row(t) = gain.row(best) / root;
    schur.noalias() -= columns.col(t) * columns.col(t).transpose();
    gain.noalias() -= columns.col(t) * steps.row(t);
    taken[best] = true;
    choice.columns.push_back(best);
  }
  const Index k = choice.size();
  choice.step = steps.topRows(k);
  choice.schur_factor = MatrixD::Zero(k, k);
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j <= i; ++j) choice.schur_factor(i, j) = columns(choice.columns[i], j);
  }
  return choice;
}

}  // namespace

template <class Scalar>
GrowingRidge<Scalar>::GrowingRidge(Design<Scalar>& design, const RowBlocks& blocks,
                                   const Targets& targets, const MatrixD& weighted_targets,
                                   const StagewiseSettings& settings, const Wanted& wanted,
                                   const Calibration* calibration, Team& team)
    : design_(design),
      team_(team),
      state_(blocks, weighted_targets, penalty_of(settings, targets.task()), wanted.leverages()),
      solver_(solver_for(settings, blocks)),
      selection_(settings.selection),
      block_(settings.largest_block(design.source().max_units())),
      primal_(true),
      width_(design.fixed()),
      calibration_(calibration) {
  if (wanted.left_out_path && by_squares(settings)) {
    state_.left_out.emplace(targets.values(), design.weights(), blocks);
  }
  const Index spare = shortlist(selection_, block_, 1) - 1;
  const bool wide =
      starts_wide(design.has_sparse_links(), design.fixed(), design.rows(), settings) &&
      !blocks.reduction() && try_wide(spare);
  if (wide) {
    start_ = factor_->readout(design, team);
    if (calibration_) calibration_start_ = state_.of_rows(calibration_->rows());
    return;
  }
  if (solver_ == Solver::dual) {
    change_to_dual();
  } else if (settings.alpha == 0) {
    solver_ = Solver::primal;  // without a penalty the dual form does not exist
  }
  if (!factor_ && !(solver_ == Solver::automatic && width_ >= design.rows() && try_dual())) {
    const Index units = design.source().max_units();
    const Index most = selection_ == Selection::random ? std::min(units, kMostTogether)
                                                       : shortlist(selection_, block_, block_);
    const FactorRoom room{units, most, spare, settings.store};
    std::unique_ptr<RowSpace<Scalar>> row_space;
    if (starts_in_row_space(settings.loss, design.fixed(), design.rows()) && !blocks.reduction()) {
      row_space = std::make_unique<RowSpace<Scalar>>(design, blocks, team);
    }
    factor_ =
        std::make_unique<RidgeFactor<Scalar>>(design, state_, room, std::move(row_space), team);
  }
  start_ = factor_->readout(design, team);
  if (calibration_) calibration_start_ = state_.of_rows(calibration_->rows());
}

template <class Scalar>
void GrowingRidge<Scalar>::change_to_dual() {
  design_.source().gather_kept();
  auto dual = std::make_unique<DualFactor<Scalar>>(design_, state_,
                                                   design_.source().count(Units::kept), team_);
  // The final readout can be refined, those on the way to it cannot; the primal form has no such trouble.
  if (solver_ == Solver::automatic && dual->condition() > kWorstCondition) {
    throw dual_form_is_singular();
  }
  if (factor_) {
    primal_directions_ = factor_->directions(design_, team_);
    if (calibration_) primal_columns_ = factor_->unit_columns(calibration_->rows());
  }
  dual->initialize(state_, team_);
  factor_ = std::move(dual);
  primal_ = false;
}

// The same for the wide form, with which a fit begins or not.
template <class Scalar>
bool GrowingRidge<Scalar>::try_wide(Index spare) {
  try {
    auto factor = std::make_unique<WideFactor<Scalar>>(design_, state_,
                                                       design_.source().max_units(), spare, team_);
    if (factor->condition() > kWorstCondition) throw dual_form_is_singular();
    factor->initialize(state_, team_);
    factor_ = std::move(factor);
    primal_ = false;
  } catch (const std::domain_error&) {
    if (solver_ == Solver::dual) throw;
  }
  return !primal_;
}

// A penalty below the rounding of AAᵀ leaves the dual form singular; then the primal form is used.
template <class Scalar>
bool GrowingRidge<Scalar>::try_dual() {
  try {
    change_to_dual();
  } catch (const std::domain_error&) {
    solver_ = Solver::primal;
  }
  return !primal_;
}

template <class Scalar>
Index GrowingRidge<Scalar>::considered(const StagePlan& plan) const {
  return shortlist(selection_, plan.block, plan.keep);
}

template <class Scalar>
typename GrowingRidge<Scalar>::Appended GrowingRidge<Scalar>::append_best(RankedPool& ranking,
                                                                          const StagePlan& plan) {
  const Index count = plan.keep;
  if (primal_ && solver_ == Solver::automatic && width_ + count > design_.rows()) try_dual();

  // Sums over rows have rounding errors even if there are few columns.
  constexpr Index kLeast = 16;
  const double rounding = static_cast<double>(std::max(kLeast, width_ + block_)) *
                          static_cast<double>(std::numeric_limits<Scalar>::epsilon());
  const double tolerance = selection_ == Selection::random ? 0 : rounding;
  CandidateSource<Scalar>& source = design_.source();
  std::vector<Index> candidates;
  const std::size_t wanted = static_cast<std::size_t>(considered(plan));
  std::size_t looked_at = 0;
  for (;;) {
    while (candidates.size() < wanted && ranking.reaches(looked_at)) {
      candidates.push_back(ranking.candidates[looked_at++]);
    }
    source.select(candidates);
    const Projection projection = factor_->project(design_, state_, team_);
    Choice choice = choose(projection, count, selection_, tolerance);
    std::vector<Index> chosen;
    std::vector<double> scores;
    for (const Index column : choice.columns) {
      chosen.push_back(candidates[column]);
      scores.push_back(projection.residual_gain.row(column).squaredNorm() /
                       projection.penalized_norm[column]);
    }
    if (choice.size() < count && ranking.reaches(looked_at)) {
      candidates = chosen;  // other candidates replace those that add nothing
      continue;
    }
    if (chosen.empty()) return {{}, {}, looked_at};

    if (const auto dependent = factor_->append(choice, projection, design_, state_, team_)) {
      candidates.erase(candidates.begin() + choice.columns[*dependent]);
      if (candidates.empty() && !ranking.reaches(looked_at)) return {{}, {}, looked_at};
      continue;
    }
    // ‖R‖² bounds the objective from below if rounding has eliminated the difference.
    state_.objective = std::max(state_.objective, state_.residual_energy);
    width_ += choice.size();
    steps_.push_back(choice.step);
    source.select(chosen);
    source.keep_selected();
    return {chosen, scores, looked_at};
  }
}

template <class Scalar>
MatrixD GrowingRidge<Scalar>::unrefined_readout() {
  design_.source().gather_kept();
  return factor_->readout(design_, team_);
}

template <class Scalar>
MatrixD GrowingRidge<Scalar>::readout(double& objective) {
  MatrixD omega = unrefined_readout();
  if (!ill_conditioned()) return omega;
  const auto refined_by = [&](Factor<Scalar>& factor) {
    constexpr int kSteps = std::is_same_v<Scalar, float> ? 1 : 4;
    return refine(design_, state_, omega, kSteps, team_,
                  [&](const MatrixD& gradient) { return factor.solve(gradient, design_, team_); });
  };
  double measured = refined_by(*factor_);
  if (!primal_ && !agree(measured, state_.objective, state_.targets)) {
    // Units that were computed beside others may differ in their last digits, which such a kernel shows: all at once.
    DualFactor<Scalar> anew(design_, state_, design_.source().count(Units::kept), team_);
    omega = anew.readout(design_, team_);
    measured = refined_by(anew);
    if (!agree(measured, state_.objective, state_.targets)) throw dual_form_is_singular();
  }
  objective = std::min(objective, measured);
  return omega;
}

// The dual form is all in double; of the primal one, Q is in the feature type.
template <class Scalar>
bool GrowingRidge<Scalar>::ill_conditioned() const {
  return primal_ ? needs_refinement<Scalar>(state_.worst_pivot)
                 : needs_refinement<double>(state_.worst_pivot);
}

// The steps of the dual form are differences in which digits cancel, and no refinement reaches them.
template <class Scalar>
void GrowingRidge<Scalar>::check_readout(const MatrixD& readout, double residual_energy) {
  constexpr double kTolerance = 1e-3;
  if (primal_ || !ill_conditioned()) return;
  MatrixD padded = MatrixD::Zero(width_, readout.cols());
  padded.topRows(readout.rows()) = readout;
  double energy = 0;
  design_.residual_gradient(padded, state_.targets, state_.blocks, energy, team_);
  if (!(energy <= residual_energy + kTolerance * state_.targets.squaredNorm())) {
    throw dual_form_is_singular();
  }
}

template <class Scalar>
MatrixD GrowingRidge<Scalar>::directions() {
  design_.source().gather_kept();
  return factor_->directions(design_, team_);
}

template <class Scalar>
ReadoutPath GrowingRidge<Scalar>::path() {
  MatrixD last_directions = directions();
  ReadoutPath path;
  path.column_per_unit = true;
  const Index units = primal_directions_.cols() + last_directions.cols();
  path.start = MatrixD::Zero(width_, state_.outputs());
  path.start.topRows(start_.rows()) = start_;
  if (primal_directions_.cols() == 0) {
    path.directions = std::move(last_directions);
  } else {
    path.directions = MatrixD::Zero(width_, units);
    path.directions.topLeftCorner(primal_directions_.rows(), primal_directions_.cols()) =
        primal_directions_;
    path.directions.rightCols(last_directions.cols()) = last_directions;
  }
  path.steps = all_steps();
  path.ends.push_back(0);
  for (const MatrixD& step : steps_) path.ends.push_back(path.ends.back() + step.rows());
  return path;
}

template <class Scalar>
MatrixD GrowingRidge<Scalar>::all_steps() const {
  Index units = 0;
  for (const MatrixD& step : steps_) units += step.rows();
  MatrixD all(units, state_.outputs());
  Index row = 0;
  for (const MatrixD& step : steps_) {
    all.middleRows(row, step.rows()) = step;
    row += step.rows();
  }
  return all;
}

template <class Scalar>
ReadoutPath GrowingRidge<Scalar>::path_through(const std::vector<Index>& units) {
  const Index outputs = state_.outputs(), stops = static_cast<Index>(units.size());
  if (!primal_ || outputs * stops > width_) return path();
  design_.source().gather_kept();
  const auto& factor = static_cast<const RidgeFactor<Scalar>&>(*factor_);
  return path_between(factor.readouts(units, design_, team_), outputs);
}

template <class Scalar>
std::optional<ReadoutPath> GrowingRidge<Scalar>::path_by(double alpha) {
  if (!primal_) throw std::logic_error("other penalties need the primal form");
  design_.source().gather_kept();
  return static_cast<const RidgeFactor<Scalar>&>(*factor_).path_by(alpha, design_, team_);
}

template <class Scalar>
std::vector<Link> GrowingRidge<Scalar>::links(const std::vector<Index>& units) const {
  const MatrixD last = factor_->unit_columns(calibration_->rows());
  MatrixD columns(last.rows(), primal_columns_.cols() + last.cols());
  if (primal_columns_.cols() > 0) columns.leftCols(primal_columns_.cols()) = primal_columns_;
  columns.rightCols(last.cols()) = last;
  return calibration_->links(calibration_start_, columns, all_steps(), units);
}

template class GrowingRidge<float>;
template class GrowingRidge<double>;

}  // namespace stagenets
