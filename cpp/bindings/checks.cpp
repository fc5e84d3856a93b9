#include "bindings.hpp"

#include <limits>

namespace stagenets::python {

void check(bool condition, const std::string& message) {
  if (!condition) throw py::value_error(message);
}

void check_rows(const std::string& name, Index found, Index rows) {
  check(found == rows, name + " must have as many rows as X (" + std::to_string(rows) + "); got " +
                           std::to_string(found));
}

void check_sparse_rows(Index rows, Index columns, Index entries, const std::int64_t* starts,
                       const std::int32_t* entry_columns) {
  constexpr Index kMost = std::numeric_limits<std::int32_t>::max();
  check(rows <= kMost && columns <= kMost,
        "sparse X must have fewer than 2^31 rows and columns; got " + std::to_string(rows) + " x " +
            std::to_string(columns));
  bool valid = starts[0] == 0 && starts[rows] == entries;
  for (Index i = 0; valid && i < rows; ++i) {
    valid = starts[i] <= starts[i + 1] && starts[i + 1] <= entries;
    std::int64_t next = 0;
    for (Index e = starts[i]; valid && e < starts[i + 1]; ++e) {
      valid = entry_columns[e] >= next && entry_columns[e] < columns;
      next = entry_columns[e] + std::int64_t{1};
    }
  }
  check(valid, "X must be a valid matrix in compressed sparse rows, in canonical format");
}

void check_weights(const std::optional<VectorD>& weights, Index rows) {
  if (!weights) return;
  check_rows("weights", weights->size(), rows);
  check(weights->allFinite() && weights->minCoeff() >= 0 && weights->maxCoeff() > 0,
        "weights must be finite, not negative and not all zero");
}

void check_class_weights(const ClassWeights& weights, const Targets& targets) {
  if (weights.equal()) return;
  check(targets.task() != Task::numbers, "class weights need labels");
  const Index classes = (targets.task() == Task::one_label ? 1 : 2) * targets.outputs();
  check(weights.balanced || static_cast<Index>(weights.given.size()) == classes,
        "there must be one weight per class");
}

std::vector<Index> row_list(const IndexArray& numbers) {
  check(numbers.ndim() == 1, "row numbers must have one dimension");
  return {numbers.data(), numbers.data() + numbers.size()};
}

std::vector<Split> split_list(const std::vector<RowPair>& pairs) {
  std::vector<Split> splits;
  for (const auto& [train, test] : pairs) splits.push_back({row_list(train), row_list(test)});
  return splits;
}

void check_row_numbers(const std::string& name, const std::vector<Index>& numbers, Index rows) {
  for (const Index row : numbers) {
    check(row >= 0 && row < rows, name + " must hold row numbers from 0 to " +
                                      std::to_string(rows - 1) + "; got " + std::to_string(row));
  }
}

void check_splits(const std::vector<Split>& splits, Index rows) {
  for (const Split& split : splits) {
    check(!split.train.empty() && !split.test.empty(), "a split must have training and test rows");
    check_row_numbers("training rows", split.train, rows);
    check_row_numbers("test rows", split.test, rows);
  }
}

}  // namespace stagenets::python
