#include "residuum/stagewise.hpp"

#include <algorithm>
#include <stdexcept>

#include "residuum/growing_ridge.hpp"
#include "residuum/leave_one_out.hpp"
#include "residuum/scores.hpp"

namespace residuum {

Solver solver_from_name(const std::string& name) {
  if (name == "auto") return Solver::automatic;
  if (name == "primal") return Solver::primal;
  if (name == "dual") return Solver::dual;
  throw std::invalid_argument("solver must be 'auto', 'primal' or 'dual'; got '" + name + "'");
}

Selection selection_from_name(const std::string& name) {
  if (name == "random") return Selection::random;
  if (name == "residual") return Selection::residual;
  if (name == "joint") return Selection::joint;
  throw std::invalid_argument("selection must be 'residual', 'joint' or 'random'; got '" + name + "'");
}

template <class Scalar>
StagewiseFit fit_stagewise(Design<Scalar>& design, const RowBlocks& blocks, const MatrixD& targets,
                           const StagewiseSettings& settings, const Observer& observer,
                           Team& team) {
  if (settings.selection == Selection::random) {
    return fit_one_shot(design, blocks, targets, settings, team);
  }
  Stopwatch clock, draw_watch;
  double draw_seconds = 0;
  CandidateSource<Scalar>& source = design.source();
  const MatrixD weighted_targets = design.weighted(targets);
  GrowingRidge<Scalar> ridge(design, blocks, weighted_targets, settings, team);
  StagewiseFit fit;
  fit.objective_path.push_back(ridge.state().objective);
  fit.residual_path.push_back(ridge.state().residual_energy);

  for (Index stage = 0;; ++stage) {
    const StagePlan plan = source.plan();
    if (plan.take == 0) break;
    draw_watch.lap();
    source.draw(stage, plan, team);
    draw_seconds += draw_watch.lap();
    const std::vector<Index> rows =
        rows_to_score(design.rows(), settings.score_fraction, settings.seed, stage);
    const VectorD scores = score_pool(design, ridge.state(), rows, team);
    const std::vector<Index> taken = ridge.append(rank_scores(scores), plan.take);
    if (taken.empty()) {  // no candidate adds anything: the readout fits all it can
      if (source.next_kind()) continue;
      break;
    }

    for (const Index candidate : taken) fit.selected.push_back({stage, candidate});
    const double before = fit.objective_path.back(), after = ridge.state().objective;
    fit.objective_path.push_back(after);
    fit.residual_path.push_back(ridge.state().residual_energy);
    const StageReport report{stage, static_cast<Index>(fit.selected.size()), after,
                             ridge.state().residual_energy};
    if (observer && !observer(report)) break;
    if (before - after < settings.tol * before) break;
  }

  if (settings.leave_one_out) leave_one_out(design, ridge.state(), targets, fit);
  fit.readout = ridge.readout(fit.objective_path.back());
  fit.path = ridge.path();
  fit.profile = design.profile();
  fit.profile.draw = draw_seconds;
  fit.profile.total = clock.lap();
  return fit;
}

template StagewiseFit fit_stagewise<float>(Design<float>&, const RowBlocks&, const MatrixD&,
                                           const StagewiseSettings&, const Observer&, Team&);
template StagewiseFit fit_stagewise<double>(Design<double>&, const RowBlocks&, const MatrixD&,
                                            const StagewiseSettings&, const Observer&, Team&);

}  // namespace residuum
