// The kernels for x86-64 CPUs with AVX-512. Compile with -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma, or
// /arch:AVX512.
// Everything but the two tables has internal linkage and no function template of the standard library is used, so the
// linker can never take code compiled with these flags for code that runs on every CPU.
#include "variants.hpp"

#ifdef STAGENETS_HAS_AVX512_KERNELS

#if !defined(__AVX512F__) || !defined(__AVX512DQ__)
#error "avx512.cpp must be compiled with AVX-512 enabled: -mavx512f -mavx512dq ..., or /arch:AVX512"
#endif

// GCC 12 takes the undefined registers in its own intrinsics for mistakes.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "headers.inl"

namespace stagenets {
namespace avx512 {
namespace {

// Each builds on the ones before it.
// clang-format off
#include "pack.inl"
#include "elementary.inl"
#include "activate.inl"
#include "skinny.inl"
#include "combine.inl"
#include "tally.inl"
#include "exponential.inl"
#include "softmax.inl"
#include "table.inl"
// clang-format on

}  // namespace

const Kernels<float> kFloatKernels = all_kernels<float>("avx512");
const Kernels<double> kDoubleKernels = all_kernels<double>("avx512");

}  // namespace avx512
}  // namespace stagenets

#endif  // STAGENETS_HAS_AVX512_KERNELS
