#include "stagenets/given_units.hpp"

#include "stagenets/sizes.hpp"

namespace stagenets {

GivenFit fit_given_units(const GivenUnits::PoolFunction& pool, const MatrixD& targets,
                         const InputView<double>& inputs, const double* weights, Index units,
                         bool intercept, const StagewiseSettings& settings, int threads,
                         const Team::Poll& poll) {
  const Inputs<double> rows(inputs);
  const RowBlocks blocks = RowBlocks::for_fit(inputs.rows, inputs.columns);
  const Targets goal(Task::several_labels, targets);  // which are not scaled
  const RowWeights counted = row_weights(weights, {}, goal, {}, blocks);
  const Index fixed = inputs.columns + (intercept ? 1 : 0);
  const FitShape shape{inputs.rows, inputs.columns, goal.outputs(), fixed, units, sizeof(double)};
  // The pool and the units kept are held whole.
  const double columns = static_cast<double>(settings.pool) + static_cast<double>(units);
  const double bytes =
      ridge_bytes(shape, settings) + 8 * columns * static_cast<double>(inputs.rows);
  GivenFit result;
  with_memory("a fit", bytes, [&] {
    GivenUnits source(pool, inputs.rows, units, settings);
    Team::run(threads, poll, [&](Team& team) {
      Design<double> design(rows, intercept, inputs.columns > 0, source, counted, team.size());
      StagewiseFit fit = fit_stagewise(design, blocks, goal, settings, Wanted(), nullptr, team);
      result.readout = std::move(fit.readout);
      result.history = std::move(fit.history);
    });
    result.hidden = source.kept();
  });
  return result;
}

}  // namespace stagenets
