#include "stagenets/split_data.hpp"

#include "stagenets/predictor.hpp"

namespace stagenets {
namespace {

VectorD gather_weights(const double* weights, Index all, const std::vector<Index>& rows) {
  if (!weights) return {};
  return Eigen::Map<const VectorD>(weights, all)(rows);
}

// Rows without targets, which come last, belong to every training part.
template <class Scalar>
std::vector<Index> with_unlabelled(std::vector<Index> rows, const TrainingData<Scalar>& data) {
  for (Index row = data.targets.rows(); row < data.inputs.rows; ++row) rows.push_back(row);
  return rows;
}

// The number of path columns in the network of the given size.
Index path_columns(const NetworkFit& fit, Index size) {
  // All layers but the last are present at every size.
  const Index fixed = fit.network.units() - fit.network.layers.back().outputs();
  const std::vector<Index>& path = fit.history.units_path;
  const Index units = std::min(fixed + size, path.back());
  if (fit.path.column_per_unit) return units;
  const auto at = std::lower_bound(path.begin(), path.end(), units) - path.begin();
  return fit.path.ends[static_cast<std::size_t>(at)];
}

}  // namespace

template <class Scalar>
GatheredRows<Scalar>::GatheredRows(const InputView<Scalar>& inputs, const std::vector<Index>& rows)
    : rows_(static_cast<Index>(rows.size())), columns_(inputs.columns) {
  if (!inputs.is_sparse()) {
    values_.reserve(rows.size() * static_cast<std::size_t>(inputs.columns));
    for (Index j = 0; j < inputs.columns; ++j) {
      for (const Index row : rows) values_.push_back(inputs(row, j));
    }
    return;
  }
  const SparseRows<Scalar>& all = inputs.sparse;
  starts_.push_back(0);
  for (const Index row : rows) {
    const Index first = all.starts[row], last = all.starts[row + 1];
    values_.insert(values_.end(), all.values + first, all.values + last);
    sparse_columns_.insert(sparse_columns_.end(), all.columns + first, all.columns + last);
    starts_.push_back(static_cast<std::int64_t>(values_.size()));
  }
}

template <class Scalar>
SplitData<Scalar>::SplitData(const TrainingData<Scalar>& data, const Split& split,
                             std::size_t number, Measure measure)
    : data_(data),
      split_(split),
      number_(number),
      train_(with_unlabelled(split.train, data)),
      inputs_(data.inputs, train_),
      targets_(data.targets.of_rows(split.train)),
      weights_(gather_weights(data.weights, data.inputs.rows, train_)),
      graph_(data.graph ? data.graph->among(train_, data.inputs.rows) : RowGraph()),
      test_blocks_(RowBlocks::for_one_thread(static_cast<Index>(split.test.size()))),
      test_score_(data.targets.of_rows(split.test),
                  gather_weights(data.weights, data.inputs.rows, split.test), test_blocks_,
                  measure) {}

template <class Scalar>
TrainingData<Scalar> SplitData<Scalar>::training() const {
  return {inputs_.view(), targets_, weights_.size() > 0 ? weights_.data() : nullptr, nullptr,
          data_.graph ? &graph_ : nullptr};
}

// One pass computes what every step of the path adds to the scores of the test rows.
template <class Scalar>
std::vector<double> SplitData<Scalar>::judge_path(const NetworkFit& fit,
                                                  const std::vector<Index>& sizes,
                                                  const std::vector<Link>& links,
                                                  const Judge& judge, Team& team) const {
  constexpr bool kAlready = std::is_same_v<Scalar, double>;
  const bool in_double = kAlready || needs_double(fit.network, fit.path.last());
  return in_double ? judge_path_in<double>(fit, sizes, links, judge, team)
                   : judge_path_in<Scalar>(fit, sizes, links, judge, team);
}

template <class Scalar>
template <class Number>
std::vector<double> SplitData<Scalar>::judge_path_in(const NetworkFit& fit,
                                                     const std::vector<Index>& sizes,
                                                     const std::vector<Link>& links,
                                                     const Judge& judge, Team& team) const {
  using RowMajor = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const ReadoutPath& path = fit.path;
  const Index outputs = path.start.cols();
  MatrixD readouts(path.start.rows(), outputs + path.directions.cols());
  readouts << path.start, path.directions;
  RowMajor values(test_blocks_.rows(), readouts.cols());
  Predictor<Number>(fit.network, readouts)
      .scores(Inputs<Scalar>(data_.inputs), values.data(), team, &split_.test);

  std::vector<double> quality;
  MatrixD scores = values.leftCols(outputs).template cast<double>();
  Index done = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    team.poll(0);
    const Index end = path_columns(fit, sizes[i]);
    scores.noalias() += values.middleCols(outputs + done, end - done).template cast<double>() *
                        path.steps.middleRows(done, end - done);
    done = end;
    const Link& link = links.empty() ? fit.link : links[i];
    const MatrixD decisions = scores.rowwise() - link.thresholds;
    quality.push_back(judge ? judge({number_, decisions, link.temperatures})
                            : test_score_.of(decisions));
  }
  return quality;
}

template class SplitData<float>;
template class SplitData<double>;

}  // namespace stagenets
