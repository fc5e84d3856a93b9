#include "stagenets/majorized_path.hpp"

namespace stagenets {

template <class Scalar>
MajorizedPath<Scalar>::MajorizedPath(const CoordinateFactor<Scalar>& factor, const Targets& targets,
                                     const RowWeights& weights, const RowBlocks& blocks,
                                     std::vector<Index> sizes, Team& team)
    : factor_(factor),
      team_(team),
      readout_(factor, targets, weights, blocks, team),
      start_(readout_.coordinates()),
      sizes_(std::move(sizes)),
      best_{readout_.snapshot(), 0} {}

// How the coordinates change when `refit` is called.
template <class Scalar>
template <class Refit>
MatrixD MajorizedPath<Scalar>::change_by(Refit&& refit) {
  const MatrixD before = readout_.coordinates();
  refit();
  return readout_.coordinates() - before;
}

template <class Scalar>
void MajorizedPath<Scalar>::add_stage(Index units, Index features) {
  const Index before = readout_.coordinates().rows();
  const auto size_now = [&] {
    return readout_.coordinates().rows() - factor_.fixed_width() - features;
  };
  // A size may lie within the block of units of a stage.
  while (at_sizes_.size() < sizes_.size() && sizes_[at_sizes_.size()] < units - features) {
    const Index more = sizes_[at_sizes_.size()] - size_now();
    if (more > 0) readout_.grow(more);
    record_if_wanted(size_now());
  }
  readout_.grow(units - features - size_now());
  if (units > features) record_if_wanted(size_now());  // further features may belong to size zero
  Stage stage;
  stage.own = readout_.coordinates().bottomRows(readout_.coordinates().rows() - before);
  const MatrixD change = change_by([&] { readout_.refit_if_due(); });
  if (!change.isZero(0)) stage.all = change;
  stages_.push_back(std::move(stage));
}

template <class Scalar>
void MajorizedPath<Scalar>::record_if_wanted(Index size) {
  if (at_sizes_.size() == sizes_.size() || sizes_[at_sizes_.size()] != size) return;
  const auto before = readout_.snapshot();
  readout_.converge();
  at_sizes_.push_back(readout());
  readout_.return_to(before);
}

template <class Scalar>
void MajorizedPath<Scalar>::return_to_remembered() {
  readout_.return_to(best_.readout);
  stages_.resize(static_cast<std::size_t>(best_.stages));
}

template <class Scalar>
void MajorizedPath<Scalar>::converge() {
  const MatrixD change = change_by([&] { readout_.converge(); });
  if (stages_.empty()) {
    start_ += change;
  } else if (MatrixD& all = stages_.back().all; all.size() > 0) {
    all += change;
  } else {
    all = change;
  }
}

template <class Scalar>
ReadoutPath MajorizedPath<Scalar>::path(const MatrixD& directions) const {
  const Index outputs = start_.cols();
  Index columns = 0;
  for (const Stage& stage : stages_) {
    columns += stage.own.rows() + (stage.all.size() > 0 ? outputs : 0);
  }
  ReadoutPath path;
  const MatrixD start = factor_.readout_of(start_, team_);
  path.start = MatrixD::Zero(directions.rows(), outputs);
  path.start.topRows(start.rows()) = start;
  path.directions = MatrixD::Zero(directions.rows(), columns);
  path.steps.resize(columns, outputs);
  path.ends.push_back(0);
  Index column = 0, unit = 0;
  for (const Stage& stage : stages_) {
    const Index own = stage.own.rows();
    path.directions.middleCols(column, own) = directions.middleCols(unit, own);
    path.steps.middleRows(column, own) = stage.own;
    column += own;
    unit += own;
    if (stage.all.size() > 0) {
      const MatrixD change = factor_.readout_of(stage.all, team_);
      path.directions.block(0, column, change.rows(), outputs) = change;
      path.steps.middleRows(column, outputs).setIdentity();
      column += outputs;
    }
    path.ends.push_back(column);
  }
  return path;
}

template <class Scalar>
ReadoutPath MajorizedPath<Scalar>::path_at_sizes() {
  if (at_sizes_.size() < sizes_.size()) {
    const auto before = readout_.snapshot();
    readout_.converge();
    at_sizes_.resize(sizes_.size(), readout());
    readout_.return_to(before);
  }
  return path_between(at_sizes_);
}

template class MajorizedPath<float>;
template class MajorizedPath<double>;

}  // namespace stagenets
