// What readouts minimise, row by row, besides the penalty, where that is not the squared error. Of labels:
//
//   log       ℓ = −log softmax(scores)[label], or Σ −log sigmoid(±score) where rows have several labels
//   bounded   (1 − exp(−b ℓ)) / b for each ℓ, where b = 0.7: no row costs more than 1/b
//
// Of numbers, with the error r of an output in units of its scale, z = r/σ:
//
//   huber     σ (c + ρ(z)), where ρ(z) = z² up to ε = 1.345, and 2ε|z| − ε² beyond
//   bounded   the same with ρ(z) = m (1 − exp(−z²/m)), where m = 2.985²
//
// All that a readout needs to know is the errors −∂loss/∂score, and a bound κ on the second derivatives of the loss in
// any direction: ½ (Böhning), ¼, and 2/σ for numbers. A bounded loss is a concave function of another, so it has the
// same bound, and is nowhere larger than the convex loss beside it.
//
// Huber's loss, with the penalty λ/σ ‖ω‖² of the output, is convex in readout and scale together, and the scale is where
// it is least: c = E min(z², ε²) makes it the deviation of the errors if they are normal. So it follows the errors, no
// outlier can inflate it much, and the readout does not depend on the unit of the targets. The bounded loss has no such
// minimum; it takes the scale of Huber's. With these ε and m, 5 % of the efficiency is lost where errors are normal.
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
  Eigen::RowVectorXd sums_of(const MatrixD& values) const {
    if (roots_.size() == 0) return values.colwise().sum();
    return roots_.cwiseAbs2().transpose() * values;
  }
  void scale(MatrixD& rows) const;
  // Rows without weight become zero.
  void unscale(MatrixD& rows) const;

 private:
  Eigen::Map<const VectorD> roots_;
};

// The penalty of the ridge problem whose Hessian, times κ, bounds that of the loss and its penalty: α/2 ‖Ω‖², or for
// numbers α/σ ‖ω‖² of each output.
double majorizing_penalty(Task task, double alpha);

class RowLoss {
 public:
  // The convex loss of this task, log or huber, with scales of one.
  RowLoss(Task task, Index outputs) : task_(task), scales_(Eigen::RowVectorXd::Ones(outputs)) {}

  // κ of every output
  Eigen::RowVectorXd curvature_bounds() const;

  bool bounded() const { return bounded_; }
  // Makes it the bounded loss, with the scales that it has.
  void bound() { bounded_ = true; }
  // Whether the scales are part of what is to be fitted.
  bool scales_are_free() const { return task_ == Task::numbers && !bounded_; }
  void set_scales(const Eigen::RowVectorXd& scales) { scales_ = scales; }

  // The scales at which the total loss of the rows and the penalties P/σ are least solve n c σ² = Σ min(r², ε²σ²) + P.
  // The right side is concave in σ², so that Newton's method, which solves it for the rows beyond εσ as they are,
  // converges from above, in a few steps. Here, what it needs to know of some rows: Σ r² over those within εσ, and the
  // weight of the others; and the next σ, given the totals over all rows.
  struct ScaleSums {
    Eigen::RowVectorXd within, beyond;
  };
  static ScaleSums scale_sums(const MatrixD& scores, const Eigen::Ref<const MatrixD>& targets,
                              const BlockWeights& weights, const Eigen::RowVectorXd& scales);
  static Eigen::RowVectorXd next_scales(const ScaleSums& sums, const Eigen::RowVectorXd& penalties,
                                        double total_weight);

  struct Sums {
    double loss = 0;
    double curvature = 0;  // as a fraction of κ, the mean over the outputs
    double right = 0;      // the weight of the rows whose one label has the largest score
  };
  // Replaces the scores of some rows, without weights, by their errors.
  Sums to_errors(MatrixD& scores, const Eigen::Ref<const MatrixD>& targets,
                 const BlockWeights& weights) const;

 private:
  Task task_;
  bool bounded_ = false;
  Eigen::RowVectorXd scales_;  // of numbers
};

}  // namespace stagenets
