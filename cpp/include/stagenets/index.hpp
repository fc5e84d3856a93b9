// The type of every size and offset in the core. It is signed, as Eigen::Index is, so that differences and downward
// loops need no care, and it is kept apart so that the kernels need not include Eigen.
#pragma once

#include <cstddef>

namespace stagenets {

using Index = std::ptrdiff_t;

}  // namespace stagenets
