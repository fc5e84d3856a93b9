#include "stagenets/training_values.hpp"

#include <algorithm>
#include <numeric>

namespace stagenets {
namespace {

using Run = std::pair<std::size_t, std::size_t>;  // rows of the order that agree so far

// Sorts rows by their inputs, one input after another: rows that agree so far are sorted by the next ones. A process
// knows the keys of its own rows, and learns those of the others; twice as many each time, as few rows agree for long.
void sort_by_inputs(std::vector<Index>& order, Index inputs, const RowNumbers& numbers,
                    const TrainingValues::Value& value, const RowBlocks& blocks) {
  constexpr Index kMost = 64;
  std::vector<Run> runs{{0, order.size()}};
  for (Index input = 0, some = 1; input < inputs && !runs.empty();
       some = std::min(2 * some, kMost)) {
    some = std::min(some, inputs - input);
    Index tied = 0;
    for (const auto& [first, last] : runs) tied += static_cast<Index>(last - first);
    MatrixD keys = MatrixD::Zero(some, tied);
    std::vector<Index> rows;
    for (const auto& [first, last] : runs) {
      for (std::size_t i = first; i < last; ++i) {
        const Index column = static_cast<Index>(rows.size());
        rows.push_back(order[i]);
        for (Index k = 0; numbers.holds(order[i]) && k < some; ++k) {
          keys(k, column) = value(order[i], input + k);
        }
      }
    }
    blocks.complete(keys.data(), keys.size());
    const auto key = [&](Index column) { return keys.data() + column * some; };
    std::vector<Run> next;
    std::vector<Index> columns;
    Index done = 0;
    for (const auto& [first, last] : runs) {
      columns.resize(last - first);
      std::iota(columns.begin(), columns.end(), done);
      done += static_cast<Index>(columns.size());
      std::sort(columns.begin(), columns.end(), [&](Index a, Index b) {
        return std::lexicographical_compare(key(a), key(a) + some, key(b), key(b) + some);
      });
      std::size_t begin = 0;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        order[first + i] = rows[static_cast<std::size_t>(columns[i])];
        const bool same = i + 1 < columns.size() &&
                          std::equal(key(columns[i]), key(columns[i]) + some, key(columns[i + 1]));
        if (same) continue;
        if (i > begin) next.emplace_back(first + begin, first + i + 1);
        begin = i + 1;
      }
    }
    runs = std::move(next);
    input += some;
  }
}

}  // namespace

TrainingValues::TrainingValues(const Value& value, Index rows, Index inputs,
                               const double* root_weights, const RowBlocks& blocks,
                               const Before& before) {
  std::vector<Index> weighted;
  for (Index row = 0; row < rows; ++row) {
    if (!root_weights || root_weights[row] > 0) weighted.push_back(row);
  }
  numbers_ = blocks.number(static_cast<Index>(weighted.size()));
  VectorD weights = VectorD::Zero(root_weights ? numbers_.all : 0);
  for (std::size_t i = 0; root_weights && i < weighted.size(); ++i) {
    const double root = root_weights[weighted[i]];
    weights[numbers_.first + static_cast<Index>(i)] = root * root;
  }
  order_.resize(static_cast<std::size_t>(numbers_.all));
  std::iota(order_.begin(), order_.end(), Index{0});
  if (before) {
    std::sort(order_.begin(), order_.end(), [&](Index a, Index b) {
      return before(weighted[static_cast<std::size_t>(a)], weighted[static_cast<std::size_t>(b)]);
    });
  }
  value_ = [value, weighted = std::move(weighted), first = numbers_.first](Index row, Index input) {
    return value(weighted[static_cast<std::size_t>(row - first)], input);
  };
  if (!before) sort_by_inputs(order_, inputs, numbers_, value_, blocks);
  if (!root_weights) return;
  blocks.complete(weights.data(), weights.size());
  double total = 0;
  for (const Index row : order_) counts_.push_back(total += weights[row]);
}

TrainingValues TrainingValues::with_values(Value value) const {
  TrainingValues other = *this;
  other.value_ = std::move(value);
  return other;
}

Index TrainingValues::row_at(double u) const {
  const std::size_t last = order_.size() - 1;
  if (counts_.empty()) {
    return order_[std::min(last, static_cast<std::size_t>(u * static_cast<double>(last + 1)))];
  }
  const auto above = std::upper_bound(counts_.begin(), counts_.end(), u * counts_.back());
  return order_[std::min(last, static_cast<std::size_t>(above - counts_.begin()))];
}

}  // namespace stagenets
