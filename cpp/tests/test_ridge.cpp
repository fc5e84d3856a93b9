// The growing factor against a direct solution, with and without row weights, in both forms.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>

#include "residuum/given_units.hpp"
#include "residuum/stagewise.hpp"

using namespace residuum;

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

StagewiseFit fit(const Problem& problem, const StagewiseSettings& settings, bool weighted,
                 int threads, MatrixD& hidden) {
  const Index n = problem.inputs.rows();
  const VectorD roots = problem.weights.cwiseSqrt();
  const Inputs<double> inputs(problem.inputs.data(), n, problem.inputs.cols(), false);
  const Index pool = problem.pools[0].cols();
  GivenUnits source([&](Index stage, Index) { return problem.pools[stage]; }, n,
                    Budget{settings.max_units, pool, 2, settings.selection == Selection::random});
  const RowBlocks blocks(n, 32);
  StagewiseFit result;
  Team::run(threads, nullptr, [&](Team& team) {
    Design<double> design(inputs, true, true, source, weighted ? roots.data() : nullptr,
                          team.size());
    result = fit_stagewise(design, blocks, problem.targets, settings, nullptr, team);
  });
  hidden = source.kept();
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
          settings.max_units = 60;
          settings.selection = selection;
          settings.block = 2;
          MatrixD hidden;
          const StagewiseFit result = fit(problem, settings, weighted, 2, hidden);
          double objective;
          const MatrixD omega = direct(problem, hidden, 0.5, weighted, objective);
          CHECK((result.readout - omega).norm() < 1e-9 * omega.norm());
          CHECK(result.objective_path.back() == doctest::Approx(objective).epsilon(1e-10));
          const ReadoutPath& path = result.path;
          CHECK((path.start + path.directions * path.steps - omega).norm() < 1e-9 * omega.norm());
          for (std::size_t t = 1; t < result.objective_path.size(); ++t) {
            CHECK(result.objective_path[t] <= result.objective_path[t - 1]);
          }
        }
      }
    }
  }
}

TEST_CASE("leave-one-out scores are those of refitting without the row") {
  for (const Solver solver : {Solver::primal, Solver::dual}) {
    for (const Selection selection : {Selection::residual, Selection::random}) {
      Problem problem = make_problem(60, 3, 2, 6, 12);
      StagewiseSettings settings;
      settings.solver = solver;
      settings.max_units = 12;
      settings.selection = selection;
      settings.block = 2;
      settings.loo_scores = true;
      MatrixD hidden;
      const StagewiseFit result = fit(problem, settings, false, 1, hidden);
      REQUIRE(result.loo_rows.size() == 60);
      for (const Index row : {0, 17, 59}) {
        problem.weights.setOnes();
        problem.weights[row] = 0;
        double objective;
        const MatrixD omega = direct(problem, hidden, settings.alpha, true, objective);
        Eigen::RowVectorXd design(omega.rows());
        design << 1, problem.inputs.row(row), hidden.row(row);
        CHECK((result.loo_scores.row(row) - design * omega).norm() < 1e-9);
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
  settings.block = 2;
  settings.max_units = 2;
  MatrixD hidden;
  const StagewiseFit result = fit(problem, settings, false, 1, hidden);
  REQUIRE(result.selected.size() == 2);
  CHECK(result.selected[0][1] == 0);
  CHECK(result.selected[1][1] != 2);
}
