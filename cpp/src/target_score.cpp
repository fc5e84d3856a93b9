#include "stagenets/target_score.hpp"

#include <cmath>
#include <utility>

namespace stagenets {
namespace {

// The column of the largest value of each row, the first of equals; column by column, as the matrix is stored.
std::vector<Index> largest_columns(const MatrixD& values) {
  const Index rows = values.rows();
  std::vector<Index> columns(static_cast<std::size_t>(rows), 0);
  VectorD largest = values.col(0);
  for (Index c = 1; c < values.cols(); ++c) {
    for (Index i = 0; i < rows; ++i) {
      if (!(values(i, c) > largest[i])) continue;
      largest[i] = values(i, c);
      columns[static_cast<std::size_t>(i)] = c;
    }
  }
  return columns;
}

}  // namespace

Measure measure_for(Loss loss, Task task) {
  if (loss == Loss::log) return Measure::likelihood;
  return loss == Loss::squared || task != Task::numbers ? Measure::usual : Measure::absolute_errors;
}

TargetScore::TargetScore(Targets targets, const VectorD& weights, const RowBlocks& blocks,
                         Measure measure)
    : targets_(std::move(targets)),
      blocks_(blocks),
      weights_(weights.size() > 0 ? weights : VectorD(VectorD::Ones(targets_.rows()))),
      total_(blocks.complete(weights_.sum())),
      measure_(measure) {
  if (targets_.task() != Task::numbers) return;
  const VectorD roots = weights_.cwiseSqrt();
  scaling_ = targets_.scaling(roots.data(), blocks,
                              measure == Measure::absolute_errors ? Center::median : Center::mean);
  spread_ = total_errors(targets_.scaled(scaling_).values());
}

double TargetScore::of(const MatrixD& scores) const {
  // Far beyond the rows of the fit, errors or their squares may overflow; a mean of scores stays a number.
  constexpr double kWorst = -1e300;
  const double score = measure_ == Measure::likelihood    ? log_likelihood(scores)
                       : targets_.task() == Task::numbers ? explained(scores)
                                                          : right(scores);
  return score > kWorst ? score : kWorst;
}

VectorD TargetScore::total_errors(const MatrixD& errors) const {
  VectorD totals = measure_ == Measure::absolute_errors
                       ? VectorD(errors.cwiseAbs().transpose() * weights_)
                       : VectorD(errors.cwiseAbs2().transpose() * weights_);
  blocks_.complete(totals.data(), totals.size());
  return totals;
}

double TargetScore::log_likelihood(const MatrixD& scores) const {
  double sum = 0;
  for (Index i = 0; i < scores.rows(); ++i) {
    const auto row = scores.row(i).array();
    const auto wanted = targets_.values().row(i).array();
    if (targets_.task() == Task::one_label) {
      const double most = row.maxCoeff();
      sum += weights_[i] * ((row * wanted).sum() - most - std::log((row - most).exp().sum()));
    } else {  // log σ(s) of labels that are there, log σ(−s) of the others
      const auto against = ((1 - 2 * wanted) * row).eval();
      sum -= weights_[i] * (against.max(0.0) + (-against.abs()).exp().log1p()).sum();
    }
  }
  return blocks_.complete(sum) / total_;
}

double TargetScore::right(const MatrixD& scores) const {
  const MatrixD& values = targets_.values();
  double sum = 0;
  if (targets_.task() == Task::one_label) {
    const std::vector<Index> wanted = largest_columns(values), given = largest_columns(scores);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] == given[i]) sum += weights_[static_cast<Index>(i)];
    }
  } else {
    for (Index i = 0; i < values.rows(); ++i) {
      const bool all = ((scores.row(i).array() > 0) == (values.row(i).array() > 0.5)).all();
      if (all) sum += weights_[i];
    }
  }
  return blocks_.complete(sum) / total_;
}

double TargetScore::explained(const MatrixD& scores) const {
  const VectorD errors =
      total_errors((targets_.values() - scores).array().rowwise() / scaling_.scale.array());
  double sum = 0;
  for (Index c = 0; c < errors.size(); ++c) {
    // scikit-learn's convention for a constant target.
    sum += spread_[c] > 0 ? 1 - errors[c] / spread_[c] : errors[c] > 0 ? 0.0 : 1.0;
  }
  return sum / static_cast<double>(errors.size());
}

}  // namespace stagenets
