// A network with its readout and the readouts of its stages: everything that predictions read. The data for a feature
// type is prepared when it is first needed, and kept.
#pragma once

#include <memory>
#include <mutex>

#include "stagenets/network.hpp"
#include "stagenets/predictor.hpp"
#include "stagenets/readout_path.hpp"

namespace stagenets {

class FittedNetwork {
 public:
  // Throws std::invalid_argument unless all sizes match.
  FittedNetwork(Network network, MatrixD readout, ReadoutPath path);

  const Network& network() const { return network_; }
  const MatrixD& readout() const { return readout_; }
  const ReadoutPath& path() const { return path_; }
  // Whether rows of floats are to be evaluated in double.
  bool needs_double() const { return needs_double_; }

  // The predictor of the scores.
  template <class Scalar>
  std::shared_ptr<const Predictor<Scalar>> predictor() const;
  // The predictor of the scores before the first unit and, beside them, the contribution of each direction of the path.
  template <class Scalar>
  std::shared_ptr<const Predictor<Scalar>> path_predictor() const;

 private:
  template <class Scalar>
  struct Prepared {
    std::shared_ptr<const Predictor<Scalar>> scores, path;
  };
  template <class Scalar>
  Prepared<Scalar>& prepared() const;

  Network network_;
  MatrixD readout_;
  ReadoutPath path_;
  bool needs_double_;
  mutable std::mutex preparing_;
  mutable Prepared<float> floats_;
  mutable Prepared<double> doubles_;
};

}  // namespace stagenets
