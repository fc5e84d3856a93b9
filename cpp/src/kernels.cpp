// Chooses the kernels that the CPU and the operating system support, once per process.
#include "stagenets/kernels.hpp"

#include <atomic>

#include "kernels/variants.hpp"

#if defined(STAGENETS_HAS_AVX2_KERNELS) && defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace stagenets {
namespace {

#ifdef STAGENETS_HAS_AVX2_KERNELS

#ifdef _MSC_VER
// Whether the CPU has these features (of leaves 1, ecx, and 7, ebx) and the system saves these registers.
#ifdef __clang__
__attribute__((target("xsave")))  // its _xgetbv asks for this, and is called where OSXSAVE says yes
#endif
bool cpu_has(int leaf1_ecx, int leaf7_ebx, unsigned saved_registers) {
  constexpr int kOsxsave = 1 << 27;
  int leaf[4];
  __cpuid(leaf, 0);
  if (leaf[0] < 7) return false;
  __cpuid(leaf, 1);
  if ((leaf[2] & kOsxsave) == 0 || (leaf[2] & leaf1_ecx) != leaf1_ecx) return false;
  if ((_xgetbv(0) & saved_registers) != saved_registers) return false;
  __cpuidex(leaf, 7, 0);
  return (leaf[1] & leaf7_ebx) == leaf7_ebx;
}
#endif

bool cpu_has_avx2_and_fma() {
#ifdef _MSC_VER
  return cpu_has((1 << 12) | (1 << 28), 1 << 5, 0x6);  // fma, avx; avx2
#else
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
}

#endif

#ifdef STAGENETS_HAS_AVX512_KERNELS
bool cpu_has_avx512() {
#ifdef _MSC_VER
  // f, dq, cd, bw, vl: the features that /arch:AVX512 may use
  return cpu_has(0, (1 << 16) | (1 << 17) | (1 << 28) | (1 << 30) | static_cast<int>(1u << 31),
                 0xE6);
#else
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#endif
}
#endif

int count_variants() {
#ifdef STAGENETS_HAS_AVX2_KERNELS
  if (!cpu_has_avx2_and_fma()) return 1;
#ifdef STAGENETS_HAS_AVX512_KERNELS
  if (cpu_has_avx512()) return 3;
#endif
  return 2;
#else
  return 1;
#endif
}

int variant_count() {
  static const int count = count_variants();
  return count;
}

constexpr int kFastest = -1;
std::atomic<int> wanted_variant{kFastest};

int chosen_variant() {
  const int wanted = wanted_variant.load(std::memory_order_relaxed);
  return wanted == kFastest ? variant_count() - 1 : wanted;
}

}  // namespace

template <>
const Kernels<float>* available_kernels<float>(int i) {
  if (i < 0 || i >= variant_count()) return nullptr;
#ifdef STAGENETS_HAS_AVX512_KERNELS
  if (i == 2) return &avx512::kFloatKernels;
#endif
#ifdef STAGENETS_HAS_AVX2_KERNELS
  if (i == 1) return &avx2::kFloatKernels;
#endif
  return &baseline::kFloatKernels;
}

template <>
const Kernels<double>* available_kernels<double>(int i) {
  if (i < 0 || i >= variant_count()) return nullptr;
#ifdef STAGENETS_HAS_AVX512_KERNELS
  if (i == 2) return &avx512::kDoubleKernels;
#endif
#ifdef STAGENETS_HAS_AVX2_KERNELS
  if (i == 1) return &avx2::kDoubleKernels;
#endif
  return &baseline::kDoubleKernels;
}

template <>
const Kernels<float>& kernels<float>() {
  return *available_kernels<float>(chosen_variant());
}

template <>
const Kernels<double>& kernels<double>() {
  return *available_kernels<double>(chosen_variant());
}

bool use_kernels(const std::string& name) {
  for (int i = 0; const Kernels<double>* variant = available_kernels<double>(i); ++i) {
    if (name != variant->name) continue;
    wanted_variant = i;
    return true;
  }
  return false;
}

}  // namespace stagenets
