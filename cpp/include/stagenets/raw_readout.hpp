// Readouts of the design that a fit sees, [1?, U? (standardised), units], as readouts of the network that it gives,
// whose columns are [x? (raw), units, 1].
#pragma once

#include "stagenets/inputs.hpp"

namespace stagenets {

template <class Scalar>
MatrixD raw_readout(const MatrixD& readout, const Inputs<Scalar>& inputs, bool intercept,
                    bool links_inputs) {
  const Index ones = intercept ? 1 : 0, rest = readout.rows() - ones;
  MatrixD raw(rest + 1, readout.cols());
  raw.topRows(rest) = readout.bottomRows(rest);
  raw.row(rest).setZero();
  if (intercept) raw.row(rest) = readout.row(0);
  if (links_inputs) {
    Eigen::RowVectorXd constant = raw.row(rest);
    inputs.make_raw(raw.topRows(inputs.columns()), constant);
    raw.row(rest) = constant;
  }
  return raw;
}

}  // namespace stagenets
