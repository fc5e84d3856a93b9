// What readouts minimise, row by row, besides the penalty, where that is not the squared error: the log-loss of one
// label, −log softmax(scores)[label], or of several, Σ −log σ(±score). All that a readout needs to know is the errors
// −∂loss/∂score, and a bound κ on the second derivatives of the loss in any direction: ½ (Böhning) and ¼.
#pragma once

#include "stagenets/settings.hpp"
#include "stagenets/targets.hpp"

namespace stagenets {

// The weights of a block of rows, by whose roots scores and errors are scaled.
class BlockWeights {
 public:
  BlockWeights(const double* roots, RowRange range)
      : roots_(roots ? roots + range.first : nullptr, roots ? range.count : 0) {}

  double sum_of(const VectorD& values) const {
    return roots_.size() > 0 ? roots_.cwiseAbs2().dot(values) : values.sum();
  }
  void scale(MatrixD& rows) const;
  // Rows without weight become zero.
  void unscale(MatrixD& rows) const;

 private:
  Eigen::Map<const VectorD> roots_;
};

class RowLoss {
 public:
  explicit RowLoss(Task task) : task_(task) {}

  // κ
  double curvature_bound() const { return task_ == Task::one_label ? 0.5 : 0.25; }
  // The penalty of the ridge problem whose Hessian, times κ, bounds that of the loss and its penalty α/2 ‖Ω‖².
  double majorizing_penalty(double alpha) const { return alpha / curvature_bound(); }

  struct Sums {
    double loss = 0;
    double curvature = 0;  // the mean over the outputs
  };
  // Replaces the scores of some rows, without weights, by their errors.
  Sums to_errors(MatrixD& scores, const Eigen::Ref<const MatrixD>& targets,
                 const BlockWeights& weights) const;
  // The mean over the outputs of every row's curvatures, from its errors.
  VectorD mean_curvatures(const MatrixD& errors, const Eigen::Ref<const MatrixD>& targets) const;

 private:
  Task task_;
};

}  // namespace stagenets
