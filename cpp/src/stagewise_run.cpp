#include "residuum/stagewise_run.hpp"

#include <limits>

#include "residuum/leave_one_out.hpp"
#include "residuum/scores.hpp"

namespace residuum {
namespace {

PoolQuantiles quantiles_of(const VectorD& scores, const std::vector<Index>& best_first) {
  PoolQuantiles quantiles;
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    quantiles[i] = scores[best_first[(best_first.size() - 1) * (4 - i) / 4]];
  }
  return quantiles;
}

void keep_stages(ReadoutPath& path, Index stages, Index units, Index design_columns) {
  path.ends.resize(static_cast<std::size_t>(stages) + 1);
  path.start.conservativeResize(design_columns, Eigen::NoChange);
  path.directions.conservativeResize(design_columns, units);
  path.steps.conservativeResize(units, Eigen::NoChange);
}

}  // namespace

template <class Scalar>
StagewiseRun<Scalar>::StagewiseRun(Design<Scalar>& design, const RowBlocks& blocks,
                                   const MatrixD& targets, const StagewiseSettings& settings,
                                   Team& team)
    : design_(design),
      targets_(targets),
      settings_(settings),
      weighted_targets_(design.weighted(targets)),
      ridge_(design, blocks, targets, weighted_targets_, settings, team),
      best_evidence_(-std::numeric_limits<double>::infinity()) {
  if (!settings.stopping.validation_rows.empty()) {
    validation_.emplace(design, targets, settings.stopping.validation_rows, settings.max_units,
                        settings.classification);
  }
  record();
  evidence_says_stop();
  finished_ = plan().take == 0;
}

// What there is to know after a stage, or before the first.
template <class Scalar>
void StagewiseRun<Scalar>::record() {
  const RidgeState<Scalar>& state = ridge_.state();
  fit_.units_path.push_back(static_cast<Index>(fit_.selected.size()));
  fit_.objective_path.push_back(state.objective);
  fit_.residual_path.push_back(state.residual_energy);
  if (state.left_out) {
    fit_.loo_error_path.push_back(state.left_out->squared_error);
    if (settings_.classification) fit_.loo_accuracy_path.push_back(state.left_out->accuracy);
  }
  if (validation_) fit_.validation_path.push_back(validation_->score(ridge_.unrefined_readout()));
}

// Notes a new best stage; says whether the last one is too long ago.
template <class Scalar>
bool StagewiseRun<Scalar>::evidence_says_stop() {
  const Index stages = static_cast<Index>(fit_.units_path.size()) - 1;
  const Evidence kind = settings_.stopping.evidence;
  const double evidence = kind == Evidence::validation      ? fit_.validation_path.back()
                          : kind == Evidence::leave_one_out ? -fit_.loo_error_path.back()
                                                            : static_cast<double>(stages);
  if (evidence > best_evidence_) {
    best_evidence_ = evidence;
    fit_.best_stage = stages;
    if (kind != Evidence::none && settings_.loo_scores) {
      leave_one_out(design_, ridge_.state(), targets_, fit_);
    }
  }
  return stages - fit_.best_stage >= settings_.stopping.patience;
}

template <class Scalar>
void StagewiseRun<Scalar>::take(Index stage, const VectorD& scores, const Observer& observer) {
  const std::vector<Index> ranking = rank_scores(scores);
  const std::vector<Index> taken = ridge_.append(ranking, plan().take);
  if (taken.empty()) {  // no candidate adds anything: the readout fits all it can
    finished_ = !design_.source().next_kind() || plan().take == 0;
    return;
  }
  for (const Index candidate : taken) {
    fit_.selected.push_back({stage, candidate});
    fit_.unit_scores.push_back(scores[candidate]);
  }
  fit_.pool_quantiles.push_back(quantiles_of(scores, ranking));
  if (validation_) validation_->add_selected(design_);
  const double before = fit_.objective_path.back();
  record();
  const double after = fit_.objective_path.back();
  const bool go_on =
      !observer || observer({stage, fit_.units_path.back(), after, fit_.residual_path.back(),
                             validation_ ? fit_.validation_path.back()
                                         : std::numeric_limits<double>::quiet_NaN()});
  finished_ =
      evidence_says_stop() || !go_on || before - after < settings_.tol * before || plan().take == 0;
}

template <class Scalar>
StagewiseFit StagewiseRun<Scalar>::trace(std::vector<Index> units) {
  StagewiseFit fit = fit_;
  for (Index& count : units) count = std::min(count, fit.units_path.back());
  fit.path = ridge_.path_through(units);
  if (!fit.path.column_per_unit) fit.units_path = std::move(units);
  return fit;
}

template <class Scalar>
StagewiseFit StagewiseRun<Scalar>::finish() {
  const Index stages = static_cast<Index>(fit_.units_path.size()) - 1;
  if (settings_.stopping.evidence == Evidence::none && settings_.loo_scores) {
    leave_one_out(design_, ridge_.state(), targets_, fit_);
  }
  fit_.path = ridge_.path();
  if (fit_.best_stage == stages) {
    fit_.readout = ridge_.readout(fit_.objective_path.back());
    return std::move(fit_);
  }
  const Index units = fit_.units_path[static_cast<std::size_t>(fit_.best_stage)];
  keep_stages(fit_.path, fit_.best_stage, units, design_.fixed() + units);
  fit_.readout = fit_.path.start + fit_.path.directions * fit_.path.steps;
  fit_.selected.resize(static_cast<std::size_t>(units));
  fit_.unit_scores.resize(static_cast<std::size_t>(units));
  return std::move(fit_);
}

template class StagewiseRun<float>;
template class StagewiseRun<double>;

}  // namespace residuum
