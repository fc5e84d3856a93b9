// Accuracy of the kernels against long double, for every instruction set this CPU runs: activations in units in the
// last place over the whole range of the type, products against a plain triple loop.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "stagenets/kernels.hpp"

namespace {

using stagenets::Activation;
using stagenets::Index;
using stagenets::Kernels;

struct NamedActivation {
  Activation activation;
  std::string name;
};

const std::vector<NamedActivation> kActivations = {
    {Activation::identity, "identity"}, {Activation::sigmoid, "sigmoid"},
    {Activation::tanh, "tanh"},         {Activation::relu, "relu"},
    {Activation::sine, "sine"},         {Activation::selu, "selu"},
    {Activation::tribas, "tribas"},     {Activation::radbas, "radbas"}};

template <class Scalar>
std::vector<const Kernels<Scalar>*> all_kernels() {
  std::vector<const Kernels<Scalar>*> found;
  while (const Kernels<Scalar>* next =
             stagenets::available_kernels<Scalar>(static_cast<int>(found.size())))
    found.push_back(next);
  return found;
}

// The definitions, in long double; only the square of radbas is rounded to the type, because that is how it is defined.
template <class Scalar>
long double reference(Activation activation, Scalar z) {
  const long double x = z;
  switch (activation) {
    case Activation::identity: return x;
    case Activation::sigmoid:
      return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
    case Activation::tanh: return std::tanh(x);
    case Activation::relu: return x < 0 ? 0 : x;
    case Activation::sine: return std::sin(x);
    case Activation::selu:
      return 1.0507009873554805L * (x > 0 ? x : 1.6732632423543772L * std::expm1(x));
    case Activation::tribas: return std::fabs(x) > 1 ? 0 : 1 - std::fabs(x);
    case Activation::radbas: {
      volatile Scalar square = z * z;
      return std::exp(-static_cast<long double>(square));
    }
  }
  return 0;
}

// The distance of `value` from `exact` in units of the last place of Scalar at `exact`; huge where only one is NaN or
// infinite.
template <class Scalar>
double error_in_ulps(Scalar value, long double exact) {
  const double wrong = 1e30;
  if (std::isnan(exact)) return std::isnan(value) ? 0 : wrong;
  const Scalar rounded = static_cast<Scalar>(exact);
  if (std::isinf(rounded) || !std::isfinite(value)) return value == rounded ? 0 : wrong;
  const Scalar size = std::fabs(rounded);
  const Scalar next = std::nextafter(size, std::numeric_limits<Scalar>::infinity());
  const long double ulp = std::isinf(next)
                              ? static_cast<long double>(size) - std::nextafter(size, Scalar(0))
                              : static_cast<long double>(next) - size;
  return static_cast<double>(std::fabs(static_cast<long double>(value) - exact) / ulp);
}

template <class Scalar>
std::vector<Scalar> arguments() {
  using Limits = std::numeric_limits<Scalar>;
  std::vector<Scalar> positive = {
      0, Limits::denorm_min(), Limits::min(), Limits::epsilon(), Limits::max(), Limits::infinity()};
  const double lowest = std::log(static_cast<double>(Limits::denorm_min()));
  const double highest = std::log(static_cast<double>(Limits::max())) - 1e-3;
  const int count = 40000;
  for (int i = 0; i < count; ++i) {
    const double part = (i + 0.5) / count;
    positive.push_back(static_cast<Scalar>(std::exp(lowest + part * (highest - lowest))));
    positive.push_back(static_cast<Scalar>(part * 3));
    positive.push_back(static_cast<Scalar>(part * 40));
    positive.push_back(static_cast<Scalar>(part * 800));
  }
  for (double multiple = 1; multiple < 3e6; multiple = std::ceil(multiple * 1.001)) {
    const Scalar near_zero = static_cast<Scalar>(multiple * 3.14159265358979323846);
    positive.push_back(near_zero);
    positive.push_back(std::nextafter(near_zero, Limits::infinity()));
    positive.push_back(std::nextafter(near_zero, Scalar(0)));
  }
  std::vector<Scalar> all = positive;
  for (const Scalar z : positive) all.push_back(-z);
  all.push_back(Limits::quiet_NaN());
  return all;
}

template <class Scalar>
void check_activations_within_four_ulps() {
  const std::vector<Scalar> z = arguments<Scalar>();
  for (const NamedActivation& named : kActivations) {
    std::vector<long double> exact(z.size());
    for (std::size_t i = 0; i < z.size(); ++i) exact[i] = reference(named.activation, z[i]);
    for (const Kernels<Scalar>* kernels : all_kernels<Scalar>()) {
      std::vector<Scalar> column = z;
      kernels->activate(named.activation, column.data(), static_cast<Index>(column.size()), 0);
      double worst = 0;
      Scalar where = 0;
      for (std::size_t i = 0; i < z.size(); ++i) {
        const double error = error_in_ulps(column[i], exact[i]);
        if (error > worst) {
          worst = error;
          where = z[i];
        }
      }
      CAPTURE(kernels->name);
      CAPTURE(named.name);
      CAPTURE(where);
      CHECK(worst <= 4);
    }
  }
}

// Columns of every length that ends inside a pack, with neighbours that must survive.
template <class Scalar>
void check_result_ignores_position_in_column() {
  std::mt19937 generator(1);
  std::normal_distribution<double> normal(0, 300);
  for (const Kernels<Scalar>* kernels : all_kernels<Scalar>())
    for (const NamedActivation& named : kActivations)
      for (Index rows = 0; rows < 72; ++rows) {
        const Scalar guard = Scalar(12345);
        std::vector<Scalar> column(static_cast<std::size_t>(rows) + 2, guard);
        for (Index i = 0; i < rows; ++i)
          column[1 + i] = static_cast<Scalar>(normal(generator) * (i % 3 ? 1 : 1e-2));
        const std::vector<Scalar> before = column;
        const double sum =
            kernels->activate(named.activation, column.data() + 1, rows, Scalar(0.25));
        bool same = column.front() == guard && column.back() == guard;
        double expected_sum = 0;
        for (Index i = 0; i < rows; ++i) {
          Scalar alone = before[1 + i] + Scalar(0.25);
          kernels->activate(named.activation, &alone, 1, 0);
          same = same && std::memcmp(&alone, &column[1 + i], sizeof(alone)) == 0;
          expected_sum += static_cast<double>(alone) * static_cast<double>(alone);
        }
        CAPTURE(kernels->name);
        CAPTURE(named.name);
        CAPTURE(rows);
        CHECK(same);
        const double rounding = static_cast<double>(std::numeric_limits<Scalar>::epsilon());
        CHECK(sum == doctest::Approx(expected_sum).epsilon(8 * rounding));
      }
}

// Numbers that take a pack off the common path, at every place of a column, must not change their neighbours, nor get
// another value than they have alone.
template <class Scalar>
void check_special_numbers_disturb_no_neighbour() {
  using Limits = std::numeric_limits<Scalar>;
  const auto same_bits = [](Scalar x, Scalar y) { return std::memcmp(&x, &y, sizeof(x)) == 0; };
  const Index rows = 37;
  std::vector<Scalar> plain(rows);
  for (Index i = 0; i < rows; ++i) plain[i] = static_cast<Scalar>(0.3 * i - 5);
  for (const Kernels<Scalar>* kernels : all_kernels<Scalar>())
    for (const NamedActivation& named : kActivations) {
      std::vector<Scalar> expected = plain;
      kernels->activate(named.activation, expected.data(), rows, 0);
      for (const Scalar special :
           {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), Limits::denorm_min(),
            -Limits::min(), Limits::max(), static_cast<Scalar>(sizeof(Scalar) == 4 ? -95 : -730),
            Scalar(1e7)}) {
        Scalar alone = special;
        kernels->activate(named.activation, &alone, 1, 0);
        bool same = true;
        for (Index place = 0; place < rows; ++place) {
          std::vector<Scalar> column = plain;
          column[place] = special;
          kernels->activate(named.activation, column.data(), rows, 0);
          for (Index i = 0; i < rows; ++i)
            same = same && same_bits(column[i], i == place ? alone : expected[i]);
        }
        CAPTURE(kernels->name);
        CAPTURE(named.name);
        CAPTURE(special);
        CHECK(same);
      }
    }
}

// A column-major matrix of random numbers whose padding rows are NaN, so that reading them shows.
template <class Scalar>
struct PaddedMatrix {
  PaddedMatrix(Index rows, Index columns, Index padding, unsigned seed)
      : stride(rows + padding),
        values(static_cast<std::size_t>(stride * columns + 1),
               std::numeric_limits<Scalar>::quiet_NaN()) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    for (Index j = 0; j < columns; ++j)
      for (Index i = 0; i < rows; ++i) at(i, j) = static_cast<Scalar>(normal(generator));
  }
  Scalar& at(Index i, Index j) { return values[static_cast<std::size_t>(i + j * stride)]; }

  Index stride;
  std::vector<Scalar> values;
};

struct Shape {
  Index a;
  Index b;
  Index rows;
};

template <class Check>
void for_each_shape(Check check) {
  for (const Index a : {0, 1, 2, 3, 7, 50})
    for (const Index b : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16})
      for (const Index rows : {0, 1, 3, 8, 15, 64, 100, 257, 512, 1024}) check(Shape{a, b, rows});
}

// Whether `padding` rows and the element after the last column are still NaN.
template <class Scalar>
bool padding_untouched(PaddedMatrix<Scalar>& matrix, Index rows, Index columns) {
  bool untouched = std::isnan(matrix.values.back());
  for (Index j = 0; j < columns; ++j)
    for (Index i = rows; i < matrix.stride; ++i)
      untouched = untouched && std::isnan(matrix.at(i, j));
  return untouched;
}

template <class Scalar>
void check_add_transposed_product(const Kernels<Scalar>& kernels, const Shape& shape) {
  PaddedMatrix<Scalar> A(shape.rows, shape.a, 3, 1);
  PaddedMatrix<Scalar> B(shape.rows, shape.b, 5, 2);
  PaddedMatrix<double> out(shape.a, shape.b, 1, 3);
  PaddedMatrix<double> before = out;
  PaddedMatrix<double> again = out;
  kernels.add_transposed_product(A.values.data(), A.stride, shape.a, B.values.data(), B.stride,
                                 shape.b, shape.rows, out.values.data(), out.stride);
  kernels.add_transposed_product(A.values.data(), A.stride, shape.a, B.values.data(), B.stride,
                                 shape.b, shape.rows, again.values.data(), again.stride);
  double worst = 0;
  for (Index j = 0; j < shape.b; ++j)
    for (Index i = 0; i < shape.a; ++i) {
      long double sum = before.at(i, j), size = std::fabs(sum);
      for (Index row = 0; row < shape.rows; ++row) {
        const long double product = static_cast<long double>(A.at(row, i)) * B.at(row, j);
        sum += product;
        size += std::fabs(product);
      }
      const double error = static_cast<double>(std::fabs(out.at(i, j) - sum) / size);
      worst = std::isnan(error) ? 1 : std::max(worst, error);
    }
  CAPTURE(kernels.name);
  CAPTURE(shape.a);
  CAPTURE(shape.b);
  CAPTURE(shape.rows);
  CHECK(worst <= (sizeof(Scalar) == sizeof(float) ? 3e-7 : 2e-15));
  CHECK(padding_untouched(out, shape.a, shape.b));
  CHECK(std::memcmp(out.values.data(), again.values.data(), out.values.size() * sizeof(double)) ==
        0);
}

template <class Scalar>
void check_subtract_product(const Kernels<Scalar>& kernels, const Shape& shape) {
  PaddedMatrix<Scalar> A(shape.rows, shape.a, 3, 1);
  PaddedMatrix<Scalar> C(shape.a, shape.b, 1, 2);
  PaddedMatrix<Scalar> Y(shape.rows, shape.b, 5, 3);
  PaddedMatrix<Scalar> before = Y;
  PaddedMatrix<Scalar> again = Y;
  kernels.subtract_product(A.values.data(), A.stride, shape.a, C.values.data(), C.stride, shape.b,
                           Y.values.data(), Y.stride, shape.rows);
  kernels.subtract_product(A.values.data(), A.stride, shape.a, C.values.data(), C.stride, shape.b,
                           again.values.data(), again.stride, shape.rows);
  double worst = 0;
  for (Index j = 0; j < shape.b; ++j)
    for (Index row = 0; row < shape.rows; ++row) {
      long double sum = before.at(row, j), size = std::fabs(sum);
      for (Index i = 0; i < shape.a; ++i) {
        const long double product = static_cast<long double>(A.at(row, i)) * C.at(i, j);
        sum -= product;
        size += std::fabs(product);
      }
      const double error = static_cast<double>(std::fabs(Y.at(row, j) - sum) / size);
      worst = std::isnan(error) ? 1 : std::max(worst, error);
    }
  CAPTURE(kernels.name);
  CAPTURE(shape.a);
  CAPTURE(shape.b);
  CAPTURE(shape.rows);
  CHECK(worst <= 8 * static_cast<double>(std::numeric_limits<Scalar>::epsilon()));
  CHECK(padding_untouched(Y, shape.rows, shape.b));
  CHECK(std::memcmp(Y.values.data(), again.values.data(), Y.values.size() * sizeof(Scalar)) == 0);
}

}  // namespace

TEST_CASE("activations are within four ulps of the definition over the whole range, in double") {
  check_activations_within_four_ulps<double>();
}

TEST_CASE("activations are within four ulps of the definition over the whole range, in float") {
  check_activations_within_four_ulps<float>();
}

TEST_CASE("an activation does not depend on where in the column an element stands") {
  check_result_ignores_position_in_column<double>();
  check_result_ignores_position_in_column<float>();
}

TEST_CASE("special numbers change none of their neighbours") {
  check_special_numbers_disturb_no_neighbour<double>();
  check_special_numbers_disturb_no_neighbour<float>();
}

TEST_CASE("squares of floats that are not bounded are summed in double") {
  for (const Kernels<float>* kernels : all_kernels<float>()) {
    for (const Activation activation : {Activation::identity, Activation::relu, Activation::selu}) {
      for (const Index rows : {1, 7, 40, 77}) {
        std::vector<float> column(static_cast<std::size_t>(rows), 1e25f);  // whose square overflows
        const double sum = kernels->activate(activation, column.data(), rows, 0);
        const double square = static_cast<double>(column[0]) * static_cast<double>(column[0]);
        CAPTURE(kernels->name);
        CHECK(sum == doctest::Approx(static_cast<double>(rows) * square).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("saturated arguments give exact limits") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Kernels<double>* kernels : all_kernels<double>()) {
    const auto apply = [kernels](Activation activation, double z) {
      kernels->activate(activation, &z, 1, 0);
      return z;
    };
    for (const double z : {1000.0, 1e300, infinity}) {
      CHECK(apply(Activation::sigmoid, z) == 1);
      CHECK(apply(Activation::sigmoid, -z) == 0);
      CHECK(apply(Activation::tanh, z) == 1);
      CHECK(apply(Activation::tanh, -z) == -1);
      CHECK(apply(Activation::radbas, z) == 0);
      CHECK(apply(Activation::radbas, -z) == 0);
      CHECK(apply(Activation::tribas, z) == 0);
      CHECK(apply(Activation::relu, -z) == 0);
      CHECK(apply(Activation::selu, -z) ==
            doctest::Approx(-1.0507009873554805 * 1.6732632423543772).epsilon(1e-15));
    }
    CHECK(apply(Activation::selu, infinity) == infinity);
    CHECK(std::isnan(apply(Activation::sine, infinity)));
    for (const NamedActivation& named : kActivations) {
      CAPTURE(named.name);
      CHECK(std::isnan(apply(named.activation, std::numeric_limits<double>::quiet_NaN())));
    }
  }
}

TEST_CASE("the transposed product is added for every shape and stride") {
  for_each_shape([](const Shape& shape) {
    for (const auto* kernels : all_kernels<double>()) check_add_transposed_product(*kernels, shape);
    for (const auto* kernels : all_kernels<float>()) check_add_transposed_product(*kernels, shape);
  });
}

TEST_CASE("the product is subtracted for every shape and stride") {
  for_each_shape([](const Shape& shape) {
    for (const auto* kernels : all_kernels<double>()) check_subtract_product(*kernels, shape);
    for (const auto* kernels : all_kernels<float>()) check_subtract_product(*kernels, shape);
  });
}

TEST_CASE("the last available kernels are the ones in use") {
  CHECK(&stagenets::kernels<double>() == all_kernels<double>().back());
  CHECK(&stagenets::kernels<float>() == all_kernels<float>().back());
  CHECK(std::string(all_kernels<double>().front()->name) == "baseline");
}

TEST_CASE("activations are found by name and unknown names are refused with what is accepted") {
  for (const NamedActivation& named : kActivations)
    CHECK(stagenets::activation_from_name(named.name) == named.activation);
  try {
    stagenets::activation_from_name("swish");
    FAIL("no exception");
  } catch (const std::invalid_argument& error) {
    CHECK(std::string(error.what()).find("'swish'") != std::string::npos);
    CHECK(std::string(error.what()).find("'radbas'") != std::string::npos);
  }
}
