// The kernels for x86-64 CPUs with AVX2 and FMA. Compile with -mavx2 -mfma, or /arch:AVX2.
// Everything but the two tables has internal linkage and no function template of the standard library is used, so the
// linker can never take code compiled with these flags for code that runs on every CPU.
#include "variants.hpp"

#ifdef STAGENETS_HAS_AVX2_KERNELS

#ifndef __AVX2__
#error "avx2.cpp must be compiled with AVX2 enabled: -mavx2 -mfma, or /arch:AVX2"
#endif

#include "headers.inl"

namespace stagenets {
namespace avx2 {
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

const Kernels<float> kFloatKernels = all_kernels<float>("avx2");
const Kernels<double> kDoubleKernels = all_kernels<double>("avx2");

}  // namespace avx2
}  // namespace stagenets

#endif  // STAGENETS_HAS_AVX2_KERNELS
