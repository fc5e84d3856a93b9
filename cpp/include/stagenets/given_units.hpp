// Candidates computed by the caller: a function returns the n × M activations of a stage's pool, for
// all rows at once. The columns kept are stored, since only that function could compute them again.
#pragma once

#include <functional>

#include "stagenets/input_view.hpp"
#include "stagenets/stagewise.hpp"

namespace stagenets {

class GivenUnits final : public CandidateSource<double> {
 public:
  // pool(stage, count) -> n × count activations.
  using PoolFunction = std::function<MatrixD(Index stage, Index count)>;

  GivenUnits(PoolFunction pool, Index rows, Index units, const StagewiseSettings& stages)
      : pool_function_(std::move(pool)), units_(units), stages_(stages), kept_(rows, units) {}

  Index max_units() const override { return units_; }
  StagePlan plan() const override { return plan_stage(stages_, units_ - kept_count_, kept_count_); }
  void draw(Index stage, const StagePlan& plan, Team&) override {
    pool_ = pool_function_(stage, plan.pool);
  }
  void share_draws_with(const CandidateSource&) override {}
  bool pool_is_common() const override { return false; }
  void select(const std::vector<Index>& candidates) override {
    selected_.resize(pool_.rows(), static_cast<Index>(candidates.size()));
    for (std::size_t j = 0; j < candidates.size(); ++j) selected_.col(j) = pool_.col(candidates[j]);
  }
  void keep_selected() override {
    kept_.middleCols(kept_count_, selected_.cols()) = selected_;
    kept_count_ += selected_.cols();
  }
  void gather_kept() override {}
  Index count(Units units) const override {
    return units == Units::kept ? kept_count_ : matrix(units).cols();
  }
  void evaluate(Units units, RowRange range, double* out, Index leading, double* square_norms,
                Scratch<double>&) const override {
    MatrixMap<double> block(out, range.count, count(units), Eigen::OuterStride<>(leading));
    const MatrixD& values = matrix(units);
    for (Index j = 0; j < block.cols(); ++j) {
      for (Index i = 0; i < range.count; ++i) block(i, j) = values(range[i], j);
    }
    for (Index j = 0; square_norms && j < block.cols(); ++j) {
      square_norms[j] += block.col(j).squaredNorm();
    }
  }

  MatrixD kept() const { return kept_.leftCols(kept_count_); }

 private:
  const MatrixD& matrix(Units units) const {
    return units == Units::pool ? pool_ : units == Units::selected ? selected_ : kept_;
  }

  PoolFunction pool_function_;
  Index units_;
  const StagewiseSettings& stages_;
  MatrixD pool_, selected_, kept_;
  Index kept_count_ = 0;
};

struct GivenFit {
  MatrixD hidden;  // the columns kept
  MatrixD readout;
  FitHistory history;
};

// The stages on such candidates. Targets are used as they are, and `inputs` (n × p, p may be zero) feed the readout.
// There is one weight per row, or null for ones.
GivenFit fit_given_units(const GivenUnits::PoolFunction& pool, const MatrixD& targets,
                         const InputView<double>& inputs, const double* weights, Index units,
                         bool intercept, const StagewiseSettings& settings, int threads,
                         const Team::Poll& poll);

}  // namespace stagenets
