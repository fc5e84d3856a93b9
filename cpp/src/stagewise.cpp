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

template <class Scalar>
StagewiseFit fit_stagewise(Design<Scalar>& design, const RowBlocks& blocks, const MatrixD& targets,
                           const StagewiseSettings& settings, const Observer& observer,
                           Team& team) {
  CandidateSource<Scalar>& source = design.source();
  const MatrixD weighted_targets = design.weighted(targets);
  GrowingRidge<Scalar> ridge(design, blocks, weighted_targets, settings, team);
  StagewiseFit fit;
  fit.objective_path.push_back(ridge.state().objective);
  fit.residual_path.push_back(ridge.state().residual_energy);

  for (Index stage = 0;; ++stage) {
    const StagePlan plan = source.plan();
    if (plan.take == 0) break;
    source.draw(stage, plan, team);
    const VectorD scores = score_pool(design, ridge.state(), team);
    const std::vector<Index> taken = ridge.append(rank_scores(scores), plan.take);
    if (taken.empty()) break;  // no candidate adds anything: the readout fits all it can

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
  return fit;
}

template StagewiseFit fit_stagewise<float>(Design<float>&, const RowBlocks&, const MatrixD&,
                                           const StagewiseSettings&, const Observer&, Team&);
template StagewiseFit fit_stagewise<double>(Design<double>&, const RowBlocks&, const MatrixD&,
                                            const StagewiseSettings&, const Observer&, Team&);

}  // namespace residuum
