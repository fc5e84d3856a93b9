// One split of the rows: its training part, gathered, and the quality of networks on its test part.
#pragma once

#include "stagenets/search.hpp"

namespace stagenets {

// A copy of some rows: column by column, the order that sparse maps read without copying, or sparse like its origin.
template <class Scalar>
class GatheredRows {
 public:
  GatheredRows(const InputView<Scalar>& inputs, const std::vector<Index>& rows);

  InputView<Scalar> view() const {
    if (starts_.empty()) return {values_.data(), rows_, columns_, false};
    return {
        nullptr, rows_, columns_, false, {values_.data(), sparse_columns_.data(), starts_.data()}};
  }

 private:
  Index rows_, columns_;
  std::vector<Scalar> values_;
  std::vector<std::int32_t> sparse_columns_;
  std::vector<std::int64_t> starts_;  // empty unless sparse
};

template <class Scalar>
class SplitData {
 public:
  // Data and split must outlive this.
  SplitData(const TrainingData<Scalar>& data, const Split& split, std::size_t number,
            Measure measure);

  TrainingData<Scalar> training() const;

  // Quality of the networks along a path, at these sizes (increasing).
  std::vector<double> judge_path(const NetworkFit& fit, const std::vector<Index>& sizes,
                                 const std::vector<Link>& links, const Judge& judge,
                                 Team& team) const;

 private:
  // The same with the scores of the path in a type of their own.
  template <class Number>
  std::vector<double> judge_path_in(const NetworkFit& fit, const std::vector<Index>& sizes,
                                    const std::vector<Link>& links, const Judge& judge,
                                    Team& team) const;

  const TrainingData<Scalar>& data_;
  const Split& split_;
  std::size_t number_;
  const std::vector<Index> train_;  // rows of the training part, those without targets included
  GatheredRows<Scalar> inputs_;
  Targets targets_;
  VectorD weights_;  // empty for ones
  RowGraph graph_;   // among these rows, if there is one
  RowBlocks test_blocks_;
  TargetScore test_score_;
};

}  // namespace stagenets
