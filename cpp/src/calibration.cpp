#include "stagenets/calibration.hpp"

#include <cmath>

#include "stagenets/blas.hpp"

namespace stagenets {
namespace {

std::vector<Index> calibration_rows(Index rows, const double* root_weights,
                                    const RowBlocks& blocks) {
  constexpr Index kMost = 4096;
  std::vector<Index> weighted;
  for (Index row = 0; row < rows; ++row) {
    if (!root_weights || root_weights[row] != 0) weighted.push_back(row);
  }
  const RowNumbers numbers = blocks.number(static_cast<Index>(weighted.size()));
  const Index count = std::min(numbers.all, kMost);
  std::vector<Index> chosen;
  for (Index i = 0; i < count; ++i) {
    const Index number = i * numbers.all / count;
    if (!numbers.holds(number)) continue;
    chosen.push_back(weighted[static_cast<std::size_t>(number - numbers.first)]);
  }
  return chosen;
}

// Rows of all processes from those of each, row by row.
MatrixD gather_rows(const MatrixD& rows, const RowBlocks& blocks) {
  const MatrixD across = rows.transpose();
  const VectorD all = blocks.gather(Eigen::Map<const VectorD>(across.data(), across.size()));
  return Eigen::Map<const MatrixD>(all.data(), rows.cols(), all.size() / rows.cols()).transpose();
}

// By Cramer's rule.
Eigen::Vector2d solution(const Eigen::Matrix2d& a, const Eigen::Vector2d& b) {
  const double determinant = a(0, 0) * a(1, 1) - a(0, 1) * a(1, 0);
  return Eigen::Vector2d(b[0] * a(1, 1) - b[1] * a(0, 1), a(0, 0) * b[1] - a(1, 0) * b[0]) /
         determinant;
}

// The likelihood of one label under σ(slope · x + shift), where x are its scores from their mean.
class LogisticLikelihood {
 public:
  LogisticLikelihood(const VectorD& x, const VectorD& present, const std::vector<double>& weights)
      : x_(x),
        weights_(weights.empty() ? VectorD(VectorD::Ones(x.size()))
                                 : VectorD(Eigen::Map<const VectorD>(weights.data(), x.size()))) {
    const double with = weights_.dot(present), without = weights_.sum() - with;
    const double high = (with + 1) / (with + 2), low = 1 / (without + 2);
    goals_ = (present.array() > 0.5).select(VectorD::Constant(x.size(), high), low);
  }

  // Its negative logarithm, with slope and curvature.
  struct Value {
    double loss = 0;
    Eigen::Vector2d gradient = Eigen::Vector2d::Zero();
    Eigen::Matrix2d hessian = Eigen::Matrix2d::Zero();
  };
  Value at(const Eigen::Vector2d& point) const {
    Value value;
    for (Index i = 0; i < x_.size(); ++i) {
      const double z = point[0] * x_[i] + point[1], power = std::exp(-std::abs(z));
      const double chance = (z > 0 ? 1.0 : power) / (1 + power);
      const Eigen::Vector2d row(x_[i], 1);
      value.loss += weights_[i] * (std::max(z, 0.0) + std::log1p(power) - goals_[i] * z);
      value.gradient += weights_[i] * (chance - goals_[i]) * row;
      value.hessian += weights_[i] * chance * (1 - chance) * row * row.transpose();
    }
    return value;
  }

 private:
  const VectorD& x_;
  VectorD weights_;
  VectorD goals_;
};

}  // namespace

Link Link::identity(Index outputs) {
  return {Eigen::RowVectorXd::Ones(outputs), Eigen::RowVectorXd::Zero(outputs)};
}

Calibration::Calibration(const Targets& targets, const RowWeights& weights, const RowBlocks& blocks)
    : blocks_(blocks),
      rows_(calibration_rows(targets.rows(), weights.root_data(), blocks)),
      targets_(targets.of_rows(rows_).values()),
      roots_(VectorD::Ones(targets_.rows())),
      left_out_(VectorD::Ones(targets_.rows())),
      task_(targets.task()) {
  MatrixD facts(targets_.rows(), targets_.cols() + 1);
  facts.leftCols(targets_.cols()) = targets_;
  for (Index i = 0; i < targets_.rows(); ++i) {
    const Index row = rows_[static_cast<std::size_t>(i)];
    if (weights.root_data()) roots_[i] = weights.roots[row];
    if (weights.left_out_data()) left_out_[i] = weights.left_out[row];
    facts(i, targets_.cols()) = roots_[i] * roots_[i];
  }
  const MatrixD all = gather_rows(facts, blocks);
  wanted_ = all.leftCols(targets_.cols());
  for (Index i = 0; i < all.rows(); ++i) {
    Index label;
    wanted_.row(i).maxCoeff(&label);
    labels_.push_back(label);
    if (weights.root_data()) weights_.push_back(all(i, targets_.cols()));
  }
}

Link Calibration::link(const CalibrationState& state) const {
  MatrixD scores = targets_;
  for (Index i = 0; i < scores.rows(); ++i) {
    const double growth = loo_growth(left_out_[i] * state.leverage[i]);
    scores.row(i) -= state.residual.row(i) * (growth / roots_[i]);
  }
  const MatrixD all = gather_rows(scores, blocks_);
  Link link = Link::identity(all.cols());
  if (task_ == Task::one_label) {
    link.temperatures.setConstant(fit_temperature(all, labels_, weights_));
    return link;
  }
  for (Index c = 0; c < all.cols(); ++c) {
    const Logistic found = fit_logistic(all.col(c), wanted_.col(c), weights_);
    link.temperatures[c] = found.temperature;
    link.thresholds[c] = found.threshold;
  }
  return link;
}

std::vector<Link> Calibration::links(CalibrationState state, const MatrixD& columns,
                                     const MatrixD& steps, const std::vector<Index>& counts) const {
  MatrixD& residual = state.residual;
  std::vector<Link> found;
  Index done = 0;
  for (const Index count : counts) {
    const Index more = count - done;
    blas::gemm<double>(blas::Op::none, blas::Op::none, residual.rows(), residual.cols(), more, -1,
                       columns.data() + done * columns.rows(), columns.rows(), steps.data() + done,
                       steps.rows(), 1, residual.data(), residual.rows());
    state.leverage += columns.middleCols(done, more).rowwise().squaredNorm();
    done = count;
    found.push_back(link(state));
  }
  return found;
}

double fit_temperature(const MatrixD& scores, const std::vector<Index>& labels,
                       const std::vector<double>& weights) {
  // If the scores separate the classes, the likelihood has no maximum: stop at a finite τ.
  constexpr double kLeast = 1e-3, kMost = 1e3;
  const Index outputs = scores.cols();
  double low = kLeast, high = kMost, tau = 1.0;
  for (int iteration = 0; iteration < 60; ++iteration) {
    // The negative log-likelihood is convex in τ: safeguarded Newton steps on its slope.
    double slope = 0, curvature = 0;
    for (Index i = 0; i < scores.rows(); ++i) {
      const double weight = weights.empty() ? 1.0 : weights[i];
      const double top = scores.row(i).maxCoeff();
      double total = 0, mean = 0, square = 0;
      for (Index c = 0; c < outputs; ++c) {
        const double margin = scores(i, c) - top;
        const double share = std::exp(tau * margin);
        total += share;
        mean += share * margin;
        square += share * margin * margin;
      }
      mean /= total;
      slope += weight * (mean - (scores(i, labels[i]) - top));
      curvature += weight * (square / total - mean * mean);
    }
    (slope > 0 ? high : low) = tau;
    double next = curvature > 0 ? tau - slope / curvature : (slope > 0 ? low : high);
    // Tested before the interval: if the slope is mere rounding, a tiny step may leave it.
    if (std::abs(next - tau) <= 1e-10 * tau) return tau;
    if (!(next > low && next < high)) next = std::sqrt(low * high);
    tau = next;
  }
  return tau;
}

// Newton steps with a line search. The temperature is bounded: scores that say nothing are, when left out, a little lower
// where the label is than where it is not.
Logistic fit_logistic(const VectorD& scores, const VectorD& present,
                      const std::vector<double>& weights) {
  constexpr double kLeast = 1e-3, kMost = 1e3, kTolerance = 1e-12;
  constexpr int kSteps = 100;
  const double center = scores.mean();
  const VectorD x = (scores.array() - center).matrix();
  const LogisticLikelihood likelihood(x, present, weights);
  const auto bounded = [&](Eigen::Vector2d point) {
    point[0] = std::clamp(point[0], kLeast, kMost);
    return point;
  };
  // Begin where the scaled scores are of size 1: where they are large, the likelihood is flat and Newton's steps go astray.
  const double size = std::sqrt(x.squaredNorm() / static_cast<double>(x.size()));
  Eigen::Vector2d point = bounded({size > 0 ? 1 / size : 1.0, 0});
  LogisticLikelihood::Value now = likelihood.at(point);
  for (int step = 0; step < kSteps; ++step) {
    const bool at_end =
        (point[0] <= kLeast && now.gradient[0] > 0) || (point[0] >= kMost && now.gradient[0] < 0);
    Eigen::Matrix2d hessian = now.hessian;
    hessian.diagonal().array() += kTolerance * (1 + hessian.trace());
    Eigen::Vector2d direction(0, -now.gradient[1] / hessian(1, 1));
    if (!at_end) direction = -solution(hessian, now.gradient);
    double length = 1;
    Eigen::Vector2d next = bounded(point + direction);
    LogisticLikelihood::Value there = likelihood.at(next);
    while (!(there.loss <= now.loss) && length > 1e-6) {
      length /= 2;
      next = bounded(point + length * direction);
      there = likelihood.at(next);
    }
    if (!(there.loss < now.loss)) break;
    const double gain = now.loss - there.loss;
    point = next;
    now = there;
    if (gain <= kTolerance * now.loss) break;
  }
  return {point[0], center - point[1] / point[0]};
}

}  // namespace stagenets
