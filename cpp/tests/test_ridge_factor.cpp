// The growing primal factor, step by step, against ridge problems solved anew in long double.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "random_matrix.hpp"
#include "stagenets/affine_units.hpp"
#include "stagenets/ridge_factor.hpp"

using namespace stagenets;

namespace {

using Exact = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

struct Data {
  MatrixD x, targets;
  VectorD weights;
  UnitWeights pool;  // the same in every stage

  // All candidates on all rows.
  MatrixD units() const {
    return ((x * pool.weights).rowwise() + pool.biases.transpose()).array().tanh();
  }
  // [1, x, these candidates], rows scaled by the roots of their weights.
  Exact design(const std::vector<Index>& candidates) const {
    MatrixD a(x.rows(), 1 + x.cols() + static_cast<Index>(candidates.size()));
    a << VectorD::Ones(x.rows()), x, MatrixD(units()(Eigen::all, candidates));
    return (weights.cwiseSqrt().asDiagonal() * a).cast<long double>();
  }
  Exact weighted_targets() const {
    return (weights.cwiseSqrt().asDiagonal() * targets).cast<long double>();
  }
};

// Rows whose weights are 1, or from 0 to 1.5.
Data make_data(Index rows, Index inputs, Index candidates, bool weighted) {
  Data data{random_matrix(rows, inputs, 1),
            random_matrix(rows, 2, 2),
            VectorD::Ones(rows),
            {random_matrix(inputs, candidates, 3), random_matrix(candidates, 1, 4)}};
  data.x = data.x.cast<float>().cast<double>();
  data.pool.weights = data.pool.weights.cast<float>().cast<double>() / std::sqrt(double(inputs));
  data.pool.biases = data.pool.biases.cast<float>().cast<double>();
  for (Index i = 0; weighted && i < rows; ++i) data.weights[i] = static_cast<double>(i % 4) / 2;
  return data;
}

// The ridge problem on a design.
struct Solved {
  Solved(const Exact& design, const Exact& targets, double alpha)
      : a(design),
        normal(a.transpose() * a +
               static_cast<long double>(alpha) * Exact::Identity(design.cols(), design.cols())),
        readout(normal.llt().solve(a.transpose() * targets)),
        residual(targets - a * readout),
        objective(static_cast<double>(residual.squaredNorm() + alpha * readout.squaredNorm())),
        leverage((a * normal.llt().solve(a.transpose())).diagonal()) {}

  Exact a, normal, readout, residual;
  double objective;
  Exact leverage;
};

template <class Scalar>
bool close(const Matrix<double>& actual, const Exact& expected, double tolerance) {
  if (actual.rows() != expected.rows() || actual.cols() != expected.cols()) return false;
  const double size = 1e-300 + static_cast<double>(expected.norm());
  const bool single = std::is_same_v<Scalar, float>;
  return (actual - expected.cast<double>()).norm() <= (single ? 2e-5 : tolerance) * size;
}

// The first columns chosen of those projected, as a fit would choose them.
Choice choose(const Projection& projection, const std::vector<Index>& columns) {
  Choice choice;
  choice.columns = columns;
  const MatrixD schur = projection.schur(columns, columns);
  const MatrixD gain = projection.residual_gain(columns, Eigen::all);
  choice.schur_factor = MatrixD::Zero(schur.rows(), schur.rows());
  for (Index i = 0; i < schur.rows(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      const double rest =
          schur(i, j) - choice.schur_factor.row(i).head(j).dot(choice.schur_factor.row(j).head(j));
      // Where a column depends on others, rounding may leave anything.
      const double norm = projection.penalized_norm[columns[static_cast<std::size_t>(i)]];
      choice.schur_factor(i, j) =
          i == j ? std::sqrt(std::max(rest, 1e-15 * norm)) : rest / choice.schur_factor(j, j);
    }
    const double norm = projection.penalized_norm[columns[static_cast<std::size_t>(i)]];
    choice.worst_pivot =
        std::min(choice.worst_pivot, std::pow(choice.schur_factor(i, i), 2) / norm);
  }
  choice.step = choice.schur_factor.triangularView<Eigen::Lower>().solve(gain);
  return choice;
}

template <class Scalar>
MatrixD residual_of(const RidgeState<Scalar>& state) {
  MatrixD residual(state.blocks.rows(), state.outputs());
  for (Index b = 0; b < state.blocks.blocks(); ++b) {
    const RowRange range = state.blocks.block(b);
    residual.middleRows(range.first, range.count) =
        state.residual.block(b, 0, state.outputs()).template cast<double>();
  }
  return residual;
}

// work(design, source, state, team) with a design on the data.
template <class Scalar, class Work>
void with_state(const Data& data, Index units, double alpha, int threads, Work&& work) {
  const Matrix<Scalar> x = data.x.cast<Scalar>();
  const Inputs<Scalar> inputs(InputView<Scalar>{x.data(), x.rows(), x.cols(), false});
  RowWeights weights;
  if (data.weights != VectorD::Ones(x.rows())) weights.roots = data.weights.cwiseSqrt();
  const RowBlocks blocks(x.rows(), 16);
  WeightDraws draws;
  draws.custom = [&](Index, Index, Index) { return data.pool; };
  StagewiseSettings settings;
  settings.pool = data.pool.count();
  const AffineArchitecture architecture(units, Activation::tanh, true);
  Team::run(threads, nullptr, [&](Team& team) {
    const auto source = architecture.units(
        TrainingRows<Scalar>{inputs, blocks, weights.root_data(), draws, settings, team});
    Design<Scalar> design(inputs, true, true, *source, weights, team.size());
    const MatrixD targets = design.weighted(data.targets);
    RidgeState<Scalar> state(blocks, targets, alpha, true);
    work(design, *source, state, team);
  });
}

struct Stage {
  std::vector<Index> projected, chosen;  // candidates, and places among these
};

// Projects and appends; checks both. `kept` are the candidates in the factor.
template <class Scalar>
void check_stage(const Stage& stage, const Data& data, double alpha, std::vector<Index>& kept,
                 RidgeFactor<Scalar>& factor, Design<Scalar>& design,
                 CandidateSource<Scalar>& source, RidgeState<Scalar>& state, double tolerance,
                 Team& team) {
  const Solved before(data.design(kept), data.weighted_targets(), alpha);
  source.draw(0, source.plan(), team);
  source.select(stage.projected);
  const Projection projection = factor.project(design, state, team);
  const Exact g =
      (data.weights.cwiseSqrt().asDiagonal() * MatrixD(data.units()(Eigen::all, stage.projected)))
          .cast<long double>();
  const Exact square =
      g.transpose() * g + static_cast<long double>(alpha) * Exact::Identity(g.cols(), g.cols());
  const Exact overlap = before.a.transpose() * g;
  const Exact schur = square - overlap.transpose() * before.normal.llt().solve(overlap);
  // A difference of squares: exact to the rounding of these.
  CHECK((projection.schur - schur.cast<double>()).norm() <=
        (std::is_same_v<Scalar, float> ? 2e-5 : 1e-10) * static_cast<double>(square.norm()));
  CHECK(close<Scalar>(projection.residual_gain, g.transpose() * before.residual, tolerance));
  CHECK(close<Scalar>(projection.penalized_norm, square.diagonal(), 1e-12));
  Choice choice = choose(projection, stage.chosen);
  const double pivot = std::min(state.worst_pivot, choice.worst_pivot);
  REQUIRE_FALSE(factor.append(choice, projection, design, state, team).has_value());
  std::vector<Index> chosen;
  for (const Index place : stage.chosen) {
    chosen.push_back(stage.projected[static_cast<std::size_t>(place)]);
  }
  kept.insert(kept.end(), chosen.begin(), chosen.end());
  source.select(chosen);
  source.keep_selected();
  source.gather_kept();
  const Solved after(data.design(kept), data.weighted_targets(), alpha);
  CHECK(state.worst_pivot == pivot);
  CHECK(state.objective ==
        doctest::Approx(after.objective).epsilon(std::is_same_v<Scalar, float> ? 1e-5 : tolerance));
  CHECK(close<Scalar>(residual_of(state), after.residual, tolerance));
  CHECK(close<Scalar>(state.leverage, after.leverage, tolerance));
  CHECK(close<Scalar>(factor.readout(design, team), after.readout, tolerance));
  CHECK(state.residual_energy == doctest::Approx(static_cast<double>(after.residual.squaredNorm()))
                                     .epsilon(std::is_same_v<Scalar, float> ? 1e-5 : tolerance));
}

// All that a factor tells of a design with these candidates.
template <class Scalar>
void check_answers(const Data& data, double alpha, const std::vector<Index>& kept,
                   RidgeFactor<Scalar>& factor, Design<Scalar>& design, bool held, bool row_space,
                   double tolerance, Team& team) {
  const Index fixed = design.fixed(), units = static_cast<Index>(kept.size());
  const Solved all(data.design(kept), data.weighted_targets(), alpha);
  const Exact& a = all.a;
  CHECK(factor.width() == factor.fixed_width() + units);
  CHECK(factor.is_wide() == row_space);

  // Q' = AΓ: orthonormal with the columns before it, in the inner product of [A; √λ I].
  const MatrixD gamma = factor.directions(design, team);
  REQUIRE(gamma.rows() == a.cols());
  REQUIRE(gamma.cols() == units);
  const Exact exact_gamma = gamma.cast<long double>();
  CHECK(close<Scalar>((exact_gamma.transpose() * all.normal * exact_gamma).cast<double>(),
                      Exact::Identity(units, units), tolerance));
  for (Index j = 0; j < units; ++j) {
    const Exact below = all.normal.topRows(fixed + j) * exact_gamma.col(j);
    CHECK(static_cast<double>(below.norm()) <
          (std::is_same_v<Scalar, float> ? 1e-4 : tolerance) *
              std::sqrt(static_cast<double>(all.normal.diagonal().maxCoeff())));
  }
  const Exact q = a * exact_gamma;
  if (held) {
    const std::vector<Index> rows{0, 3, 17, data.x.rows() - 1, 3};
    CHECK(close<Scalar>(factor.unit_columns(rows), q(rows, Eigen::all), tolerance));
  } else {
    CHECK_THROWS_AS(factor.unit_columns({0}), std::logic_error);
  }

  // Readouts of the first units, and by another penalty.
  const std::vector<Index> counts{0, 2, units};
  const MatrixD readouts = factor.readouts(counts, design, team);
  REQUIRE(readouts.cols() == 6);
  for (Index i = 0; i < 3; ++i) {
    const std::vector<Index> first(kept.begin(), kept.begin() + counts[std::size_t(i)]);
    const Solved some(data.design(first), data.weighted_targets(), alpha);
    const Index height = some.readout.rows();
    CHECK(close<Scalar>(readouts.block(0, 2 * i, height, 2), some.readout, tolerance));
    CHECK(readouts.block(height, 2 * i, a.cols() - height, 2).isZero(0));
  }
  for (const double other : {alpha * 3, alpha / 4}) {
    const std::optional<ReadoutPath> path = factor.path_by(other, design, team);
    REQUIRE(path.has_value());
    CHECK(path->column_per_unit);
    CHECK(path->ends == std::vector<Index>{0, units});
    for (const Index count : {Index{0}, Index{3}, units}) {
      const std::vector<Index> first(kept.begin(), kept.begin() + count);
      const Solved some(data.design(first), data.weighted_targets(), other);
      const MatrixD readout =
          path->start + path->directions.leftCols(count) * path->steps.topRows(count);
      CHECK(close<Scalar>(readout.topRows(some.readout.rows()), some.readout, tolerance * 10));
    }
  }
  // No penalty makes the matrix negative.
  const double largest = static_cast<double>(all.normal.diagonal().maxCoeff());
  CHECK_FALSE(factor.path_by(-2 * largest, design, team).has_value());

  // λ L⁻¹L⁻ᵀ = I − QᵀQ, in the lower triangle; Q of all coordinates by their readouts.
  const Index width = factor.width();
  const MatrixD of_coordinates = factor.readout_of(MatrixD::Identity(width, width), team);
  const Exact every = a * of_coordinates.cast<long double>();
  const Exact shrinkage = Exact::Identity(width, width) - every.transpose() * every;
  const MatrixD lower = factor.shrinkage(width, team).template triangularView<Eigen::Lower>();
  const Exact expected = shrinkage.triangularView<Eigen::Lower>();
  CHECK((lower - expected.cast<double>()).norm() <
        (std::is_same_v<Scalar, float> ? 1e-4 : tolerance * 10));
  const MatrixD fewer = factor.readout_of(MatrixD::Identity(width - 2, width - 2), team);
  CHECK((fewer - of_coordinates.topLeftCorner(a.cols() - 2, width - 2)).norm() <
        1e-12 * of_coordinates.norm());

  if (row_space) {
    CHECK_THROWS_AS(factor.solve(all.readout.cast<double>(), design, team), std::logic_error);
    return;
  }
  const MatrixD right = random_matrix(a.cols(), 2, 9);
  const MatrixD solution = factor.solve(right, design, team);
  CHECK(close<Scalar>((all.normal * solution.cast<long double>()).cast<double>(),
                      right.cast<long double>(), tolerance * 100));
}

const std::vector<Stage> kStages{
    {{4, 1, 5}, {2, 0}},  // two of three, in another order
    {{0}, {0}},           // one
    {{2, 3, 6, 7, 8, 9, 10, 11, 12}, {0, 1, 2, 3, 4, 5, 6, 7, 8}},  // many, as they come
    {{13, 14}, {1}},                                                // the second of two
};
constexpr Index kUnits = 13;

template <class Scalar>
void check_growth(const Data& data, double alpha, bool row_space, double tolerance) {
  for (const Store store : {Store::memory, Store::recompute}) {
    for (const int threads : {1, 2}) {
      with_state<Scalar>(
          data, kUnits, alpha, threads, [&](auto& design, auto& source, auto& state, Team& team) {
            std::unique_ptr<RowSpace<Scalar>> space;
            if (row_space) space = std::make_unique<RowSpace<Scalar>>(design, state.blocks, team);
            RidgeFactor<Scalar> factor(design, state, {kUnits, 9, 1, store}, std::move(space),
                                       team);
            std::vector<Index> kept;
            const Solved start(data.design(kept), data.weighted_targets(), alpha);
            CHECK(close<Scalar>(residual_of(state), start.residual, tolerance));
            CHECK(close<Scalar>(state.leverage, start.leverage, tolerance));
            CHECK(close<Scalar>(factor.readout(design, team), start.readout, tolerance));
            CHECK(state.objective == doctest::Approx(start.objective).epsilon(1e-10));
            for (const Stage& stage : kStages) {
              check_stage<Scalar>(stage, data, alpha, kept, factor, design, source, state,
                                  tolerance, team);
            }
            check_answers<Scalar>(data, alpha, kept, factor, design, store == Store::memory,
                                  row_space, tolerance, team);
          });
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("a factor that grows is that of the ridge problem so far", Scalar, float,
                   double) {
  for (const bool weighted : {false, true}) {
    check_growth<Scalar>(make_data(70, 3, 15, weighted), 0.8, false, 1e-11);
  }
}

TEST_CASE("more inputs than rows are as good in the space of the rows") {
  check_growth<double>(make_data(40, 60, 15, false), 0.8, true, 1e-10);
  check_growth<double>(make_data(40, 60, 15, true), 0.8, true, 1e-10);
}

TEST_CASE("columns that almost depend on others are orthogonalised twice") {
  // Inputs and units that differ from others by 1e-5 of their size: pivots of 1e-10.
  Data data = make_data(70, 4, 15, false);
  data.x.col(3) = data.x.col(0) + 1e-5 * data.x.col(3);
  for (const Index unit : {0, 2, 9, 14}) {
    data.pool.weights.col(unit) = data.pool.weights.col(4) + 1e-5 * data.pool.weights.col(unit);
    data.pool.biases[unit] = data.pool.biases[4];
  }
  for (const Store store : {Store::memory, Store::recompute}) {
    const double alpha = 1e-9;
    with_state<double>(
        data, kUnits, alpha, 1, [&](auto& design, auto& source, auto& state, Team& team) {
          RidgeFactor<double> factor(design, state, {kUnits, 9, 1, store}, nullptr, team);
          CHECK(state.worst_pivot < 1e-9);
          std::vector<Index> kept;
          for (const Stage& stage : kStages) {
            check_stage<double>(stage, data, alpha, kept, factor, design, source, state, 3e-6,
                                team);
          }
          // Q is orthonormal to rounding, in the inner product of [A; √λ I].
          const Solved all(data.design(kept), data.weighted_targets(), alpha);
          const std::vector<Index> rows = [&] {
            std::vector<Index> every;
            for (Index i = 0; i < 70; ++i) every.push_back(i);
            return every;
          }();
          if (store == Store::recompute) return;
          const MatrixD q = factor.unit_columns(rows);
          const MatrixD shrinkage = factor.shrinkage(factor.width(), team)
                                        .bottomRightCorner(kUnits, kUnits)
                                        .template triangularView<Eigen::Lower>();
          const MatrixD gram = q.transpose() * q;
          const MatrixD sum = gram.triangularView<Eigen::Lower>();
          CHECK((sum + shrinkage - MatrixD::Identity(kUnits, kUnits)).norm() < 1e-10);
        });
  }
}

TEST_CASE("inputs that depend on others are left out, and units that do are refused") {
  Data data = make_data(50, 4, 15, true);
  data.x.col(2) = data.x.col(0);
  for (const Store store : {Store::memory, Store::recompute}) {
    with_state<double>(data, 4, 0.0, 1, [&](auto& design, auto& source, auto& state, Team& team) {
      RidgeFactor<double> factor(design, state, {4, 3, 2, store}, nullptr, team);
      CHECK(factor.fixed_width() == 4);
      source.draw(0, source.plan(), team);
      source.select({3, 8});
      Projection projection = factor.project(design, state, team);
      Choice choice = choose(projection, {0, 1});
      REQUIRE_FALSE(factor.append(choice, projection, design, state, team).has_value());
      source.keep_selected();
      source.gather_kept();
      // Least squares, with nothing for the input that is left out.
      const MatrixD a = data.design({3, 8}).cast<double>(),
                    t = data.weighted_targets().cast<double>();
      const MatrixD readout = factor.readout(design, team);
      CHECK(readout.row(3).isZero(0));
      CHECK((a.transpose() * (t - a * readout)).norm() < 1e-10);
      CHECK((residual_of(state) - (t - a * readout)).norm() < 1e-11);
      const MatrixD gamma = factor.directions(design, team);
      CHECK(gamma.row(3).isZero(0));
      CHECK((a.leftCols(5).transpose() * (a * gamma)).norm() < 1e-11);
      const MatrixD right = a.transpose() * random_matrix(50, 1, 7);
      const MatrixD solution = factor.solve(right, design, team);
      CHECK(solution.row(3).isZero(0));
      CHECK((a.transpose() * (a * solution) - right).norm() < 1e-10 * right.norm());

      // One of three is in the factor already.
      const MatrixD residual = residual_of(state);
      const double objective = state.objective;
      source.select({6, 8, 10});
      projection = factor.project(design, state, team);
      choice = choose(projection, {2, 1});
      CHECK(factor.append(choice, projection, design, state, team) == std::optional<Index>(1));
      CHECK(factor.width() == 6);
      CHECK(state.objective == objective);
      CHECK(residual_of(state) == residual);
      // Without it the others can join.
      source.select({6, 10});
      projection = factor.project(design, state, team);
      choice = choose(projection, {0, 1});
      CHECK_FALSE(factor.append(choice, projection, design, state, team).has_value());
      CHECK(factor.width() == 8);
    });
  }
}
