// The targets of a prediction, and all that follows from their kind: how they are coded as numbers (one-hot labels,
// indicators of several labels, plain numbers), and whether they are standardised (target_score.hpp: how predictions are scored).
#pragma once

#include <string>
#include <vector>

#include "stagenets/row_blocks.hpp"
#include "stagenets/settings.hpp"

namespace stagenets {

enum class Task { one_label, several_labels, numbers };

// The affine map between targets and what a fit sees of them: target = center + scale · seen, output by output.
struct TargetScaling {
  Eigen::RowVectorXd center, scale;
};

// What numbers are scaled about. Losses that resist outliers need a centre that does so.
enum class Center { mean, median };
Center center_for(Loss loss);

class Targets {
 public:
  // values: n × q. Labels are one-hot or 0/1 indicators. Numbers may be anything finite.
  Targets(Task task, MatrixD values);
  // One class per row, out of the given number of classes.
  static Targets of_labels(const std::vector<Index>& labels, Index classes);

  Task task() const { return task_; }
  const MatrixD& values() const { return values_; }
  Index rows() const { return values_.rows(); }
  Index outputs() const { return values_.cols(); }

  // The targets of some rows.
  Targets of_rows(const std::vector<Index>& rows) const;

  // Mean and deviation of numbers over the rows with nonzero weight, so that all outputs count the same whatever their
  // units; or the median and the deviation of a normal distribution with the same quartiles of |target − median|, which
  // outliers do not move (all rows must be here). The scale of a constant is one. Labels are left as they are.
  TargetScaling scaling(const double* root_weights, const RowBlocks& blocks,
                        Center about = Center::mean) const;
  Targets scaled(const TargetScaling& scaling) const;

 private:
  Task task_;
  MatrixD values_;
};

}  // namespace stagenets
