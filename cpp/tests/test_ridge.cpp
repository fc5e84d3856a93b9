// The growing factor against a direct solution, with and without row weights, in both forms.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>

#include "stagenets/given_units.hpp"
#include "stagenets/scores.hpp"
#include "stagenets/stagewise_run.hpp"

using namespace stagenets;

namespace {

struct Problem {
  MatrixD inputs, targets;
  std::vector<MatrixD> pools;
  VectorD weights;
};

Problem make_problem(Index n, Index p, Index q, int stages, Index pool) {
  Problem problem{MatrixD::Random(n, p), MatrixD::Random(n, q), {}, VectorD(n)};
  for (int s = 0; s < stages; ++s) problem.pools.push_back(MatrixD::Random(n, pool));
  // Weights from 0 to 2, some of them exactly 0.
  for (Index i = 0; i < n; ++i) problem.weights[i] = static_cast<double>(i % 5) / 2;
  return problem;
}

// work(design, blocks, team) on the problem's inputs and pools, up to so many units.
template <class Work>
MatrixD with_design(const Problem& problem, Index units, const StagewiseSettings& settings,
                    bool weighted, int threads, Work&& work) {
  const Index n = problem.inputs.rows();
  RowWeights weights;
  if (weighted) weights.roots = problem.weights.cwiseSqrt();
  const Inputs<double> inputs(
      InputView<double>{problem.inputs.data(), n, problem.inputs.cols(), false});
  GivenUnits source([&](Index stage, Index) { return problem.pools[stage]; }, n, units, settings);
  const RowBlocks blocks(n, 32);
  Team::run(threads, nullptr, [&](Team& team) {
    Design<double> design(inputs, true, true, source, weights, team.size());
    work(design, blocks, team);
  });
  return source.kept();
}

StagewiseFit fit(const Problem& problem, Index units, const StagewiseSettings& settings,
                 bool weighted, int threads, MatrixD& hidden, const Wanted& wanted = {},
                 Task task = Task::numbers) {
  StagewiseFit result;
  const Targets targets(task, problem.targets);
  hidden = with_design(problem, units, settings, weighted, threads,
                       [&](Design<double>& design, const RowBlocks& blocks, Team& team) {
                         result = fit_stagewise(design, blocks, targets, settings, wanted, nullptr,
                                                team);
                       });
  return result;
}

// Ω of the weighted ridge problem on [1, inputs, hidden], by the normal equations.
MatrixD direct(const Problem& problem, const MatrixD& hidden, double alpha, bool weighted,
               double& objective) {
  const Index n = problem.inputs.rows();
  MatrixD a(n, 1 + problem.inputs.cols() + hidden.cols());
  a << VectorD::Ones(n), problem.inputs, hidden;
  const VectorD w = weighted ? problem.weights : VectorD(VectorD::Ones(n));
  const MatrixD normal =
      a.transpose() * w.asDiagonal() * a + alpha * MatrixD::Identity(a.cols(), a.cols());
  const MatrixD omega = normal.ldlt().solve(a.transpose() * w.asDiagonal() * problem.targets);
  const MatrixD residual = problem.targets - a * omega;
  objective = (w.asDiagonal() * residual.cwiseAbs2()).sum() + alpha * omega.squaredNorm();
  return omega;
}

}  // namespace

TEST_CASE("the readout and the objective are those of the weighted ridge problem") {
  for (const bool weighted : {false, true}) {
    for (const Solver solver : {Solver::primal, Solver::dual, Solver::automatic}) {
      for (const Selection selection : {Selection::residual, Selection::joint, Selection::random}) {
        // 1 + 4 + 60 columns on 150 rows, and on 40: there "auto" changes over on the way.
        for (const Index n : {150, 40}) {
          const Problem problem =
              make_problem(n, 4, 3, 30, selection == Selection::random ? 60 : 70);
          StagewiseSettings settings;
          settings.alpha = 0.5;
          settings.solver = solver;
          settings.selection = selection;
          settings.pool = problem.pools[0].cols();
          settings.block = 2;
          MatrixD hidden;
          const StagewiseFit result = fit(problem, 60, settings, weighted, 2, hidden);
          const std::vector<double>& objectives = result.history.objective_path;
          double objective;
          const MatrixD omega = direct(problem, hidden, 0.5, weighted, objective);
          CHECK((result.readout - omega).norm() < 1e-9 * omega.norm());
          CHECK(objectives.back() == doctest::Approx(objective).epsilon(1e-10));
          const ReadoutPath& path = result.path;
          CHECK((path.start + path.directions * path.steps - omega).norm() < 1e-9 * omega.norm());
          for (std::size_t t = 1; t < objectives.size(); ++t) {
            CHECK(objectives[t] <= objectives[t - 1]);
          }
        }
      }
    }
  }
}

TEST_CASE("temperatures along a path are those of networks fitted to those sizes") {
  for (const Solver solver : {Solver::primal, Solver::dual, Solver::automatic}) {
    for (const Selection selection : {Selection::residual, Selection::joint}) {
      for (const bool weighted : {false, true}) {
        Problem problem = make_problem(30, 3, 3, 40, 12);  // "auto" changes over at 26 units
        for (Index i = 0; i < 30; ++i) {  // the sign of an input, but for every fourth row
          const Index label = i % 4 == 0 ? 2 : problem.inputs(i, 0) > 0 ? 1 : 0;
          problem.targets.row(i) = Eigen::RowVector3d::Unit(label);
        }
        StagewiseSettings settings;
        settings.alpha = 5;
        settings.solver = solver;
        settings.selection = selection;
        settings.pool = 12;
        settings.block = 2;
        Wanted path_wanted, one_wanted;
        path_wanted.path_links = one_wanted.link = true;
        const std::vector<Index> sizes{1, 4, 7, 25, 30};
        const Targets targets(Task::one_label, problem.targets);
        std::vector<Link> path;
        with_design(problem, 30, settings, weighted, 1,
                    [&](Design<double>& design, const RowBlocks& blocks, Team& team) {
                      StagewiseRun<double> run(design, blocks, targets, settings, path_wanted,
                                               team);
                      for (Index stage = 0; !run.finished(); ++stage) {
                        design.source().draw(stage, run.plan(), team);
                        const VectorD scores = score_pool(design, {&run.state()}, {}, team);
                        run.end_stage(stage, rank_pool(scores), nullptr);
                      }
                      path = run.trace(sizes).path_links;
                    });
        REQUIRE(path.size() == sizes.size());
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          MatrixD hidden;
          const StagewiseFit one =
              fit(problem, sizes[i], settings, weighted, 1, hidden, one_wanted, Task::one_label);
          CHECK(path[i].temperatures[0] == doctest::Approx(one.link.temperatures[0]).epsilon(1e-6));
        }
      }
    }
  }
}

TEST_CASE("a candidate that adds nothing is passed over for the next best") {
  Problem problem = make_problem(50, 2, 1, 1, 4);
  problem.pools[0].col(2) = problem.pools[0].col(0);  // a twin of the best
  problem.pools[0].col(0) = problem.targets + 0.01 * problem.pools[0].col(1);
  problem.pools[0].col(2) = problem.pools[0].col(0);
  StagewiseSettings settings;
  settings.alpha = 1e-18;
  settings.pool = 4;
  settings.block = 2;
  MatrixD hidden;
  const auto selected = fit(problem, 2, settings, false, 1, hidden).history.selected;
  REQUIRE(selected.size() == 2);
  CHECK(selected[0][1] == 0);
  CHECK(selected[1][1] != 2);
}
