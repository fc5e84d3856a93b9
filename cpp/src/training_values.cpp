#include "stagenets/training_values.hpp"

#include <algorithm>
#include <numeric>

namespace stagenets {
namespace {

using Run = std::pair<std::size_t, std::size_t>;  // rows of the order that agree so far

// `each` values of every one of some rows (increasing numbers), side by side: a process knows those of its own rows.
template <class Values>
MatrixD values_of(const std::vector<Index>& rows, Index each, const RowNumbers& numbers,
                  const RowBlocks& blocks, const Values& values) {
  const auto first = std::lower_bound(rows.begin(), rows.end(), numbers.first);
  const auto last = std::lower_bound(first, rows.end(), numbers.first + numbers.count);
  VectorD own((last - first) * each);
  double* next = own.data();
  for (auto row = first; row != last; ++row, next += each) values(*row, next);
  const VectorD all = blocks.gather(own);
  return Eigen::Map<const MatrixD>(all.data(), each, static_cast<Index>(rows.size()));
}

Index place_of(Index row, const std::vector<Index>& rows) {
  return std::lower_bound(rows.begin(), rows.end(), row) - rows.begin();
}

// Sorts rows by their inputs, one input after another: rows that agree so far are sorted by the next ones, twice as
// many each time, as few rows agree for long.
void sort_by_inputs(std::vector<Index>& order, Index inputs, const RowNumbers& numbers,
                    const TrainingValues::Value& value, const RowBlocks& blocks,
                    const TrainingValues::Poll& poll) {
  constexpr Index kMost = 64, kRowsPerPoll = 64;
  std::vector<Run> runs{{0, order.size()}};
  for (Index input = 0, some = 1; input < inputs && !runs.empty();
       some = std::min(2 * some, kMost)) {
    some = std::min(some, inputs - input);
    std::vector<Index> tied;
    for (const auto& [first, last] : runs) {
      tied.insert(tied.end(), order.begin() + static_cast<std::ptrdiff_t>(first),
                  order.begin() + static_cast<std::ptrdiff_t>(last));
    }
    std::sort(tied.begin(), tied.end());
    const MatrixD keys = values_of(tied, some, numbers, blocks, [&](Index row, double* out) {
      if (poll && row % kRowsPerPoll == 0) poll();
      for (Index k = 0; k < some; ++k) out[k] = value(row, input + k);
    });
    const auto key = [&](Index place) { return keys.data() + place * some; };
    std::vector<Run> next;
    std::vector<Index> places;
    for (const auto& [first, last] : runs) {
      if (poll) poll();
      places.clear();
      for (std::size_t i = first; i < last; ++i) places.push_back(place_of(order[i], tied));
      std::sort(places.begin(), places.end(), [&](Index a, Index b) {
        return std::lexicographical_compare(key(a), key(a) + some, key(b), key(b) + some);
      });
      std::size_t begin = 0;
      for (std::size_t i = 0; i < places.size(); ++i) {
        order[first + i] = tied[static_cast<std::size_t>(places[i])];
        const bool same = i + 1 < places.size() &&
                          std::equal(key(places[i]), key(places[i]) + some, key(places[i + 1]));
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
                               const Before& before, const Poll& poll) {
  constexpr Index kMostRanked = Index{1} << 16, kComparedPerPoll = 4096;
  std::vector<Index> weighted;
  for (Index row = 0; row < rows; ++row) {
    if (!root_weights || root_weights[row] > 0) weighted.push_back(row);
  }
  numbers_ = blocks.number(static_cast<Index>(weighted.size()));
  const auto local = [weighted = std::move(weighted), first = numbers_.first](Index row) {
    return weighted[static_cast<std::size_t>(row - first)];
  };
  value_ = [value, local](Index row, Index input) { return value(local(row), input); };
  const Index ranked = std::min(numbers_.all, kMostRanked);
  std::vector<Index> chosen;
  for (Index i = 0; i < ranked; ++i) chosen.push_back(i * numbers_.all / ranked);
  order_ = chosen;
  if (before) {
    Index compared = 0;
    std::sort(order_.begin(), order_.end(), [&](Index a, Index b) {
      if (poll && ++compared % kComparedPerPoll == 0) poll();
      return before(local(a), local(b));
    });
  } else {
    sort_by_inputs(order_, inputs, numbers_, value_, blocks, poll);
  }
  if (!root_weights) return;
  const MatrixD weights = values_of(chosen, 1, numbers_, blocks, [&](Index row, double* out) {
    *out = root_weights[local(row)] * root_weights[local(row)];
  });
  double total = 0;
  for (const Index row : order_) counts_.push_back(total += weights(0, place_of(row, chosen)));
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
