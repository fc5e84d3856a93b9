// Networks as a hostile file may describe them: either they are refused, or they can be asked for anything that a model
// that was loaded is asked for. libFuzzer calls the function at the end; the sanitizers say what went wrong.
#include <fuzzer/FuzzedDataProvider.h>

#include <iterator>
#include <limits>
#include <stdexcept>

#include "../openblas.hpp"
#include "stagenets/fitted_network.hpp"
#include "stagenets/input_effects.hpp"
#include "stagenets/team.hpp"

namespace stagenets {
namespace {

constexpr Index kMostInputs = 6, kMostUnits = 5, kMostOutputs = 3, kRows = 5;

// Sizes and values from the fuzzer's bytes. Sizes are the right ones in most cases, so that networks get beyond the
// first check; values are small, or as odd as values can be.
class Given {
 public:
  Given(const std::uint8_t* bytes, std::size_t count) : bytes_(bytes, count) {}

  bool one_in(int many) { return bytes_.ConsumeIntegralInRange(0, many - 1) == 1; }
  Index size(Index least, Index most) { return bytes_.ConsumeIntegralInRange(least, most); }
  Index about(Index right) { return one_in(48) ? size(0, right + 2) : right; }
  double value() {
    if (!one_in(16)) return bytes_.ConsumeIntegral<std::int8_t>() / 16.0;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return bytes_.PickValueInArray({0.0, -0.0, 1e308, -1e308, 1e-310, 1e39, kInfinity, -kInfinity,
                                    std::numeric_limits<double>::quiet_NaN()});
  }
  MatrixD matrix(Index rows, Index columns) {
    const Index given_rows = about(rows), given_columns = about(columns);
    return MatrixD::NullaryExpr(given_rows, given_columns, [&] { return value(); });
  }
  VectorD vector(Index size) { return matrix(size, 1).reshaped(); }
  // Rising numbers that end with the last.
  std::vector<Index> ends(Index first, Index count, Index last) {
    std::vector<Index> found;
    for (Index i = 0; i < count; ++i) {
      found.push_back(one_in(24) ? bytes_.ConsumeIntegral<Index>() : std::min(first + i, last));
    }
    if (!found.empty() && !one_in(24)) found.back() = last;
    return found;
  }

 private:
  FuzzedDataProvider bytes_;
};

NetworkLayer layer_of(Given& given, Index inputs, Index units) {
  NetworkLayer layer;
  const bool joined = given.one_in(3);
  const Index terms = joined ? units + given.size(0, 3) : units;
  layer.units.weights = given.matrix(inputs, terms);
  layer.units.biases = given.vector(terms);
  if (joined) layer.units.ends = given.ends(1, units, terms);
  layer.activation = kActivations[given.size(0, std::size(kActivations) - 1)].activation;
  if (given.one_in(3)) {
    layer.gain = given.vector(units);
    layer.shift = given.vector(units);
  }
  return layer;
}

enum class Question { scores, stages, activations };

template <class Scalar>
void ask(const FittedNetwork& network, const Matrix<Scalar>& rows, Question question) {
  const Inputs<Scalar> inputs(InputView<Scalar>{rows.data(), rows.rows(), rows.cols(), false});
  const auto answer = [&](auto zero) {
    using Type = decltype(zero);
    const auto predictor =
        question == Question::stages ? network.path_predictor<Type>() : network.predictor<Type>();
    Team::run(1, {}, [&](Team& team) {
      if (question == Question::activations) {
        std::vector<Scalar> units(static_cast<std::size_t>(rows.rows() * predictor->units()));
        predictor->activations(inputs, units.data(), team);
      } else {
        std::vector<Type> scores(static_cast<std::size_t>(rows.rows() * predictor->outputs()));
        predictor->scores(inputs, scores.data(), team);
      }
    });
  };
  if (network.needs_double()) {
    answer(double());
  } else {
    answer(Scalar());
  }
}

void ask_for_effects(const FittedNetwork& fitted, const MatrixD& rows) {
  std::vector<Index> ends(static_cast<std::size_t>(rows.cols()));
  for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = static_cast<Index>(i) + 1;
  const VectorD units = VectorD::Ones(fitted.readout().cols());
  const InputView<double> view{rows.data(), rows.rows(), rows.cols(), false};
  input_effects(fitted.network(), fitted.readout(), units, view, ends, 1, {});
}

void try_one(Given& given) {
  Network network;
  const Index inputs = given.size(0, kMostInputs), outputs = given.size(0, kMostOutputs);
  Index width = inputs;
  for (Index layer = given.size(0, 2); layer >= 0; --layer) {
    const Index units = given.size(0, kMostUnits);
    network.layers.push_back(layer_of(given, width, units));
    width = units;
  }
  network.direct_links = given.one_in(2);
  if (given.one_in(3)) network.bounds = {given.vector(inputs), given.vector(inputs)};
  const Index height = network.readout_rows(), steps = given.size(0, 4);
  MatrixD readout = given.matrix(height, outputs);
  ReadoutPath path;
  path.start = given.matrix(height, outputs);
  path.directions = given.matrix(height, steps);
  path.steps = given.matrix(steps, outputs);
  path.ends = given.ends(0, given.size(1, 4), steps);
  const FittedNetwork fitted(std::move(network), std::move(readout), std::move(path));

  const MatrixD rows =
      MatrixD::NullaryExpr(kRows, fitted.network().inputs(), [&] { return given.value(); });
  const Index question = given.size(0, 7);
  if (question < 3) {
    ask<double>(fitted, rows, static_cast<Question>(question));
  } else if (question < 6) {
    ask<float>(fitted, rows.cast<float>(), static_cast<Question>(question - 3));
  } else if (question == 6) {
    ask_for_effects(fitted, rows);
  } else {
    ReadoutPath shorter = fitted.path();
    shorter.cut(given.size(0, static_cast<Index>(shorter.ends.size()) - 1), shorter.start.rows());
  }
}

}  // namespace
}  // namespace stagenets

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  use_openblas();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  stagenets::Given given(bytes, count);
  try {
    stagenets::try_one(given);
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
