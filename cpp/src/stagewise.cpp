#include "stagenets/stagewise.hpp"

#include "stagenets/scores.hpp"
#include "stagenets/stagewise_run.hpp"

namespace stagenets {

template <class Scalar>
StagewiseFit fit_stagewise(Design<Scalar>& design, const RowBlocks& blocks, const Targets& targets,
                           const StagewiseSettings& settings, const Wanted& wanted,
                           const Observer& observer, Team& team) {
  if (settings.one_shot() && settings.loss == Loss::squared) {
    return fit_one_shot(design, blocks, targets, settings, wanted, observer, team);
  }
  Stopwatch clock, draw_watch;
  double draw_seconds = 0;
  const RowNumbers numbers = blocks.number(design.rows());
  StagewiseRun<Scalar> run(design, blocks, targets, settings, wanted, team);
  for (Index stage = 0; !run.finished(); ++stage) {
    draw_watch.lap();
    design.source().draw(stage, run.plan(), team);
    draw_seconds += draw_watch.lap();
    if (settings.one_shot()) {  // nothing is to be chosen
      run.end_stage(stage, rank_pool(VectorD::Zero(run.plan().pool)), observer);
      continue;
    }
    if (const KnownStage* known = settings.known.find(stage, run.plan().keep)) {
      run.end_stage(stage, known->pool, observer);
      continue;
    }
    const ScoredRows rows = rows_to_score(numbers, settings.score_fraction, settings.seed, stage);
    std::vector<RankedPool> pools =
        rank_head(design, {{run.state(), run.considered()}}, rows, team);
    run.end_stage(stage, std::move(pools.front()), observer);
  }
  StagewiseFit fit = run.finish();
  fit.profile = design.profile();
  fit.profile.draw = draw_seconds;
  fit.profile.total = clock.lap();
  return fit;
}

template StagewiseFit fit_stagewise<float>(Design<float>&, const RowBlocks&, const Targets&,
                                           const StagewiseSettings&, const Wanted&, const Observer&,
                                           Team&);
template StagewiseFit fit_stagewise<double>(Design<double>&, const RowBlocks&, const Targets&,
                                            const StagewiseSettings&, const Wanted&,
                                            const Observer&, Team&);

}  // namespace stagenets
