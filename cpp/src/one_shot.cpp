#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "stagenets/calibration.hpp"
#include "stagenets/cholesky.hpp"
#include "stagenets/dual_factor.hpp"
#include "stagenets/gram.hpp"
#include "stagenets/growing_ridge.hpp"
#include "stagenets/stagewise.hpp"

namespace stagenets {
namespace {

// Draws one group of units after another and keeps them all. Returns the width of the design before the first
// group and after each.
template <class Scalar>
std::vector<Index> keep_all(Design<Scalar>& design, StagewiseFit& fit, Team& team) {
  CandidateSource<Scalar>& source = design.source();
  std::vector<Index> widths{design.fixed()};
  for (Index stage = 0;; ++stage) {
    const StagePlan plan = source.plan();
    if (plan.keep == 0) break;
    source.draw(stage, plan, team);
    std::vector<Index> all(static_cast<std::size_t>(plan.pool));
    std::iota(all.begin(), all.end(), Index{0});
    source.select(all);
    source.keep_selected();
    for (const Index candidate : all) fit.history.selected.push_back({stage, candidate});
    widths.push_back(widths.back() + plan.pool);
  }
  source.gather_kept();
  return widths;
}

// Adds the widths of these sizes, which come after the first columns.
void add_widths(std::vector<Index>& widths, const std::vector<Index>& sizes, Index first) {
  const Index most = widths.back();
  for (const Index size : sizes) widths.push_back(std::min(most, first + size));
  std::sort(widths.begin(), widths.end());
  widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
}

// The calibration state of a network. As Q is not stored, its rows are solved for: q = L⁻¹ a. They are written to
// `columns` unless that is null.
template <class Scalar>
CalibrationState calibration_state(Design<Scalar>& design, const RidgeState<Scalar>& state,
                                   const Calibration& calibration, const KeptCholesky& factor,
                                   const MatrixD& readout, MatrixD* columns, Team& team) {
  constexpr Index kTogether = 256;
  const Index count = static_cast<Index>(calibration.rows().size()), outputs = state.outputs();
  const Index kept = factor.l.rows();
  if (columns) columns->resize(count, kept);
  CalibrationState found{MatrixD(count, outputs), VectorD(count)};
  team.for_each((count + kTogether - 1) / kTogether, [&](Index part, int worker) {
    team.poll(worker);
    const Index first = part * kTogether, some = std::min(kTogether, count - first);
    MatrixD rows(some, design.columns());
    design.all_columns({first, some, calibration.rows().data()}, rows.data(), some, worker);
    MatrixD fitted(some, outputs);
    blas::gemm(blas::Op::none, blas::Op::none, 1, rows, readout, 0, fitted);
    MatrixD q(kept, some);
    for (Index j = 0; j < kept; ++j) q.row(j) = rows.col(factor.kept[j]).transpose();
    solve_columns(blas::Op::none, factor.l, q, team, worker);
    for (Index i = 0; i < some; ++i) {
      const Index row = calibration.rows()[static_cast<std::size_t>(first + i)];
      found.residual.row(first + i) = state.targets.row(row) - fitted.row(i);
      found.leverage[first + i] = q.col(i).squaredNorm();
    }
    if (columns) columns->middleRows(first, some) = q.transpose();
  });
  return found;
}

// The Gram matrix of [A T], whose last rows are TᵀA.
template <class Scalar>
MatrixD joint_gram(Design<Scalar>& design, const RidgeState<Scalar>& state, Team& team) {
  const Index outputs = state.outputs();
  return gram(state.blocks, design.columns() + outputs, team,
              [&](RowRange range, MatrixMap<double> out, int worker) {
                design.all_columns(range, out.data(), out.outerStride(), worker);
                out.rightCols(outputs) = state.targets.middleRows(range.first, range.count);
              });
}

// Returns the objective at the readout, measured on the data where the problem is ill-conditioned (zero elsewhere).
template <class Scalar>
double solve_primal(Design<Scalar>& design, RidgeState<Scalar>& state, const MatrixD& joint,
                    const Calibration* calibration, const std::vector<Index>& widths,
                    const Wanted& wanted, StagewiseFit& fit, Team& team) {
  const Index columns = design.columns(), outputs = state.outputs();
  MatrixD normal = joint.topLeftCorner(columns, columns);
  normal.diagonal().array() += state.alpha;
  const KeptCholesky factor(normal, team);
  MatrixD z = factor.compress(joint.bottomLeftCorner(outputs, columns).transpose());
  solve_lower(factor.l, z, team);

  FitHistory& history = fit.history;
  const double energy = state.blocks.complete(state.targets.squaredNorm());
  std::vector<MatrixD> readouts;
  std::vector<Index> kept_before;  // columns in the factor at each width
  for (const Index width : widths) {
    kept_before.push_back(std::lower_bound(factor.kept.begin(), factor.kept.end(), width) -
                          factor.kept.begin());
    MatrixD solution = z.topRows(kept_before.back());
    const double objective = std::max(0.0, energy - solution.squaredNorm());
    solve_lower_transposed(factor.l.topLeftCorner(solution.rows(), solution.rows()), solution,
                           team);
    const MatrixD readout = factor.expand(solution, width);
    history.objective_path.push_back(objective);
    history.residual_path.push_back(std::max(0.0, objective - state.alpha * readout.squaredNorm()));
    readouts.push_back(readout);
  }
  fit.path = path_between(readouts);
  fit.readout = readouts.back();
  double measured = 0;
  if (needs_refinement<double>(factor.worst_pivot)) {
    const double objective =
        refine(design, state, fit.readout, 6, team, [&](const MatrixD& gradient) {
          MatrixD x = factor.compress(gradient);
          solve_lower(factor.l, x, team);
          solve_lower_transposed(factor.l, x, team);
          return factor.expand(x, columns);
        });
    measured = objective;
    history.objective_path.back() = std::min(history.objective_path.back(), objective);
    history.residual_path.back() =
        std::max(0.0, history.objective_path.back() - state.alpha * fit.readout.squaredNorm());
  }
  if (!calibration) return measured;
  MatrixD q;
  const CalibrationState last = calibration_state(design, state, *calibration, factor, fit.readout,
                                                  wanted.path_links ? &q : nullptr, team);
  fit.link = calibration->link(last);
  if (!wanted.path_links) return measured;
  const CalibrationState nothing{state.targets(calibration->rows(), Eigen::all),
                                 VectorD::Zero(q.rows())};
  fit.path_links = calibration->links(nothing, q, z, kept_before);
  return measured;
}

// Returns the objective at the readout, measured on the data where the problem is ill-conditioned (zero elsewhere).
template <class Scalar>
double solve_dual(Design<Scalar>& design, RidgeState<Scalar>& state, const Calibration* calibration,
                  const std::vector<Index>& widths, const Wanted& wanted, StagewiseFit& fit,
                  Team& team) {
  FitHistory& history = fit.history;
  std::vector<MatrixD> readouts;
  double measured = 0;
  for (const Index width : widths) {
    const bool is_last = width == widths.back();
    DualFactor<Scalar> factor(design, state, width - design.fixed(), team);
    factor.initialize(state, team);
    fit.readout = factor.readout(design, team).topRows(width);
    readouts.push_back(fit.readout);
    // Each size is factorised anew. In exact arithmetic the objective never rises, but rounding may make it.
    const bool first = history.objective_path.empty();
    history.objective_path.push_back(
        first ? state.objective : std::min(state.objective, history.objective_path.back()));
    history.residual_path.push_back(state.residual_energy);
    if (calibration && (is_last || wanted.path_links)) {
      fit.link = calibration->link(state.of_rows(calibration->rows()));
      if (wanted.path_links) fit.path_links.push_back(fit.link);
    }
    if (is_last && needs_refinement<double>(state.worst_pivot)) {
      const double objective =
          refine(design, state, fit.readout, 4, team,
                 [&](const MatrixD& gradient) { return factor.solve(gradient, design, team); });
      measured = objective;
      history.objective_path.back() = std::min(history.objective_path.back(), objective);
    }
  }
  fit.path = path_between(readouts);
  return measured;
}

// Whether the dual form takes fewer operations. It factorises anew at every width; the primal form once for all.
bool dual_is_cheaper(Index rows, const std::vector<Index>& widths) {
  const double n = static_cast<double>(rows), columns = static_cast<double>(widths.back());
  double dual = 0;
  for (const Index width : widths) dual += n * n * (static_cast<double>(width) + n / 3);
  return dual < columns * columns * (n + columns / 3);
}

}  // namespace

template <class Scalar>
void fit_one_shots(Design<Scalar>& design, const RowBlocks& blocks, const Targets& targets,
                   const StagewiseSettings& settings, const std::vector<double>& alphas,
                   const Wanted& wanted, Team& team, const TakeFit& take) {
  const MatrixD weighted_targets = design.weighted(targets.values());
  std::optional<Calibration> calibration;
  if (wanted.link || wanted.path_links) {
    calibration.emplace(targets, design.weights(), blocks);
  }
  const Calibration* calibrates = calibration ? &*calibration : nullptr;
  StagewiseFit drawn;
  drawn.link = Link::identity(targets.outputs());
  std::vector<Index> widths = keep_all(design, drawn, team);
  if (wanted.only_sizes) widths = {widths.front(), widths.back()};
  add_widths(widths, wanted.sizes, design.fixed() + design.source().features());
  for (const Index width : widths) drawn.history.units_path.push_back(width - widths.front());
  drawn.history.best_stage = drawn.history.stages();
  const bool pays = dual_is_cheaper(design.rows(), widths) && blocks.reduction() == nullptr;
  MatrixD joint;  // as soon as it is needed
  for (const double alpha : alphas) {
    RidgeState<Scalar> state(blocks, weighted_targets, alpha, calibrates != nullptr);
    const bool dual = settings.solver == Solver::dual ||
                      (settings.solver == Solver::automatic && alpha > 0 && pays);
    StagewiseFit fit = drawn;
    double best = std::numeric_limits<double>::infinity();
    bool solved = false;
    if (dual) {
      try {
        best = solve_dual(design, state, calibrates, widths, wanted, fit, team);
        solved = agree(best, fit.history.objective_path.back(), state.targets);
        if (!solved && settings.solver == Solver::dual) throw dual_form_is_singular();
      } catch (const std::domain_error&) {  // the penalty is below the rounding of AAᵀ
        if (settings.solver == Solver::dual) throw;
      }
    }
    if (!solved) {  // both forms may be at the end of their precision: the better one counts
      if (joint.size() == 0) joint = joint_gram(design, state, team);
      StagewiseFit attempt = drawn;
      if (solve_primal(design, state, joint, calibrates, widths, wanted, attempt, team) < best) {
        fit = std::move(attempt);
      }
    }
    take(std::move(fit));
  }
}

template <class Scalar>
StagewiseFit fit_one_shot(Design<Scalar>& design, const RowBlocks& blocks, const Targets& targets,
                          const StagewiseSettings& settings, const Wanted& wanted,
                          const Observer& observer, Team& team) {
  Stopwatch clock;
  StagewiseFit fit;
  fit_one_shots(design, blocks, targets, settings, {settings.alpha}, wanted, team,
                [&](StagewiseFit found) { fit = std::move(found); });
  fit.profile.total = clock.lap();
  if (observer) {
    const FitHistory& history = fit.history;
    observer({history.stages() - 1, history.units_path.back(), design.source().max_units(),
              history.objective_path.back(), history.residual_path.back(),
              std::numeric_limits<double>::quiet_NaN()});
  }
  return fit;
}

#define STAGENETS_INSTANTIATE(Scalar)                                                           \
  template void fit_one_shots<Scalar>(Design<Scalar>&, const RowBlocks&, const Targets&,        \
                                      const StagewiseSettings&, const std::vector<double>&,     \
                                      const Wanted&, Team&, const TakeFit&);                    \
  template StagewiseFit fit_one_shot<Scalar>(Design<Scalar>&, const RowBlocks&, const Targets&, \
                                             const StagewiseSettings&, const Wanted&,           \
                                             const Observer&, Team&);
STAGENETS_INSTANTIATE(float)
STAGENETS_INSTANTIATE(double)
#undef STAGENETS_INSTANTIATE

}  // namespace stagenets
