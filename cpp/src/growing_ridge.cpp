#include "residuum/growing_ridge.hpp"

#include <algorithm>

#include "residuum/cholesky.hpp"
#include "residuum/dual_factor.hpp"
#include "residuum/ridge_factor.hpp"

namespace residuum {
namespace {

// L_s of the Schur complement, column by column. Returns the first column that adds nothing, or -1.
Index factor_schur(const Projection& projection, double tolerance, MatrixD& factor) {
  const MatrixD& schur = projection.schur;
  const Index k = schur.rows();
  factor = MatrixD::Zero(k, k);
  for (Index j = 0; j < k; ++j) {
    for (Index i = 0; i < j; ++i) {
      factor(j, i) =
          (schur(j, i) - factor.row(i).head(i).dot(factor.row(j).head(i))) / factor(i, i);
    }
    const double pivot = schur(j, j) - factor.row(j).head(j).squaredNorm();
    if (!(pivot > tolerance * projection.penalized_norm[j])) return j;
    factor(j, j) = std::sqrt(pivot);
  }
  return -1;
}

}  // namespace

template <class Scalar>
GrowingRidge<Scalar>::GrowingRidge(Design<Scalar>& design, const RowBlocks& blocks,
                                   const MatrixD& weighted_targets,
                                   const StagewiseSettings& settings, Team& team)
    : design_(design),
      team_(team),
      state_(blocks, weighted_targets, settings.alpha, settings.leave_one_out),
      solver_(settings.solver),
      primal_(true),
      width_(design.fixed()) {
  const Index rows = design.rows();
  // Without a penalty the dual form does not exist.
  const bool may_change = solver_ == Solver::automatic && settings.alpha > 0;
  if (solver_ == Solver::dual || (may_change && width_ >= rows)) {
    change_to_dual();
    static_cast<DualFactor<Scalar>&>(*factor_).initialize(state_);
  } else {
    const Index room = may_change ? std::min(settings.max_units, rows - width_) : settings.max_units;
    factor_ = std::make_unique<RidgeFactor<Scalar>>(design, state_, room, team);
    if (!may_change) solver_ = Solver::primal;
  }
  start_ = factor_->readout(design, team);
}

template <class Scalar>
void GrowingRidge<Scalar>::change_to_dual() {
  design_.source().gather_kept();
  if (factor_) primal_directions_ = factor_->directions(design_, team_);
  factor_.reset();  // frees Q before K is made
  factor_ = std::make_unique<DualFactor<Scalar>>(design_, state_, team_);
  primal_ = false;
}

template <class Scalar>
std::vector<Index> GrowingRidge<Scalar>::append(const std::vector<Index>& ranking, Index take) {
  if (primal_ && solver_ == Solver::automatic && width_ + take > design_.rows()) change_to_dual();

  const double tolerance = static_cast<double>(width_ + take) *
                           static_cast<double>(std::numeric_limits<Scalar>::epsilon());
  auto next = ranking.begin() + std::min<Index>(take, static_cast<Index>(ranking.size()));
  std::vector<Index> chosen(ranking.begin(), next);
  while (!chosen.empty()) {
    design_.source().select(chosen);
    const Projection projection = factor_->project(design_, state_, team_);
    MatrixD schur_factor;
    const Index useless = factor_schur(projection, tolerance, schur_factor);
    if (useless < 0) {
      const MatrixD step = factor_->append(projection, schur_factor, state_, team_);
      // ‖R‖² bounds the objective from below, where rounding has eaten the difference.
      const double lowered =
          std::max(state_.objective - step.squaredNorm(), state_.residual_energy);
      state_.objective = std::min(state_.objective, lowered);
      steps_.push_back(step);
      width_ += step.rows();
      design_.source().keep_selected();
      return chosen;
    }
    chosen.erase(chosen.begin() + useless);
    if (next != ranking.end()) chosen.push_back(*next++);
  }
  return chosen;
}

template <class Scalar>
MatrixD GrowingRidge<Scalar>::readout(double& objective) {
  design_.source().gather_kept();
  MatrixD omega = factor_->readout(design_, team_);
  if (needs_refinement<Scalar>(state_.worst_pivot)) {
    const int steps = std::is_same_v<Scalar, float> && primal_ ? 2 : 4;
    objective = std::min(
        objective, refine(design_, state_, omega, steps, team_, [&](const MatrixD& gradient) {
          return factor_->solve(gradient, design_, team_);
        }));
  }
  last_directions_ = factor_->directions(design_, team_);
  return omega;
}

template <class Scalar>
ReadoutPath GrowingRidge<Scalar>::path() const {
  ReadoutPath path;
  const Index units = primal_directions_.cols() + last_directions_.cols();
  path.start = MatrixD::Zero(width_, state_.outputs());
  path.start.topRows(start_.rows()) = start_;
  path.directions = MatrixD::Zero(width_, units);
  path.directions.topLeftCorner(primal_directions_.rows(), primal_directions_.cols()) =
      primal_directions_;
  path.directions.rightCols(last_directions_.cols()) = last_directions_;
  path.steps = MatrixD(units, state_.outputs());
  Index row = 0;
  path.ends.push_back(0);
  for (const MatrixD& step : steps_) {
    path.steps.middleRows(row, step.rows()) = step;
    path.ends.push_back(row += step.rows());
  }
  return path;
}

template class GrowingRidge<float>;
template class GrowingRidge<double>;

}  // namespace residuum
