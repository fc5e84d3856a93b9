// Chooses the kernels by what the CPU and the operating system support, once per process.
#include "residuum/kernels.hpp"

#include "kernels/variants.hpp"

#if defined(RESIDUUM_HAS_AVX2_KERNELS) && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace residuum {
namespace {

#ifdef RESIDUUM_HAS_AVX2_KERNELS
bool cpu_has_avx2_and_fma() {
#ifdef _MSC_VER
  int leaf[4];
  __cpuid(leaf, 0);
  if (leaf[0] < 7) return false;
  __cpuid(leaf, 1);
  const int wanted = (1 << 12) | (1 << 27) | (1 << 28);  // fma, osxsave, avx
  if ((leaf[2] & wanted) != wanted) return false;
  if ((_xgetbv(0) & 6) != 6) return false;  // the system must save the wide registers
  __cpuidex(leaf, 7, 0);
  return (leaf[1] & (1 << 5)) != 0;
#else
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
}
#endif

int count_variants() {
#ifdef RESIDUUM_HAS_AVX2_KERNELS
  if (cpu_has_avx2_and_fma()) return 2;
#endif
  return 1;
}

int variant_count() {
  static const int count = count_variants();
  return count;
}

}  // namespace

template <>
const Kernels<float>* available_kernels<float>(int i) {
  if (i < 0 || i >= variant_count()) return nullptr;
#ifdef RESIDUUM_HAS_AVX2_KERNELS
  if (i == 1) return &avx2::kFloatKernels;
#endif
  return &baseline::kFloatKernels;
}

template <>
const Kernels<double>* available_kernels<double>(int i) {
  if (i < 0 || i >= variant_count()) return nullptr;
#ifdef RESIDUUM_HAS_AVX2_KERNELS
  if (i == 1) return &avx2::kDoubleKernels;
#endif
  return &baseline::kDoubleKernels;
}

template <>
const Kernels<float>& kernels<float>() {
  return *available_kernels<float>(variant_count() - 1);
}

template <>
const Kernels<double>& kernels<double>() {
  return *available_kernels<double>(variant_count() - 1);
}

}  // namespace residuum
