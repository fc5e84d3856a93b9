// The training rows as draws see them: single values, in the scale in which the network sees its inputs.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "stagenets/inputs.hpp"

namespace stagenets {

struct TrainingValues {
  Index rows = 0;
  std::function<double(Index row, Index input)> at;
};

// The values of the rows that have a weight. The inputs must outlive them.
template <class Scalar>
TrainingValues training_values(const Inputs<Scalar>& inputs, const double* root_weights) {
  const auto value = [&inputs](Index row, Index input) {
    double standardized;
    inputs.copy_columns({row, 1, nullptr}, input, 1, &standardized, 1);
    return standardized;
  };
  if (!root_weights) return {inputs.rows(), value};
  std::vector<Index> weighted;
  for (Index row = 0; row < inputs.rows(); ++row) {
    if (root_weights[row] > 0) weighted.push_back(row);
  }
  const Index rows = static_cast<Index>(weighted.size());
  return {rows, [value, weighted = std::move(weighted)](Index row, Index input) {
            return value(weighted[static_cast<std::size_t>(row)], input);
          }};
}

}  // namespace stagenets
