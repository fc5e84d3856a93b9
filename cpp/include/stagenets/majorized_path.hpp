// The readouts by another loss than the squared error as a network grows: one for every stage, and converged ones at the
// sizes that are wanted.
#pragma once

#include "stagenets/majorized_readout.hpp"
#include "stagenets/readout_path.hpp"

namespace stagenets {

template <class Scalar>
class MajorizedPath {
 public:
  // `sizes` are numbers of units (increasing). All arguments but these must outlive the path.
  MajorizedPath(const CoordinateFactor<Scalar>& factor, const Targets& targets,
                const RowWeights& weights, const RowBlocks& blocks, std::vector<Index> sizes,
                Team& team);

  const MajorizedReadout<Scalar>& now() const { return readout_; }
  MatrixD readout() const { return factor_.readout_of(readout_.coordinates(), team_); }

  // Follows the factor, which has grown to this many units by a stage; `features` of them do not count as size.
  void add_stage(Index units, Index features);

  // Remembers the present stage, and ends the path there.
  void remember() { best_ = {readout_.snapshot(), static_cast<Index>(stages_.size())}; }
  void return_to_remembered();
  // Ends the path with a converged readout.
  void converge();

  // The readouts of all stages; `directions` are those of the factor's units.
  ReadoutPath path(const MatrixD& directions) const;
  // The converged readouts at the sizes wanted, or the last one where the network did not grow as large.
  ReadoutPath path_at_sizes();

 private:
  // A stage moves the coordinates of its own units, and then perhaps all.
  struct Stage {
    MatrixD own, all;
  };
  struct Remembered {
    typename MajorizedReadout<Scalar>::Snapshot readout;
    Index stages;
  };

  void record_if_wanted(Index size);
  template <class Refit>
  MatrixD change_by(Refit&& refit);

  const CoordinateFactor<Scalar>& factor_;
  Team& team_;
  MajorizedReadout<Scalar> readout_;
  MatrixD start_;  // coordinates before the first unit
  std::vector<Stage> stages_;
  std::vector<Index> sizes_;
  std::vector<MatrixD> at_sizes_;  // readouts at the sizes reached so far
  Remembered best_;
};

}  // namespace stagenets
