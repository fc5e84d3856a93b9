// Quartiles of values that count by weight: a value of weight 3 is the value three times.
#pragma once

#include <array>
#include <utility>
#include <vector>

namespace stagenets {

// The values below which a quarter, a half and three quarters of the weight lie; (value, weight) each. Sorts them.
std::array<double, 3> quartiles(std::vector<std::pair<double, double>>& values);

}  // namespace stagenets
