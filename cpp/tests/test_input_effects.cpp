// Total effects against networks evaluated once more with inputs of other rows, number by number.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "random_matrix.hpp"
#include "stagenets/input_effects.hpp"

using namespace stagenets;

namespace {

double activated(Activation activation, double z) {
  switch (activation) {
    case Activation::sigmoid: return 1 / (1 + std::exp(-z));
    case Activation::tanh: return std::tanh(z);
    case Activation::relu: return std::max(z, 0.0);
    default: return z;
  }
}

VectorD layer_values(const NetworkLayer& layer, const VectorD& x) {
  VectorD values(layer.outputs());
  for (Index unit = 0; unit < values.size(); ++unit) {
    double least = std::numeric_limits<double>::infinity();
    for (Index t = layer.units.first_term(unit); t < layer.units.end_of_terms(unit); ++t) {
      least = std::min(least, layer.units.biases[t] + layer.units.weights.col(t).dot(x));
    }
    values[unit] = activated(layer.activation, least);
    if (layer.gain.size() > 0) values[unit] = layer.gain[unit] * values[unit] + layer.shift[unit];
  }
  return values;
}

// [x (if linked), layers…, 1] times the readout.
Eigen::RowVectorXd scores_of(const Network& network, const MatrixD& readout, const VectorD& x) {
  std::vector<double> design;
  const auto append = [&](const VectorD& some) {
    design.insert(design.end(), some.data(), some.data() + some.size());
  };
  if (network.direct_links) append(x);
  VectorD values = x;
  for (const NetworkLayer& layer : network.layers) {
    values = layer_values(layer, values);
    append(values);
  }
  design.push_back(1);
  return Eigen::Map<const VectorD>(design.data(), readout.rows()).transpose() * readout;
}

// The rows that others are exchanged with: a Fisher–Yates shuffle, the same on every system.
std::vector<Index> partners(Index rows) {
  std::vector<Index> order;
  for (Index i = 0; i < rows; ++i) order.push_back(i);
  std::mt19937_64 random(static_cast<std::uint64_t>(rows));
  for (Index left = rows; left >= 2; --left) {
    std::iter_swap(order.begin() + (left - 1),
                   order.begin() + static_cast<Index>(random() % static_cast<std::uint64_t>(left)));
  }
  return order;
}

MatrixD effects_by_hand(const Network& network, const MatrixD& readout, const VectorD& units,
                        const MatrixD& x, const std::vector<Index>& ends) {
  const std::vector<Index> partner = partners(x.rows());
  MatrixD effects = MatrixD::Zero(static_cast<Index>(ends.size()), readout.cols());
  Index begin = 0;
  for (Index block = 0; block < effects.rows(); ++block) {
    const Index end = ends[static_cast<std::size_t>(block)];
    for (Index i = 0; i < x.rows(); ++i) {
      VectorD exchanged = x.row(i);
      for (Index k = begin; k < end; ++k) exchanged[k] = x(partner[std::size_t(i)], k);
      const Eigen::RowVectorXd change =
          scores_of(network, readout, exchanged) - scores_of(network, readout, VectorD(x.row(i)));
      effects.row(block) +=
          0.5 / static_cast<double>(x.rows()) *
          (change.transpose().array() / units.array()).square().matrix().transpose();
    }
    begin = end;
  }
  return effects;
}

MatrixD effects(const Network& network, const MatrixD& readout, const VectorD& units,
                const MatrixD& x, const std::vector<Index>& ends, int threads = 1) {
  return input_effects(network, readout, units,
                       InputView<double>{x.data(), x.rows(), x.cols(), false}, ends, threads,
                       nullptr);
}

// Units that see few of seven inputs, none of them the fifth.
NetworkLayer first_layer(Index units, bool leaves) {
  NetworkLayer layer;
  layer.units.weights = random_matrix(7, units, 1);
  layer.units.biases = random_matrix(units, 1, 2);
  layer.units.weights.row(4).setZero();
  for (Index j = 0; j < units; ++j) layer.units.weights(j % 7, j) = 0;
  if (leaves) layer.units.ends = {1, 4, 5, units};
  layer.activation = Activation::tanh;
  return layer;
}

const std::vector<Index> kOneByOne{1, 2, 3, 4, 5, 6, 7}, kBlocks{2, 3, 6, 7};

}  // namespace

TEST_CASE("effects are those of inputs exchanged between rows") {
  for (const bool linked : {false, true}) {
    for (const bool leaves : {false, true}) {
      for (const bool deep : {false, true}) {
        Network network;
        network.direct_links = linked;
        network.layers.push_back(first_layer(9, leaves));
        if (deep) {
          NetworkLayer second;
          second.units.weights = random_matrix(network.layers[0].outputs(), 5, 3);
          second.units.biases = random_matrix(5, 1, 4);
          second.activation = Activation::sigmoid;
          second.gain = random_matrix(5, 1, 5);
          second.shift = random_matrix(5, 1, 6);
          network.layers.push_back(second);
          network.layers.push_back(second);
          network.layers.back().units.weights = random_matrix(5, 5, 7);
        }
        const MatrixD readout = random_matrix(network.readout_rows(), 2, 8);
        const VectorD units = Eigen::Vector2d(0.5, 40);
        MatrixD x = random_matrix(30, 7, 9);
        x.col(6).setConstant(2);  // never changes
        for (const std::vector<Index>& ends : {kOneByOne, kBlocks}) {
          const MatrixD expected = effects_by_hand(network, readout, units, x, ends);
          const MatrixD found = effects(network, readout, units, x, ends);
          CHECK((found - expected).norm() < 1e-12 * expected.norm());
          CHECK(found.row(found.rows() - 1).isZero(0));
          CHECK(effects(network, readout, units, x, ends, 2) == found);
        }
      }
    }
  }
}

TEST_CASE("sparse and single-precision rows have the effects of the same rows in double") {
  Network network;
  network.direct_links = true;
  network.layers.push_back(first_layer(9, true));
  const MatrixD readout = random_matrix(network.readout_rows(), 2, 8);
  const VectorD units = VectorD::Ones(2);
  MatrixD x = random_matrix(25, 7, 9).cast<float>().cast<double>();
  std::vector<double> values;
  std::vector<std::int32_t> columns;
  std::vector<std::int64_t> starts{0};
  for (Index i = 0; i < 25; ++i) {
    for (Index j = 0; j < 7; ++j) {
      if ((i + j) % 3 != 0) {
        x(i, j) = 0;
        continue;
      }
      values.push_back(x(i, j));
      columns.push_back(static_cast<std::int32_t>(j));
    }
    starts.push_back(static_cast<std::int64_t>(values.size()));
  }
  const MatrixD expected = effects_by_hand(network, readout, units, x, kBlocks);
  const InputView<double> sparse{
      nullptr, 25, 7, true, {values.data(), columns.data(), starts.data()}};
  const MatrixD of_sparse = input_effects(network, readout, units, sparse, kBlocks, 1, nullptr);
  CHECK((of_sparse - expected).norm() < 1e-12 * expected.norm());
  const Matrix<float> rows = x.transpose().cast<float>();
  const InputView<float> single{rows.data(), 25, 7, true};
  const MatrixD of_single = input_effects(network, readout, units, single, kBlocks, 1, nullptr);
  CHECK((of_single - expected).norm() < 1e-12 * expected.norm());
}

TEST_CASE("units that see a few of many inputs have the same effects") {
  const Index inputs = 60;
  Network network;
  network.direct_links = true;
  NetworkLayer layer;
  layer.units.weights = MatrixD::Zero(inputs, 20);
  for (Index j = 0; j < 20; ++j) {
    layer.units.weights(j, j) = 1.5;
    layer.units.weights(j + 2, j) = -0.7;
  }
  layer.units.biases = random_matrix(20, 1, 2);
  layer.activation = Activation::relu;
  network.layers.push_back(layer);
  const MatrixD readout = random_matrix(network.readout_rows(), 1, 3),
                x = random_matrix(15, inputs, 4);
  std::vector<Index> ends;
  for (Index i = 0; i < inputs; ++i) ends.push_back(i + 1);
  const VectorD units = VectorD::Ones(1);
  const MatrixD expected = effects_by_hand(network, readout, units, x, ends);
  CHECK((effects(network, readout, units, x, ends) - expected).norm() < 1e-12 * expected.norm());
}

TEST_CASE("a linear network's effects are its variances, and add up to that of its scores") {
  // Of many rows: inputs exchanged at random are like independent draws.
  const Index rows = 20000;
  Network network;
  network.direct_links = true;
  NetworkLayer none;
  none.units.weights = MatrixD::Zero(3, 0);
  none.units.biases = VectorD(0);
  network.layers.push_back(none);
  MatrixD readout(4, 1);
  readout << 2, -1, 0, 5;
  const MatrixD found =
      effects(network, readout, VectorD::Ones(1), random_matrix(rows, 3, 1), {1, 2, 3});
  CHECK(found(0, 0) == doctest::Approx(4).epsilon(0.05));
  CHECK(found(1, 0) == doctest::Approx(1).epsilon(0.05));
  CHECK(found(2, 0) == 0);
}

TEST_CASE("effects can be interrupted") {
  struct Interrupt {};
  Network network;
  network.layers.push_back(first_layer(9, false));
  const MatrixD readout = random_matrix(network.readout_rows(), 2, 8), x = random_matrix(5, 7, 9);
  CHECK_THROWS_AS(
      input_effects(network, readout, VectorD::Ones(2), InputView<double>{x.data(), 5, 7, false},
                    kOneByOne, 1, [] { throw Interrupt(); }),
      Interrupt);
}
