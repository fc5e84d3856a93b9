#include "residuum/growing_ridge.hpp"

#include <algorithm>
#include <stdexcept>

#include "residuum/cholesky.hpp"
#include "residuum/dual_factor.hpp"
#include "residuum/ridge_factor.hpp"

namespace residuum {
namespace {

// How many candidates the joint choice looks at, whatever is left of the budget: so the first units of a
// large network are those of a small one. The paper's score already puts the good ones in front; looking at
// more costs a wider pass over Q.
Index shortlist(Selection selection, Index block, Index take) {
  return selection == Selection::joint ? std::max<Index>(16, 2 * block) : take;
}

// Takes columns one after another, each time the best of those left: the one with the largest drop of
// the objective, ‖g_jᵀR‖² / S_jj, or simply the next one. All on small matrices, which are downdated by
// every column taken; a column whose pivot has fallen below the tolerance adds nothing.
Choice choose(const Projection& projection, Index take, Selection selection, double tolerance) {
  MatrixD schur = projection.schur, gain = projection.residual_gain;
  const Index count = schur.rows(), most = std::min(take, count);
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
      if (selection == Selection::residual) break;
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
                                   const MatrixD& targets, const MatrixD& weighted_targets,
                                   const StagewiseSettings& settings, Team& team)
    : design_(design),
      team_(team),
      state_(blocks, weighted_targets, settings.alpha,
             settings.leave_one_out || settings.loo_scores),
      solver_(settings.solver),
      selection_(settings.selection),
      block_(settings.block),
      primal_(true),
      width_(design.fixed()) {
  if (settings.leave_one_out) state_.left_out.emplace(targets, design.root_weights());
  if (solver_ == Solver::dual) {
    change_to_dual();
  } else if (settings.alpha == 0) {
    solver_ = Solver::primal;  // without a penalty the dual form does not exist
  }
  if (factor_ || (solver_ == Solver::automatic && width_ >= design.rows() && try_dual())) {
    static_cast<DualFactor<Scalar>&>(*factor_).initialize(state_);
  } else {
    const Index spare = shortlist(selection_, block_, 1) - 1;
    factor_ =
        std::make_unique<RidgeFactor<Scalar>>(design, state_, settings.max_units, spare, team);
  }
  start_ = factor_->readout(design, team);
}

template <class Scalar>
void GrowingRidge<Scalar>::change_to_dual() {
  design_.source().gather_kept();
  auto dual = std::make_unique<DualFactor<Scalar>>(design_, state_,
                                                   design_.source().count(Units::kept), team_);
  if (factor_) primal_directions_ = factor_->directions(design_, team_);
  factor_ = std::move(dual);
  primal_ = false;
}

// A penalty below the rounding of AAᵀ leaves the dual form singular; then the primal one must do.
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
std::vector<Index> GrowingRidge<Scalar>::append(const std::vector<Index>& ranking, Index take) {
  if (primal_ && solver_ == Solver::automatic && width_ + take > design_.rows()) try_dual();

  // Sums over rows round a little even where there are few columns.
  constexpr Index kLeast = 16;
  const double tolerance = static_cast<double>(std::max(kLeast, width_ + block_)) *
                           static_cast<double>(std::numeric_limits<Scalar>::epsilon());
  CandidateSource<Scalar>& source = design_.source();
  std::vector<Index> candidates;
  auto next = ranking.begin();
  for (;;) {
    const std::size_t wanted = static_cast<std::size_t>(shortlist(selection_, block_, take));
    while (candidates.size() < wanted && next != ranking.end()) candidates.push_back(*next++);
    source.select(candidates);
    const Projection projection = factor_->project(design_, state_, team_);
    Choice choice = choose(projection, take, selection_, tolerance);
    std::vector<Index> taken;
    for (const Index column : choice.columns) taken.push_back(candidates[column]);
    if (choice.size() < take && next != ranking.end()) {
      candidates = taken;  // others take the place of those that add nothing
      continue;
    }
    if (taken.empty()) return taken;

    factor_->append(choice, projection, design_, state_, team_);
    // ‖R‖² bounds the objective from below, where rounding has eaten the difference.
    const double lowered =
        std::max(state_.objective - choice.step.squaredNorm(), state_.residual_energy);
    state_.objective = std::min(state_.objective, lowered);
    width_ += choice.size();
    steps_.push_back(choice.step);
    source.select(taken);
    source.keep_selected();
    return taken;
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
  // The dual form is all in double; of the primal one, Q is in the feature type.
  const bool refined = primal_ ? needs_refinement<Scalar>(state_.worst_pivot)
                               : needs_refinement<double>(state_.worst_pivot);
  if (refined) {
    constexpr int kSteps = std::is_same_v<Scalar, float> ? 1 : 4;
    objective = std::min(
        objective, refine(design_, state_, omega, kSteps, team_, [&](const MatrixD& gradient) {
          return factor_->solve(gradient, design_, team_);
        }));
  }
  return omega;
}

template <class Scalar>
ReadoutPath GrowingRidge<Scalar>::path() {
  design_.source().gather_kept();
  MatrixD last_directions = factor_->directions(design_, team_);
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
  path.steps = MatrixD(units, state_.outputs());
  Index row = 0;
  path.ends.push_back(0);
  for (const MatrixD& step : steps_) {
    path.steps.middleRows(row, step.rows()) = step;
    path.ends.push_back(row += step.rows());
  }
  return path;
}

template <class Scalar>
ReadoutPath GrowingRidge<Scalar>::path_through(const std::vector<Index>& units) {
  const Index outputs = state_.outputs(), stops = static_cast<Index>(units.size());
  if (!primal_ || outputs * stops > width_) return path();
  design_.source().gather_kept();
  const auto& factor = static_cast<const RidgeFactor<Scalar>&>(*factor_);
  return path_between(factor.readouts(units, design_), outputs);
}

template class GrowingRidge<float>;
template class GrowingRidge<double>;

}  // namespace residuum
