// What readouts minimise, row by row, besides the penalty, where that is not the squared error:
//
//   log       ℓ = −log softmax(scores)[label], or Σ −log σ(±score) where rows have several labels
//   huber     r² for errors r of numbers up to δ, 2δ|r| − δ² beyond
//   bounded   (1 − exp(−q ℓ))/q, of the log-loss ℓ of a label or, with q = 1/c², of ℓ = r²
//
// All that a readout needs to know is the errors −∂loss/∂score, and a bound κ on the second derivatives in any direction.
// It is ½ for the softmax (Böhning), ¼ for σ and 2 for r². The last two losses are concave functions of ℓ with a slope of
// at most one, which is the weight that a row has in them, so the same bounds hold. δ and c are multiples of a scale for
// each output, the typical size of its errors.
#pragma once

#include <utility>

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
  RowLoss(Loss loss, Task task) : loss_(loss), task_(task) {}

  // κ
  double curvature_bound() const;
  // The penalty of the ridge problem whose Hessian, times κ, bounds that of the loss and its penalty.
  double majorizing_penalty(double alpha) const;
  // Whether units are to be chosen by the errors of this loss: those of r² would be drawn to the rows that it ignores.
  bool chooses_units() const { return loss_ != Loss::log; }

  bool has_scales() const { return task_ == Task::numbers; }
  const Eigen::RowVectorXd& scales() const { return scales_; }
  void set_scales(Eigen::RowVectorXd scales) { scales_ = std::move(scales); }

  struct Sums {
    double loss = 0;
    double curvature = 0;  // about, the mean over the outputs
  };
  // Replaces the scores of some rows, without weights, by their errors.
  Sums to_errors(MatrixD& scores, const Eigen::Ref<const MatrixD>& targets,
                 const BlockWeights& weights) const;

 private:
  Loss loss_;
  Task task_;
  Eigen::RowVectorXd scales_;
};

// The deviation of a normal distribution with the same median of |values|, column by column; rows count by the squares of
// `roots`, all the same if it is null.
Eigen::RowVectorXd typical_sizes(const MatrixD& values, const double* roots);
// The median of each column, in the same sense.
Eigen::RowVectorXd medians(const MatrixD& values, const double* roots);

}  // namespace stagenets
