#include "stagenets/majorized_path.hpp"

namespace stagenets {

template <class Scalar>
MajorizedPath<Scalar>::MajorizedPath(const CoordinateFactor<Scalar>& factor, const Targets& targets,
                                     Loss loss, const RowWeights& weights, const RowBlocks& blocks,
                                     MajorizedStops stops, Team& team)
    : factor_(factor),
      team_(team),
      readout_(factor, targets, loss, weights, blocks, team),
      start_(readout_.coordinates()),
      stops_(std::move(stops)),
      at_sizes_(stops_.ratios.size()),
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
Index MajorizedPath<Scalar>::size() const {
  return readout_.coordinates().rows() - factor_.fixed_width() - features_;
}

template <class Scalar>
void MajorizedPath<Scalar>::grow_to(Index wanted) {
  if (wanted > size()) readout_.grow(wanted - size());
}

template <class Scalar>
void MajorizedPath<Scalar>::add_stage(Index units, Index features) {
  const Index before = readout_.coordinates().rows();
  features_ = features;
  const Index grown = units - features;
  // A size may lie within the block of units of a stage; further features may belong to size zero.
  while (grown > 0 && stops_made() < stops_.sizes.size() && stops_.sizes[stops_made()] <= grown) {
    grow_to(stops_.sizes[stops_made()]);
    const std::vector<MatrixD> readouts = converged();
    for (std::size_t i = 0; i < readouts.size(); ++i) at_sizes_[i].push_back(readouts[i]);
  }
  if (stops_.only) return;
  grow_to(grown);
  Stage stage;
  stage.own = readout_.coordinates().bottomRows(readout_.coordinates().rows() - before);
  const MatrixD change = change_by([&] { readout_.refit_if_due(); });
  if (!change.isZero(0)) stage.all = change;
  stages_.push_back(std::move(stage));
}

// The readouts by all penalties at the present size. If nothing else is wanted, the next ones start from there.
template <class Scalar>
std::vector<MatrixD> MajorizedPath<Scalar>::converged() {
  const auto before = readout_.snapshot();
  std::vector<MatrixD> readouts;
  for (const double ratio : stops_.ratios) {
    if (readout_.bounded()) readout_.return_to(before);
    readout_.set_penalty(ratio);
    readout_.converge(stops_.tolerance);
    readouts.push_back(readout());
  }
  readout_.set_penalty(1);
  if (!stops_.only || readout_.bounded()) readout_.return_to(before);
  return readouts;
}

template <class Scalar>
void MajorizedPath<Scalar>::return_to_remembered() {
  readout_.return_to(best_.readout);
  stages_.resize(static_cast<std::size_t>(best_.stages));
}

template <class Scalar>
void MajorizedPath<Scalar>::converge(double tolerance) {
  const MatrixD change = change_by([&] { readout_.converge(tolerance); });
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
ReadoutPath MajorizedPath<Scalar>::path_at_sizes(std::size_t penalty) {
  if (stops_made() < stops_.sizes.size()) {
    if (stops_.only) grow_to(factor_.width() - factor_.fixed_width() - features_);
    const std::vector<MatrixD> readouts = converged();
    for (std::size_t i = 0; i < readouts.size(); ++i) {
      at_sizes_[i].resize(stops_.sizes.size(), readouts[i]);
    }
  }
  return path_between(at_sizes_[penalty]);
}

template class MajorizedPath<float>;
template class MajorizedPath<double>;

}  // namespace stagenets
