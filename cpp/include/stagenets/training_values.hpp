// The training rows as draws see them: single values, in the scale in which the network sees its inputs.
#pragma once

#include <functional>
#include <map>
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

// The same where other processes hold rows too: values can be looked at once they have been asked for, all that are
// needed for a while at a time.
class SharedValues {
 public:
  // The blocks must outlive it.
  SharedValues(TrainingValues own, const RowBlocks& blocks)
      : own_(std::move(own)), blocks_(blocks), numbers_(blocks.number(own_.rows)) {}

  // The values known; must not outlive this.
  TrainingValues known() const {
    return {numbers_.all, [this](Index row, Index input) { return known_.at({row, input}); }};
  }

  // Has look(values) look at whatever it will need, and replaces the values known by these.
  template <class Look>
  void learn(Look&& look) {
    std::vector<Place> places;
    look(TrainingValues{numbers_.all, [&places](Index row, Index input) {
                          places.emplace_back(row, input);
                          return 0.0;
                        }});
    VectorD values = VectorD::Zero(static_cast<Index>(places.size()));
    for (Index i = 0; i < values.size(); ++i) {
      const auto [row, input] = places[static_cast<std::size_t>(i)];
      if (numbers_.holds(row)) values[i] = own_.at(row - numbers_.first, input);
    }
    blocks_.complete(values.data(), values.size());  // one process has the value, the others zero
    known_.clear();
    for (Index i = 0; i < values.size(); ++i)
      known_[places[static_cast<std::size_t>(i)]] = values[i];
  }

 private:
  using Place = std::pair<Index, Index>;  // row and input

  TrainingValues own_;
  const RowBlocks& blocks_;
  RowNumbers numbers_;
  std::map<Place, double> known_;
};

}  // namespace stagenets
