#include "residuum/stagewise.hpp"

#include <stdexcept>

#include "residuum/scores.hpp"
#include "residuum/stagewise_run.hpp"

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
  throw std::invalid_argument("selection must be 'residual', 'joint' or 'random'; got '" + name +
                              "'");
}

Evidence evidence_from_name(const std::string& name) {
  if (name == "none") return Evidence::none;
  if (name == "loo") return Evidence::leave_one_out;
  if (name == "validation") return Evidence::validation;
  throw std::invalid_argument("evidence must be 'none', 'loo' or 'validation'; got '" + name + "'");
}

ReadoutPath path_between(const MatrixD& readouts, Index outputs) {
  const Index steps = readouts.cols() / outputs - 1, further = steps * outputs;
  ReadoutPath path;
  path.start = readouts.leftCols(outputs);
  path.directions = readouts.rightCols(further) - readouts.leftCols(further);
  path.steps = MatrixD::Identity(outputs, outputs).replicate(steps, 1);
  for (Index step = 0; step <= steps; ++step) path.ends.push_back(step * outputs);
  return path;
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
  StagewiseRun<Scalar> run(design, blocks, targets, settings, team);
  for (Index stage = 0; !run.finished(); ++stage) {
    draw_watch.lap();
    design.source().draw(stage, run.plan(), team);
    draw_seconds += draw_watch.lap();
    const std::vector<Index> rows =
        rows_to_score(design.rows(), settings.score_fraction, settings.seed, stage);
    run.take(stage, score_pool(design, {&run.state()}, rows, team), observer);
  }
  StagewiseFit fit = run.finish();
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
