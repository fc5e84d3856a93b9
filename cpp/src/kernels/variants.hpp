// The instruction-set variants of the kernels, one namespace each; kernels.cpp chooses between them.
#pragma once

#include "stagenets/kernels.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#define STAGENETS_HAS_AVX2_KERNELS 1
#endif
// Not every compiler knows AVX-512: the build defines STAGENETS_HAS_AVX512_KERNELS where it does.

namespace stagenets {

namespace baseline {
extern const Kernels<float> kFloatKernels;
extern const Kernels<double> kDoubleKernels;
}  // namespace baseline

#ifdef STAGENETS_HAS_AVX2_KERNELS
namespace avx2 {
extern const Kernels<float> kFloatKernels;
extern const Kernels<double> kDoubleKernels;
}  // namespace avx2
#endif

#ifdef STAGENETS_HAS_AVX512_KERNELS
namespace avx512 {
extern const Kernels<float> kFloatKernels;
extern const Kernels<double> kDoubleKernels;
}  // namespace avx512
#endif

}  // namespace stagenets
