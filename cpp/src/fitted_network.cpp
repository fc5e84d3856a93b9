#include "stagenets/fitted_network.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

namespace stagenets {
namespace {

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

void check_layers(const Network& network) {
  require(!network.layers.empty(), "a network must have at least one layer");
  Index inputs = network.layers.front().inputs();
  for (const NetworkLayer& layer : network.layers) {
    const Index outputs = layer.outputs(), terms = layer.units.weights.cols();
    const std::vector<Index>& ends = layer.units.ends;
    require(layer.inputs() == inputs && layer.units.biases.size() == terms,
            "the sizes of the network's weights and biases must match");
    const auto falls = std::adjacent_find(ends.begin(), ends.end(), std::greater_equal<>());
    require(ends.empty() || (ends.front() > 0 && falls == ends.end() && ends.back() == terms),
            "the ends of the units' terms must rise to the number of terms");
    require(ends.empty() || layer.gain.size() == 0, "units of several terms must not be scaled");
    require(layer.gain.size() == layer.shift.size() &&
                (layer.gain.size() == 0 || layer.gain.size() == outputs),
            "a layer must have one scale and one offset per unit, or none");
    inputs = outputs;
  }
}

void check_bounds(const InputBounds& bounds, Index inputs) {
  if (bounds.unbounded() && bounds.upper.size() == 0) return;
  require(bounds.lower.size() == inputs && bounds.upper.size() == inputs,
          "a network must have one lower and one upper bound per input, or none");
  require((bounds.lower.array() <= bounds.upper.array()).all(),
          "a lower bound of an input must not be above its upper bound");
}

void check_path(const ReadoutPath& path, Index rows, Index outputs) {
  require(path.start.rows() == rows && path.directions.rows() == rows &&
              path.start.cols() == outputs && path.steps.cols() == outputs &&
              path.directions.cols() == path.steps.rows(),
          "the sizes of the readout's path must match those of the network");
  require(!path.ends.empty() && path.ends.front() == 0 && path.ends.back() == path.steps.rows() &&
              std::is_sorted(path.ends.begin(), path.ends.end()),
          "the ends of a path must rise from 0 to the number of its steps");
}

}  // namespace

FittedNetwork::FittedNetwork(Network network, MatrixD readout, ReadoutPath path)
    : network_(std::move(network)), readout_(std::move(readout)), path_(std::move(path)) {
  check_layers(network_);
  check_bounds(network_.bounds, network_.inputs());
  require(readout_.rows() == network_.readout_rows(),
          "the readout must have one row per column of the network's design");
  check_path(path_, readout_.rows(), readout_.cols());
  needs_double_ = stagenets::needs_double(network_, readout_);
}

template <>
FittedNetwork::Prepared<float>& FittedNetwork::prepared<float>() const {
  return floats_;
}
template <>
FittedNetwork::Prepared<double>& FittedNetwork::prepared<double>() const {
  return doubles_;
}

template <class Scalar>
std::shared_ptr<const Predictor<Scalar>> FittedNetwork::predictor() const {
  const std::lock_guard<std::mutex> lock(preparing_);
  auto& scores = prepared<Scalar>().scores;
  if (!scores) scores = std::make_shared<const Predictor<Scalar>>(network_, readout_);
  return scores;
}

template <class Scalar>
std::shared_ptr<const Predictor<Scalar>> FittedNetwork::path_predictor() const {
  const std::lock_guard<std::mutex> lock(preparing_);
  auto& path = prepared<Scalar>().path;
  if (!path) {
    MatrixD readouts(path_.start.rows(), path_.start.cols() + path_.directions.cols());
    readouts << path_.start, path_.directions;
    path = std::make_shared<const Predictor<Scalar>>(network_, readouts);
  }
  return path;
}

template std::shared_ptr<const Predictor<float>> FittedNetwork::predictor<float>() const;
template std::shared_ptr<const Predictor<double>> FittedNetwork::predictor<double>() const;
template std::shared_ptr<const Predictor<float>> FittedNetwork::path_predictor<float>() const;
template std::shared_ptr<const Predictor<double>> FittedNetwork::path_predictor<double>() const;

}  // namespace stagenets
