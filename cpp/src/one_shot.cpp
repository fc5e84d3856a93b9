#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "residuum/cholesky.hpp"
#include "residuum/dual_factor.hpp"
#include "residuum/gram.hpp"
#include "residuum/growing_ridge.hpp"
#include "residuum/leave_one_out.hpp"
#include "residuum/stagewise.hpp"

namespace residuum {
namespace {

// Draws group after group of units and keeps them all. Returns the width of the design before the first
// group and after each.
template <class Scalar>
std::vector<Index> keep_all(Design<Scalar>& design, StagewiseFit& fit, Team& team) {
  CandidateSource<Scalar>& source = design.source();
  std::vector<Index> widths{design.fixed()};
  for (Index stage = 0;; ++stage) {
    const StagePlan plan = source.plan();
    if (plan.take == 0) break;
    source.draw(stage, plan, team);
    std::vector<Index> all(static_cast<std::size_t>(plan.pool));
    std::iota(all.begin(), all.end(), Index{0});
    source.select(all);
    source.keep_selected();
    for (const Index candidate : all) fit.selected.push_back({stage, candidate});
    widths.push_back(widths.back() + plan.pool);
  }
  source.gather_kept();
  return widths;
}

// Adds the sizes the caller wants on the path.
void add_widths(std::vector<Index>& widths, const std::vector<Index>& units) {
  const Index fixed = widths.front(), most = widths.back();
  for (const Index count : units) widths.push_back(std::min(most, fixed + count));
  std::sort(widths.begin(), widths.end());
  widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
}

// Readouts of growing height side by side, as tall as the last.
MatrixD side_by_side(const std::vector<MatrixD>& readouts) {
  const Index outputs = readouts.back().cols();
  MatrixD all =
      MatrixD::Zero(readouts.back().rows(), outputs * static_cast<Index>(readouts.size()));
  Index column = 0;
  for (const MatrixD& readout : readouts) {
    all.block(0, column, readout.rows(), outputs) = readout;
    column += outputs;
  }
  return all;
}

// Leave-one-out scores for calibration. Without Q, leverages have to be solved for, row by row.
template <class Scalar>
void leave_some_out(Design<Scalar>& design, const RidgeState<Scalar>& state, const MatrixD& targets,
                    const KeptCholesky& factor, StagewiseFit& fit, Team& team) {
  constexpr Index kTogether = 256;
  const double* roots = design.root_weights();
  fit.loo_rows = calibration_rows(targets.rows(), roots);
  const Index count = static_cast<Index>(fit.loo_rows.size()), outputs = targets.cols();
  fit.loo_scores.resize(count, outputs);
  team.for_each((count + kTogether - 1) / kTogether, [&](Index part, int worker) {
    team.poll(worker);
    const Index first = part * kTogether, some = std::min(kTogether, count - first);
    MatrixD rows(some, design.columns());
    design.all_columns({first, some, fit.loo_rows.data()}, rows.data(), some, worker);
    MatrixD fitted(some, outputs);
    blas::gemm<double>(blas::Op::none, blas::Op::none, some, outputs, rows.cols(), 1.0, rows.data(),
                       some, fit.readout.data(), fit.readout.rows(), 0.0, fitted.data(), some);
    MatrixD q(factor.l.rows(), some);
    for (Index j = 0; j < factor.l.rows(); ++j) q.row(j) = rows.col(factor.kept[j]).transpose();
    solve_lower(factor.l, factor.l.rows(), q);
    for (Index i = 0; i < some; ++i) {
      const Index row = fit.loo_rows[static_cast<std::size_t>(first + i)];
      const double growth = loo_growth(q.col(i).squaredNorm()) / (roots ? roots[row] : 1.0);
      fit.loo_scores.row(first + i) =
          targets.row(row) - (state.targets.row(row) - fitted.row(i)) * growth;
    }
  });
}

template <class Scalar>
void solve_primal(Design<Scalar>& design, RidgeState<Scalar>& state, const MatrixD& targets,
                  const std::vector<Index>& widths, StagewiseFit& fit, Team& team) {
  const Index columns = design.columns(), outputs = state.outputs();
  const MatrixD joint = gram(state.blocks, columns + outputs, team,
                             [&](RowRange range, double* out, Index leading, int worker) {
                               design.all_columns(range, out, leading, worker);
                               MatrixMap<double>(out + columns * leading, range.count, outputs,
                                                 Eigen::OuterStride<>(leading)) =
                                   state.targets.middleRows(range.first, range.count);
                             });
  MatrixD normal = joint.topLeftCorner(columns, columns);
  normal.diagonal().array() += state.alpha;
  const KeptCholesky factor(normal, team);
  MatrixD z = factor.compress(joint.bottomLeftCorner(outputs, columns).transpose());
  solve_lower(factor.l, factor.l.rows(), z);

  const double energy = state.targets.squaredNorm();
  std::vector<MatrixD> readouts;
  for (const Index width : widths) {
    const Index kept_before =
        std::lower_bound(factor.kept.begin(), factor.kept.end(), width) - factor.kept.begin();
    MatrixD solution = z.topRows(kept_before);
    const double objective = std::max(0.0, energy - solution.squaredNorm());
    solve_lower_transposed(factor.l, solution.rows(), solution);
    const MatrixD readout = factor.expand(solution, width);
    fit.objective_path.push_back(objective);
    fit.residual_path.push_back(std::max(0.0, objective - state.alpha * readout.squaredNorm()));
    readouts.push_back(readout);
  }
  fit.path = path_between(side_by_side(readouts), targets.cols());
  fit.readout = readouts.back();
  if (needs_refinement<double>(factor.worst_pivot)) {
    const double objective =
        refine(design, state, fit.readout, 6, team, [&](const MatrixD& gradient) {
          MatrixD x = factor.compress(gradient);
          solve_lower(factor.l, x.rows(), x);
          solve_lower_transposed(factor.l, x.rows(), x);
          return factor.expand(x, columns);
        });
    fit.objective_path.back() = std::min(fit.objective_path.back(), objective);
    fit.residual_path.back() =
        std::max(0.0, fit.objective_path.back() - state.alpha * fit.readout.squaredNorm());
  }
  if (state.leverage.size() > 0) leave_some_out(design, state, targets, factor, fit, team);
}

template <class Scalar>
void solve_dual(Design<Scalar>& design, RidgeState<Scalar>& state, const MatrixD& targets,
                const std::vector<Index>& widths, StagewiseFit& fit, Team& team) {
  std::vector<MatrixD> readouts;
  for (const Index width : widths) {
    DualFactor<Scalar> factor(design, state, width - design.fixed(), team);
    factor.initialize(state);
    fit.readout = factor.readout(design, team).topRows(width);
    readouts.push_back(fit.readout);
    // Each form is factored anew, so only mathematics keeps the objective from rising; rounding may not.
    const bool first = fit.objective_path.empty();
    fit.objective_path.push_back(first ? state.objective
                                       : std::min(state.objective, fit.objective_path.back()));
    fit.residual_path.push_back(state.residual_energy);
    if (width < widths.back()) continue;
    if (needs_refinement<double>(state.worst_pivot)) {
      const double objective =
          refine(design, state, fit.readout, 4, team,
                 [&](const MatrixD& gradient) { return factor.solve(gradient, design, team); });
      fit.objective_path.back() = std::min(fit.objective_path.back(), objective);
    }
  }
  fit.path = path_between(side_by_side(readouts), targets.cols());
  if (state.leverage.size() > 0) leave_one_out(design, state, targets, fit);
}

}  // namespace

template <class Scalar>
StagewiseFit fit_one_shot(Design<Scalar>& design, const RowBlocks& blocks, const MatrixD& targets,
                          const StagewiseSettings& settings, Team& team) {
  const MatrixD weighted_targets = design.weighted(targets);
  RidgeState<Scalar> state(blocks, weighted_targets, settings.alpha, settings.loo_scores);
  const Index columns = design.fixed() + settings.max_units;
  const bool dual =
      settings.solver == Solver::dual ||
      (settings.solver == Solver::automatic && settings.alpha > 0 && columns > design.rows());
  Stopwatch clock;
  StagewiseFit fit;
  std::vector<Index> widths = keep_all(design, fit, team);
  add_widths(widths, settings.path_units);
  bool solved = false;
  if (dual) {
    try {
      StagewiseFit attempt = fit;
      solve_dual(design, state, targets, widths, attempt, team);
      fit = std::move(attempt);
      solved = true;
    } catch (const std::domain_error&) {  // the penalty is below the rounding of AAᵀ
      if (settings.solver == Solver::dual) throw;
    }
  }
  if (!solved) solve_primal(design, state, targets, widths, fit, team);
  for (const Index width : widths) fit.units_path.push_back(width - widths.front());
  fit.best_stage = static_cast<Index>(widths.size()) - 1;
  fit.profile.total = clock.lap();
  return fit;
}

template StagewiseFit fit_one_shot<float>(Design<float>&, const RowBlocks&, const MatrixD&,
                                          const StagewiseSettings&, Team&);
template StagewiseFit fit_one_shot<double>(Design<double>&, const RowBlocks&, const MatrixD&,
                                           const StagewiseSettings&, Team&);

}  // namespace residuum
