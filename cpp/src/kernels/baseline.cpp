// The kernels for any CPU of the architecture the package is built for.
// Everything but the two tables has internal linkage and no function template of the standard library is used, so the
// linker can never take code compiled with these flags for code that runs on every CPU.
#include "headers.inl"
#include "variants.hpp"

namespace stagenets {
namespace baseline {
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

const Kernels<float> kFloatKernels = all_kernels<float>("baseline");
const Kernels<double> kDoubleKernels = all_kernels<double>("baseline");

}  // namespace baseline
}  // namespace stagenets
