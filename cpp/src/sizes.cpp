#include "stagenets/sizes.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#ifdef __linux__
#include <sys/sysinfo.h>
#endif

namespace stagenets {
namespace {

constexpr Index kLargestIndex = std::numeric_limits<Index>::max();

// As "3.2 TB".
std::string in_words(double bytes) {
  constexpr std::array<const char*, 9> kUnits{"bytes", "kB", "MB", "GB", "TB",
                                              "PB",    "EB", "ZB", "YB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < kUnits.size(); ++unit) bytes /= 1000;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", bytes < 10 && unit > 0 ? 1 : 0, bytes,
                kUnits[unit]);
  return text.data();
}

// Bytes that there can be at most: memory and swap, where the system promises more than it has and would end the process
// later on, without a word. Elsewhere half of what an Index can count, which leaves room for rounding, alignment and what
// is not counted here.
double most_bytes() {
  const double addressable = static_cast<double>(kLargestIndex / 2);
#ifdef __linux__
  struct sysinfo machine{};
  if (sysinfo(&machine) == 0) {
    return std::min(addressable, static_cast<double>(machine.mem_unit) *
                                     (static_cast<double>(machine.totalram) +
                                      static_cast<double>(machine.totalswap)));
  }
#endif
  return addressable;
}

// Whether the n × n form is set up from the start.
bool starts_dual(const FitShape& shape, const StagewiseSettings& stages) {
  if (stages.loss != Loss::squared) return false;
  if (stages.solver != Solver::automatic) return stages.solver == Solver::dual;
  const Index columns = stages.one_shot() ? limited_sum(shape.fixed, shape.units) - 1 : shape.fixed;
  return stages.alpha > 0 && columns >= shape.rows;
}

}  // namespace

Index limited_product(Index a, Index b) {
  return b > 0 && a > kLargestIndex / b ? kLargestIndex : a * b;
}

Index limited_sum(Index a, Index b) { return a > kLargestIndex - b ? kLargestIndex : a + b; }

TooLarge::TooLarge(const std::string& what, double bytes)
    : message_(what + " of this size needs at least " + in_words(bytes) + " of memory") {}

bool starts_in_row_space(Loss loss, Index fixed, Index rows) {
  return loss != Loss::squared && fixed > rows;
}

bool starts_wide(bool sparse_links, Index fixed, Index rows, const StagewiseSettings& stages) {
  const bool staged = !stages.one_shot() || stages.loss != Loss::squared;
  return sparse_links && staged && fixed >= rows && stages.alpha > 0 &&
         stages.solver != Solver::primal;
}

double ridge_bytes(const FitShape& shape, const StagewiseSettings& stages) {
  const double rows = static_cast<double>(shape.rows), units = static_cast<double>(shape.units);
  const double outputs = static_cast<double>(shape.outputs);
  const double scalar = static_cast<double>(shape.scalar_bytes);
  const bool in_row_space = starts_in_row_space(stages.loss, shape.fixed, shape.rows);
  const double width = (in_row_space ? rows : static_cast<double>(shape.fixed)) + units;
  if (starts_wide(shape.sparse_links, shape.fixed, shape.rows, stages)) {
    return 8 * rows * rows + rows * units * scalar;
  }
  if (starts_dual(shape, stages)) {
    return 8 * rows * rows + (stages.one_shot() ? rows * units * (scalar + 8) : 0.0);
  }
  if (stages.one_shot() && stages.loss == Loss::squared)
    return 16 * (width + outputs) * (width + outputs);
  // The joint choice looks at more than twice a block.
  const double spare = 2.0 * static_cast<double>(stages.largest_block(shape.units));
  const double held = spare + (stages.store == Store::memory ? width : 0.0);
  return rows * (held + outputs) * scalar + 8 * width * (width + outputs);
}

double pool_bytes(Index candidates, Index inputs) {
  return 8 * static_cast<double>(candidates) * (static_cast<double>(inputs) + 1);
}

void check_addressable(const std::string& what, double bytes) {
  if (bytes > most_bytes()) throw TooLarge(what, bytes);
}

}  // namespace stagenets
