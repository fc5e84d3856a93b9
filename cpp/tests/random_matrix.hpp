#pragma once

#include <random>

#include "stagenets/types.hpp"

// Normal numbers, the same for the same seed.
inline stagenets::MatrixD random_matrix(stagenets::Index rows, stagenets::Index columns,
                                        unsigned seed) {
  std::mt19937 words(seed);
  std::normal_distribution<double> normal;
  return stagenets::MatrixD::NullaryExpr(rows, columns, [&] { return normal(words); });
}
