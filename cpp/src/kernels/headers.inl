// What the kernel sources need from outside, included before they are put into a variant's namespace.
#include <math.h>
#include <stdint.h>
#include <string.h>

#if (defined(__GNUC__) || defined(__clang__)) && !defined(STAGENETS_SCALAR_PACKS)
#define STAGENETS_VECTOR_PACKS 1
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#if defined(__AVX2__) && defined(__FMA__)
#define STAGENETS_AVX2_PACKS 1
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define STAGENETS_AVX512_PACKS 1  // besides the above: AVX2 helps with half packs
#endif
#endif
#endif

#if defined(__GNUC__) || defined(__clang__)
#define STAGENETS_INLINE inline __attribute__((always_inline))
#else
#define STAGENETS_INLINE __forceinline
#endif
