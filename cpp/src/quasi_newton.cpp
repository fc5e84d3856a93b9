#include "stagenets/quasi_newton.hpp"

#include <vector>

namespace stagenets {
namespace {

double inner(const MatrixD& a, const MatrixD& b) { return a.cwiseProduct(b).sum(); }

void extend(MatrixD& values, Index rows) {
  const Index before = values.rows();
  values.conservativeResize(before + rows, Eigen::NoChange);
  values.bottomRows(rows).setZero();
}

}  // namespace

void QuasiNewton::remember(MatrixD step, MatrixD change) {
  constexpr std::size_t kMost = 20;
  const double curvature = inner(step, change);
  if (!(curvature > 1e-12 * step.norm() * change.norm())) return;
  if (pairs_.size() == kMost) pairs_.pop_front();
  pairs_.push_back({std::move(step), std::move(change), curvature});
}

MatrixD QuasiNewton::unmodelled(MatrixD columns, const Eigen::RowVectorXd& steps,
                                Team& team) const {
  if (model_.size() == 0) return columns * steps.asDiagonal();
  solve_lower(model_, columns, team);
  solve_lower_transposed(model_, columns, team);
  return columns;
}

// The two-loop recursion. The last step tells the size of the unknown.
MatrixD QuasiNewton::direction(const MatrixD& gradient, const Eigen::RowVectorXd& steps,
                               Team& team) const {
  MatrixD result = -gradient;
  std::vector<double> shares(pairs_.size());
  for (std::size_t i = pairs_.size(); i-- > 0;) {
    shares[i] = inner(pairs_[i].step, result) / pairs_[i].curvature;
    result -= shares[i] * pairs_[i].change;
  }
  result = unmodelled(std::move(result), steps, team);
  if (!empty()) {
    const Pair& last = pairs_.back();
    result *= last.curvature / inner(last.change, unmodelled(last.change, steps, team));
  }
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const double share = inner(pairs_[i].change, result) / pairs_[i].curvature;
    result += (shares[i] - share) * pairs_[i].step;
  }
  return result;
}

void QuasiNewton::grow(Index rows) {
  model_.resize(0, 0);
  for (Pair& pair : pairs_) {
    extend(pair.step, rows);
    extend(pair.change, rows);
  }
}

}  // namespace stagenets
