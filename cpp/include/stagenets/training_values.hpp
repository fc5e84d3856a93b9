// The training rows as draws see them: single values, in the scale in which the network sees its inputs. Rows are drawn
// by their rank in the order of their values, so that neither the order in which the caller has them nor whether equal
// rows are one row with a weight makes a difference; of more than 65,536 rows, so many evenly spaced ones are ranked.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "stagenets/inputs.hpp"

namespace stagenets {

// Rows have the numbers that the rows with a weight have among those of all processes.
class TrainingValues {
 public:
  using Value = std::function<double(Index row, Index input)>;
  using Before = std::function<bool(Index row, Index other)>;
  using Poll = std::function<void()>;

  TrainingValues() = default;
  // value(row, input) of local rows, which must remain callable. Rows count root_weights² times, once if that is null.
  // `before` sorts them, if it is known and all rows are local. `poll`, if any, is called while they are sorted.
  TrainingValues(const Value& value, Index rows, Index inputs, const double* root_weights,
                 const RowBlocks& blocks, const Before& before = nullptr,
                 const Poll& poll = nullptr);
  // The same order of rows with other values.
  TrainingValues with_values(Value value) const;

  bool empty() const { return order_.empty(); }
  const RowNumbers& numbers() const { return numbers_; }
  // The row below which the given fraction of all rows lie, u in [0, 1).
  Index row_at(double u) const;
  double operator()(Index row, Index input) const { return value_(row, input); }

 private:
  Value value_;
  RowNumbers numbers_{0, 0, 0};
  std::vector<Index>
      order_;  // the rows ranked, sorted by their first input, then by their second, …
  std::vector<double> counts_;  // weight of the rows up to each of these; empty if all are equal
};

// The values of the inputs, which must outlive them.
template <class Scalar>
TrainingValues training_values(const Inputs<Scalar>& inputs, const double* root_weights,
                               const RowBlocks& blocks, Team& team) {
  const auto value = [&inputs](Index row, Index input) {
    double standardized;
    inputs.copy_columns({row, 1, nullptr}, input, 1, &standardized, 1);
    return standardized;
  };
  // Sparse rows agree in most inputs: to compare them input by input would take long.
  TrainingValues::Before before;
  if (inputs.is_sparse()) {
    before = [&inputs](Index row, Index other) { return inputs.comes_before(row, other); };
  }
  return TrainingValues(value, inputs.rows(), inputs.columns(), root_weights, blocks, before,
                        [&team] { team.poll(0); });
}

// The same where other processes hold rows too: values can be looked at once they have been asked for, all that are
// needed for a while at a time.
class SharedValues {
 public:
  // The blocks must outlive it.
  SharedValues(TrainingValues own, const RowBlocks& blocks)
      : own_(std::move(own)), blocks_(blocks) {}

  // The values known; must not outlive this.
  TrainingValues known() const {
    return own_.with_values([this](Index row, Index input) { return known_.at({row, input}); });
  }

  // Has look(values) look at whatever it will need, and replaces the values known by these.
  template <class Look>
  void learn(Look&& look) {
    std::vector<Place> places;
    look(own_.with_values([&places](Index row, Index input) {
      places.emplace_back(row, input);
      return 0.0;
    }));
    VectorD values = VectorD::Zero(static_cast<Index>(places.size()));
    for (Index i = 0; i < values.size(); ++i) {
      const auto [row, input] = places[static_cast<std::size_t>(i)];
      if (own_.numbers().holds(row)) values[i] = own_(row, input);
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
  std::map<Place, double> known_;
};

}  // namespace stagenets
