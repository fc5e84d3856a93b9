#include "stagenets/readout_path.hpp"

namespace stagenets {

void ReadoutPath::cut(Index stages, Index design_columns) {
  ends.resize(static_cast<std::size_t>(stages) + 1);
  start.conservativeResize(design_columns, Eigen::NoChange);
  directions.conservativeResize(design_columns, ends.back());
  steps.conservativeResize(ends.back(), Eigen::NoChange);
}

ReadoutPath path_between(const MatrixD& readouts, Index outputs) {
  const Index steps = readouts.cols() / outputs - 1, further = steps * outputs;
  ReadoutPath path;
  path.start = readouts.leftCols(outputs);
  path.directions = readouts.rightCols(further) - readouts.leftCols(further);
  path.steps = MatrixD::Identity(outputs, outputs).replicate(steps, 1);
  for (Index step = 0; step <= steps; ++step) path.ends.push_back(step * outputs);
  return path;
}

ReadoutPath path_between(const std::vector<MatrixD>& readouts) {
  const Index outputs = readouts.back().cols();
  MatrixD all =
      MatrixD::Zero(readouts.back().rows(), outputs * static_cast<Index>(readouts.size()));
  Index column = 0;
  for (const MatrixD& readout : readouts) {
    all.block(0, column, readout.rows(), outputs) = readout;
    column += outputs;
  }
  return path_between(all, outputs);
}

}  // namespace stagenets
