// Rows spread over two "machines", each a thread with its own inputs, design and factor, that meet only where
// sums over rows are completed: together they make the fit that one of them would make of all rows.
#include <doctest/doctest.h>

#include "machines.hpp"
#include "stagenets/affine_units.hpp"
#include "stagenets/broad_units.hpp"
#include "stagenets/stagewise.hpp"

using namespace stagenets;

namespace {

enum class Kind { affine, broad };

struct Problem {
  MatrixD inputs, targets;
  VectorD roots;  // of the weights
};

Problem make_problem(Index rows) {
  Problem problem{MatrixD::Random(rows, 6), MatrixD(rows, 2), VectorD(rows)};
  problem.inputs.col(2).array() += 5;
  problem.inputs.col(4) *= 30;
  const auto x = problem.inputs.array();
  problem.targets.col(0) = (3 * x.col(0)).sin() + x.col(1) * x.col(3);
  problem.targets.col(1) = (x.col(2) - 5).square() - (x.col(4) / 10).tanh();
  for (Index i = 0; i < rows; ++i) problem.roots[i] = std::sqrt(static_cast<double>(i % 4));
  return problem;
}

Problem share_of(const Problem& problem, Index first, Index count) {
  return {problem.inputs.middleRows(first, count), problem.targets.middleRows(first, count),
          problem.roots.segment(first, count)};
}

std::shared_ptr<const Architecture> architecture_of(Kind kind, Index units) {
  if (kind == Kind::affine) {
    return std::make_shared<AffineArchitecture>(units, Activation::tanh, true);
  }
  auto broad = std::make_shared<BroadArchitecture>();
  broad->windows = 2;
  broad->window_nodes = 5;
  broad->enhancement = units - 10;
  return broad;
}

StagewiseFit fit(const Problem& problem, Kind kind, Index units, const StagewiseSettings& settings,
                 const Reduction* reduction) {
  const Index rows = problem.inputs.rows();
  const auto architecture = architecture_of(kind, units);
  const Targets targets(Task::numbers, problem.targets);
  Wanted wanted;
  wanted.left_out_path = !settings.one_shot();
  StagewiseFit result;
  Team::run(1, nullptr, [&](Team& team) {
    Inputs<double> inputs(
        InputView<double>{problem.inputs.data(), rows, problem.inputs.cols(), false});
    inputs.learn_scales(Scaling::deviation, problem.roots.data(), team, reduction);
    const RowBlocks blocks = RowBlocks(rows, 64).completed_by(reduction);
    const Targets scaled = targets.scaled(targets.scaling(problem.roots.data(), blocks));
    WeightDraws draws;
    draws.seed = 5;
    const auto source = architecture->units(
        TrainingRows<double>{inputs, blocks, problem.roots.data(), draws, settings, team});
    const RowWeights weights{problem.roots, {}, {}, nullptr, {}};
    Design<double> design(inputs, true, architecture->links_inputs(), *source, weights, 1);
    result = fit_stagewise(design, blocks, scaled, settings, wanted, nullptr, team);
  });
  return result;
}

// What each machine finds.
std::array<StagewiseFit, kMachines> fit_apart(const Problem& problem, Kind kind, Index units,
                                              const StagewiseSettings& settings) {
  const Index rows = problem.inputs.rows(), cut = 2 * rows / 3 + 5;
  const std::array<Problem, kMachines> shares{share_of(problem, 0, cut),
                                              share_of(problem, cut, rows - cut)};
  return on_two_machines([&](int machine, const Reduction& reduction) {
    return fit(shares[static_cast<std::size_t>(machine)], kind, units, settings, &reduction);
  });
}

}  // namespace

TEST_CASE("rows on two machines make the fit of all rows on one") {
  const Problem problem = make_problem(700);
  for (const Kind kind : {Kind::affine, Kind::broad}) {
    for (const Selection selection : {Selection::residual, Selection::joint, Selection::random}) {
      StagewiseSettings settings;
      settings.alpha = 0.1;
      settings.solver = Solver::primal;
      settings.pool = 40;
      settings.block = 2;
      settings.selection = selection;
      const StagewiseFit whole = fit(problem, kind, 30, settings, nullptr);
      for (const StagewiseFit& part : fit_apart(problem, kind, 30, settings)) {
        CHECK(part.history.selected == whole.history.selected);
        REQUIRE(part.readout.rows() == whole.readout.rows());
        const double gap = (part.readout - whole.readout).norm() / whole.readout.norm();
        // Codes of the sparse autoencoder are corners: sums in another order move them a little more.
        CHECK(gap < (kind == Kind::affine ? 1e-10 : 1e-8));
        CHECK(part.history.objective_path.back() ==
              doctest::Approx(whole.history.objective_path.back()).epsilon(1e-10));
        REQUIRE(part.history.loo_error_path.size() == whole.history.loo_error_path.size());
        for (std::size_t t = 0; t < whole.history.loo_error_path.size(); ++t) {
          CHECK(part.history.loo_error_path[t] ==
                doctest::Approx(whole.history.loo_error_path[t]).epsilon(1e-9));
        }
      }
    }
  }
}

TEST_CASE("candidates are scored on the same rows wherever these are") {
  const Problem problem = make_problem(9000);
  StagewiseSettings settings;
  settings.solver = Solver::primal;
  settings.score_fraction = 0.3;
  const StagewiseFit whole = fit(problem, Kind::affine, 12, settings, nullptr);
  const auto fits = fit_apart(problem, Kind::affine, 12, settings);
  CHECK(fits[0].history.selected == fits[1].history.selected);
  CHECK(fits[0].readout == fits[1].readout);
  CHECK(fits[0].history.unit_scores == fits[1].history.unit_scores);
  CHECK(fits[0].history.selected == whole.history.selected);
  for (std::size_t i = 0; i < whole.history.unit_scores.size(); ++i) {
    CHECK(fits[0].history.unit_scores[i] ==
          doctest::Approx(whole.history.unit_scores[i]).epsilon(1e-10));
  }
}

TEST_CASE("the dual form refuses rows that are not all there") {
  const Problem problem = make_problem(40);
  StagewiseSettings settings;
  settings.solver = Solver::dual;
  for (const Selection selection : {Selection::residual, Selection::random}) {
    settings.selection = selection;
    CHECK_NOTHROW(fit(problem, Kind::affine, 12, settings, nullptr));
    struct Alone final : Reduction {
      void add(double*, Index) const override {}
      void least(double*, Index) const override {}
      void greatest(double*, Index) const override {}
      VectorD gather(const VectorD& values) const override { return values; }
      Index process() const override { return 0; }
    };
    const Alone alone;
    CHECK_THROWS_AS(fit(problem, Kind::affine, 12, settings, &alone), std::logic_error);
  }
}
