// Quartiles of values that count by weight.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace stagenets {

// The values below which a quarter, a half and three quarters of the weight lie; (value, weight) each. Sorts them.
inline std::array<double, 3> quartiles(std::vector<std::pair<double, double>>& values) {
  std::sort(values.begin(), values.end());
  double total = 0;
  for (const auto& [value, weight] : values) total += weight;
  std::array<double, 3> found{};
  std::size_t i = 0;
  double below = values.front().second;
  for (std::size_t quarter = 0; quarter < 3; ++quarter) {
    const double wanted = static_cast<double>(quarter + 1) / 4 * total;
    while (i + 1 < values.size() && below <= wanted) below += values[++i].second;
    found[quarter] = values[i].first;
  }
  return found;
}

}  // namespace stagenets
