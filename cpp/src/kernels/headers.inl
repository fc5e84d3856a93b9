// What the kernel sources need from outside, included before they are put into a variant's namespace.
#include <math.h>
#include <stdint.h>
#include <string.h>

#if (defined(__GNUC__) || defined(__clang__)) && !defined(RESIDUUM_SCALAR_PACKS)
#define RESIDUUM_VECTOR_PACKS 1
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#endif

#if defined(__GNUC__) || defined(__clang__)
#define RESIDUUM_INLINE inline __attribute__((always_inline))
#else
#define RESIDUUM_INLINE __forceinline
#endif
