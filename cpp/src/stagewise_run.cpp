#include "stagenets/stagewise_run.hpp"

#include <limits>

namespace stagenets {
namespace {

// Scores that minimise a log-loss, bounded or not, need no calibration. Several labels need it to be told apart.
std::optional<Calibration> calibration_for(const Targets& targets, const Wanted& wanted, Loss loss,
                                           const RowWeights& weights, const RowBlocks& blocks) {
  if (loss != Loss::squared) return std::nullopt;
  if (!wanted.link && !wanted.path_links) return std::nullopt;
  return Calibration(targets, weights, blocks);
}

// Stages matter to a fit that may stop by them, or whose errors choose the next units.
MajorizedStops stops_of(const StagewiseSettings& settings, const Wanted& wanted, Task task) {
  MajorizedStops stops;
  stops.sizes = wanted.sizes;
  if (wanted.alphas.empty()) stops.ratios.push_back(1);
  for (const double alpha : wanted.alphas) stops.ratios.push_back(alpha / settings.alpha);
  stops.tolerance = wanted.tolerance;
  stops.only = wanted.only_sizes && settings.tol == 0 && task != Task::numbers;
  return stops;
}

// In exact arithmetic the objective never rises; sums over rows in this type may seem to, by their rounding.
template <class Scalar>
double without_rounding(double now, double before) {
  constexpr double kRounding = 1e3 * std::numeric_limits<Scalar>::epsilon();
  return now > before && now <= (1 + kRounding) * before ? before : now;
}

}  // namespace

template <class Scalar>
StagewiseRun<Scalar>::StagewiseRun(Design<Scalar>& design, const RowBlocks& blocks,
                                   const Targets& targets, const StagewiseSettings& settings,
                                   const Wanted& wanted, Team& team)
    : design_(design),
      settings_(settings),
      wanted_(wanted),
      task_(targets.task()),
      weighted_targets_(design.weighted(targets.values())),
      calibration_(calibration_for(targets, wanted, settings.loss, design.weights(), blocks)),
      ridge_(design, blocks, targets, weighted_targets_, settings, wanted,
             calibration_ ? &*calibration_ : nullptr, team),
      best_merit_(-std::numeric_limits<double>::infinity()) {
  if (settings.loss != Loss::squared) {
    majorized_.emplace(ridge_.coordinate_factor(), targets, settings.loss, design.weights(), blocks,
                       stops_of(settings, wanted, task_), team);
    tell_errors();
  }
  if (settings.stopping.by == StopBy::validation) {
    const std::vector<Index>& rows = settings.stopping.validation_rows;
    const Measure measure =
        task_ == Task::numbers ? measure_for(settings.loss, task_) : Measure::usual;
    validation_.emplace(design, targets.of_rows(rows), rows, design.weights().set_aside, blocks,
                        measure);
  }
  fit_.link = Link::identity(targets.outputs());
  record();
  note_if_best();
  finished_ = plan().keep == 0;
}

template <class Scalar>
void StagewiseRun<Scalar>::tell_errors() {
  if (task_ == Task::numbers) majorized_->now().put_errors(ridge_.residual());
}

// Records the state after a stage, or before the first.
template <class Scalar>
void StagewiseRun<Scalar>::record() {
  const RidgeState<Scalar>& state = ridge_.state();
  FitHistory& history = fit_.history;
  history.units_path.push_back(static_cast<Index>(history.selected.size()));
  const double before = history.objective_path.empty() ? std::numeric_limits<double>::infinity()
                                                       : history.objective_path.back();
  // The change to a more accurate form may raise that of the squared error, too.
  history.objective_path.push_back(
      majorized_ ? without_rounding<Scalar>(majorized_->now().objective(), before)
                 : std::min(state.objective, before));
  history.residual_path.push_back(majorized_ ? majorized_->now().loss() : state.residual_energy);
  if (majorized_ && wanted_.left_out_path) {
    const auto left_out = majorized_->now().left_out(state.leverage);
    history.loo_error_path.push_back(left_out.loss);
    if (task_ == Task::one_label) history.loo_accuracy_path.push_back(left_out.accuracy);
  }
  if (state.left_out) {
    history.loo_error_path.push_back(state.left_out->squared_error);
    if (task_ == Task::one_label) history.loo_accuracy_path.push_back(state.left_out->accuracy);
  }
  if (validation_) {
    history.validation_path.push_back(validation_->score(
        majorized_ ? majorized_->readout() : ridge_.unrefined_readout(), present_link()));
  }
}

// Which of several labels a row has depends on it; which one it has does not.
template <class Scalar>
Link StagewiseRun<Scalar>::present_link() const {
  if (!calibration_ || task_ == Task::one_label) return fit_.link;
  return calibration_->link(state().of_rows(calibration_->rows()));
}

template <class Scalar>
double StagewiseRun<Scalar>::merit() const {
  const FitHistory& history = fit_.history;
  if (settings_.stopping.by == StopBy::validation) return history.validation_path.back();
  if (settings_.stopping.by == StopBy::leave_one_out) return -history.loo_error_path.back();
  return static_cast<double>(history.stages());
}

template <class Scalar>
void StagewiseRun<Scalar>::note_if_best() {
  if (!(merit() > best_merit_)) return;
  best_merit_ = merit();
  fit_.history.best_stage = fit_.history.stages();
  const bool may_return_here = settings_.stopping.by != StopBy::nothing;
  if (may_return_here && calibration_) best_calibration_ = state().of_rows(calibration_->rows());
  if (may_return_here && majorized_) majorized_->remember();
}

template <class Scalar>
bool StagewiseRun<Scalar>::out_of_patience() const {
  return fit_.history.stages() - fit_.history.best_stage >= settings_.stopping.patience;
}

// Appends the best candidates of a ranking to the network; all of them, some at a time, if none are to be chosen.
template <class Scalar>
typename GrowingRidge<Scalar>::Appended StagewiseRun<Scalar>::append(RankedPool& ranking) {
  constexpr std::size_t kTogether = kMostTogether;
  typename GrowingRidge<Scalar>::Appended appended;
  std::vector<Index>& chosen = appended.candidates;
  const auto append_some = [&](RankedPool& candidates, const StagePlan& plan) {
    const auto some = ridge_.append_best(candidates, plan);
    chosen.insert(chosen.end(), some.candidates.begin(), some.candidates.end());
    appended.scores.insert(appended.scores.end(), some.scores.begin(), some.scores.end());
    appended.looked_at += some.looked_at;
    if (validation_ && !some.candidates.empty()) validation_->add_selected(design_);
  };
  if (settings_.one_shot()) {
    const std::vector<Index>& all = ranking.candidates;
    for (std::size_t first = 0; first < all.size(); first += kTogether) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
      const auto count = static_cast<Index>(std::min(kTogether, all.size() - first));
      RankedPool some{{begin, begin + count}};
      append_some(some, {count, count, count});
    }
  } else {
    append_some(ranking, plan());
  }
  if (majorized_ && !chosen.empty()) {
    const Index units = static_cast<Index>(fit_.history.selected.size() + chosen.size());
    majorized_->add_stage(units, design_.source().features());
    tell_errors();
  }
  return appended;
}

template <class Scalar>
void StagewiseRun<Scalar>::end_stage(Index stage, RankedPool pool, const Observer& observer) {
  FitHistory& history = fit_.history;
  const Index keep = plan().keep;
  const auto [chosen, scores, looked_at] = append(pool);
  if (wanted_.known_stages) fit_.known.stages.push_back({keep, pool.first(looked_at)});
  if (chosen.empty()) {  // no candidate of this kind adds anything
    finished_ = !design_.source().go_to_next_kind() || plan().keep == 0;
    return;
  }
  for (const Index candidate : chosen) history.selected.push_back({stage, candidate});
  if (!settings_.one_shot()) {
    history.unit_scores.insert(history.unit_scores.end(), scores.begin(), scores.end());
    history.pool_quantiles.push_back(pool.quantiles);
  }
  const double before = history.objective_path.back();
  record();
  note_if_best();
  const double after = history.objective_path.back();
  const double validation_score =
      validation_ ? history.validation_path.back() : std::numeric_limits<double>::quiet_NaN();
  const bool go_on =
      !observer || observer({stage, history.units_path.back(), design_.source().max_units(), after,
                             history.residual_path.back(), validation_score});
  finished_ =
      out_of_patience() || !go_on || before - after < settings_.tol * before || plan().keep == 0;
}

template <class Scalar>
std::optional<StagewiseFit> StagewiseRun<Scalar>::trace_by(std::size_t penalty,
                                                           std::vector<Index> units) {
  StagewiseFit fit = fit_;
  for (Index& count : units) count = std::min(count, fit.history.units_path.back());
  if (majorized_) {
    fit.path = majorized_->path_at_sizes(penalty);
    fit.history.units_path = std::move(units);
    return fit;
  }
  std::optional<ReadoutPath> path = ridge_.path_by(wanted_.alphas[penalty]);
  if (!path) return std::nullopt;
  fit.path = std::move(*path);
  return fit;
}

template <class Scalar>
StagewiseFit StagewiseRun<Scalar>::trace(std::vector<Index> units) {
  StagewiseFit fit = fit_;
  for (Index& count : units) count = std::min(count, fit.history.units_path.back());
  if (majorized_) {
    fit.path = majorized_->path_at_sizes(0);
    fit.path_links.assign(units.size(), fit_.link);
  } else {
    if (calibration_ && wanted_.path_links) fit.path_links = ridge_.links(units);
    fit.path = ridge_.path_through(units);
  }
  if (!fit.path.column_per_unit) fit.history.units_path = std::move(units);
  return fit;
}

template <class Scalar>
StagewiseFit StagewiseRun<Scalar>::finish() {
  majorized_ ? finish_majorized() : finish_ridge();
  FitHistory& history = fit_.history;
  const Index units = history.units_path[static_cast<std::size_t>(history.best_stage)];
  history.selected.resize(static_cast<std::size_t>(units));
  if (!settings_.one_shot()) history.unit_scores.resize(static_cast<std::size_t>(units));
  return std::move(fit_);
}

template <class Scalar>
void StagewiseRun<Scalar>::finish_ridge() {
  FitHistory& history = fit_.history;
  if (calibration_ && wanted_.link) {
    if (settings_.stopping.by == StopBy::nothing)
      best_calibration_ = state().of_rows(calibration_->rows());
    fit_.link = calibration_->link(best_calibration_);
  }
  fit_.path = ridge_.path();
  if (history.best_stage == history.stages()) {
    fit_.readout = ridge_.readout(history.objective_path.back());
    return;
  }
  const std::size_t best = static_cast<std::size_t>(history.best_stage);
  fit_.path.cut(history.best_stage, design_.fixed() + history.units_path[best]);
  fit_.readout = fit_.path.last();
  ridge_.check_readout(fit_.readout, history.residual_path[best]);
}

template <class Scalar>
void StagewiseRun<Scalar>::finish_majorized() {
  FitHistory& history = fit_.history;
  const std::size_t best = static_cast<std::size_t>(history.best_stage);
  if (history.best_stage < history.stages()) majorized_->return_to_remembered();
  const bool only_path = !wanted_.sizes.empty();
  majorized_->converge(only_path ? kNegligible : 0);
  history.objective_path[best] =
      without_rounding<Scalar>(majorized_->now().objective(), history.objective_path[best]);
  history.residual_path[best] = majorized_->now().loss();
  if (wanted_.left_out_path && history.best_stage == history.stages()) {
    const auto left_out = majorized_->now().left_out(state().leverage);
    history.loo_error_path[best] = left_out.loss;
    if (task_ == Task::one_label) history.loo_accuracy_path[best] = left_out.accuracy;
  }
  // Later stages, which were given up, did not converge: without weight on their units they are as good as this one.
  for (std::size_t stage = best + 1; stage < history.objective_path.size(); ++stage) {
    if (history.objective_path[stage] <= history.objective_path[best]) continue;
    history.objective_path[stage] = history.objective_path[best];
    history.residual_path[stage] = history.residual_path[best];
  }
  fit_.readout = majorized_->readout();
  fit_.path = majorized_->path(ridge_.directions());
  fit_.path.cut(history.best_stage, fit_.readout.rows());
  if (!wanted_.sizes.empty()) {
    std::vector<Index> units = wanted_.sizes;
    for (Index& count : units) count += design_.source().features();
    StagewiseFit traced = trace(std::move(units));
    fit_.path = std::move(traced.path);
    history.units_path = std::move(traced.history.units_path);
    history.best_stage = history.stages();
  }
  fit_.path_links.assign(history.units_path.size(), fit_.link);
}

template class StagewiseRun<float>;
template class StagewiseRun<double>;

}  // namespace stagenets
