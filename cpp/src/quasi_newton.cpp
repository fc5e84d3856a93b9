#include "stagenets/quasi_newton.hpp"

#include <cmath>
#include <vector>

namespace stagenets {

void QuasiNewton::remember(Coordinates step, Coordinates change) {
  constexpr std::size_t kMost = 20;
  const double curvature = inner(step, change);
  if (!(curvature > 1e-12 * std::sqrt(inner(step, step)) * std::sqrt(inner(change, change))))
    return;
  if (pairs_.size() == kMost) pairs_.pop_front();
  pairs_.push_back({std::move(step), std::move(change), curvature});
}

// The two-loop recursion. The last step tells the size of the unknown.
Coordinates QuasiNewton::direction(const Coordinates& gradient,
                                   const Eigen::RowVectorXd& steps) const {
  Coordinates result = gradient;
  result *= -1;
  std::vector<double> shares(pairs_.size());
  for (std::size_t i = pairs_.size(); i-- > 0;) {
    shares[i] = inner(pairs_[i].step, result) / pairs_[i].curvature;
    result.add(-shares[i], pairs_[i].change);
  }
  result.scale_columns(steps);
  if (!empty()) {
    const Pair& last = pairs_.back();
    Coordinates change = last.change;
    change.scale_columns(steps);
    result *= last.curvature / inner(last.change, change);
  }
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const double share = inner(pairs_[i].change, result) / pairs_[i].curvature;
    result.add(shares[i] - share, pairs_[i].step);
  }
  return result;
}

void QuasiNewton::grow(Index rows) {
  for (Pair& pair : pairs_) {
    pair.step.grow(rows);
    pair.change.grow(rows);
  }
}

}  // namespace stagenets
