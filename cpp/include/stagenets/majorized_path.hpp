// The readouts by another loss than the squared error as a network grows: one for every stage, and converged ones at the
// sizes and by the penalties that are wanted. Where these are all that is wanted, the readouts in between are not fitted.
#pragma once

#include "stagenets/majorized_readout.hpp"
#include "stagenets/readout_path.hpp"

namespace stagenets {

// What is wanted at some sizes.
struct MajorizedStops {
  std::vector<Index> sizes;    // numbers of units, increasing
  std::vector<double> ratios;  // penalties, relative to that of the factor
  double tolerance;
  bool only;  // whether nothing else is wanted
};

template <class Scalar>
class MajorizedPath {
 public:
  // All arguments but the stops must outlive the path.
  MajorizedPath(const CoordinateFactor<Scalar>& factor, const Targets& targets, Loss loss,
                const RowWeights& weights, const RowBlocks& blocks, MajorizedStops stops,
                Team& team);

  const MajorizedReadout<Scalar>& now() const { return readout_; }
  MatrixD readout() const { return factor_.readout_of(readout_.coordinates(), team_); }

  // Follows the factor, which has grown to this many units by a stage; `features` of them do not count as size.
  void add_stage(Index units, Index features);

  // Remembers the present stage, and ends the path there.
  void remember() { best_ = {readout_.snapshot(), static_cast<Index>(stages_.size())}; }
  void return_to_remembered();
  // Ends the path with a converged readout: to a tolerance, or to rounding.
  void converge(double tolerance);

  // The readouts of all stages; `directions` are those of the factor's units.
  ReadoutPath path(const MatrixD& directions) const;
  // The converged readouts at the sizes wanted by one of the penalties, or the last one where the network did not grow
  // as large.
  ReadoutPath path_at_sizes(std::size_t penalty);

 private:
  // A stage moves the coordinates of its own units, and then perhaps all.
  struct Stage {
    MatrixD own, all;
  };
  struct Remembered {
    typename MajorizedReadout<Scalar>::Snapshot readout;
    Index stages;
  };

  Index size() const;
  std::size_t stops_made() const { return at_sizes_.front().size(); }
  void grow_to(Index size);
  std::vector<MatrixD> converged();
  template <class Refit>
  MatrixD change_by(Refit&& refit);

  const CoordinateFactor<Scalar>& factor_;
  Team& team_;
  MajorizedReadout<Scalar> readout_;
  MatrixD start_;  // coordinates before the first unit
  std::vector<Stage> stages_;
  const MajorizedStops stops_;
  Index features_ = 0;                          // that do not count as size
  std::vector<std::vector<MatrixD>> at_sizes_;  // readouts by each penalty at the sizes reached
  Remembered best_;
};

}  // namespace stagenets
