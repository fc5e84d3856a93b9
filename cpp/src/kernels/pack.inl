// A pack is one vector register of floats or doubles with the usual operators, made from the vector extension of GCC
// and Clang. Other compilers get packs of one lane, plain numbers: the same kernels, as fast as scalar code is.

#ifdef STAGENETS_VECTOR_PACKS

#if defined(STAGENETS_AVX512_PACKS)
constexpr int kPackBytes = 64;
#elif defined(STAGENETS_AVX2_PACKS)
constexpr int kPackBytes = 32;
#else
constexpr int kPackBytes = 16;
#endif

typedef double Doubles __attribute__((vector_size(kPackBytes)));
typedef float Floats __attribute__((vector_size(kPackBytes)));
typedef uint64_t DoubleBits __attribute__((vector_size(kPackBytes)));
typedef uint32_t FloatBits __attribute__((vector_size(kPackBytes)));
typedef float HalfFloats __attribute__((vector_size(kPackBytes / 2)));

#else

typedef double Doubles;
typedef float Floats;
typedef uint64_t DoubleBits;
typedef uint32_t FloatBits;

#endif

// A number known to the compiler, passed as an argument.
template <int kValue>
struct Constant {
  constexpr operator int() const { return kValue; }
};

// body(Constant<0>()), ..., body(Constant<kCount - 1>()). Arrays indexed by these stay in registers, whereas compilers
// often unroll a loop too late to see that they can.
template <int kCount, class Body>
STAGENETS_INLINE void unrolled(const Body& body) {
  if constexpr (kCount > 0) {
    unrolled<kCount - 1>(body);
    body(Constant<kCount - 1>());
  }
}

template <class Scalar>
struct PackOf;
template <>
struct PackOf<double> {
  typedef Doubles Type;
  typedef DoubleBits Bits;
};
template <>
struct PackOf<float> {
  typedef Floats Type;
  typedef FloatBits Bits;
};

template <class Scalar>
using Pack = typename PackOf<Scalar>::Type;

template <class Scalar>
constexpr Index kLanes = static_cast<Index>(sizeof(Pack<Scalar>) / sizeof(Scalar));

template <class Scalar>
STAGENETS_INLINE Pack<Scalar> load(const Scalar* from) {
  Pack<Scalar> pack;
  memcpy(&pack, from, sizeof(pack));
  return pack;
}

template <class Scalar>
STAGENETS_INLINE void store(Scalar* to, Pack<Scalar> pack) {
  memcpy(to, &pack, sizeof(pack));
}

// load_first reads the first `count` < kLanes elements and makes the rest zero, store_first writes them: the ends of
// columns, past which nothing is touched.
#if defined(STAGENETS_AVX512_PACKS)

template <class Scalar>
STAGENETS_INLINE Pack<Scalar> load_first(const Scalar* from, Index count) {
  const unsigned lanes = (1u << count) - 1;
  if constexpr (sizeof(Scalar) == sizeof(double))
    return (Doubles)_mm512_maskz_loadu_pd(static_cast<__mmask8>(lanes), from);
  else
    return (Floats)_mm512_maskz_loadu_ps(static_cast<__mmask16>(lanes), from);
}

template <class Scalar>
STAGENETS_INLINE void store_first(Scalar* to, Pack<Scalar> pack, Index count) {
  const unsigned lanes = (1u << count) - 1;
  if constexpr (sizeof(Scalar) == sizeof(double))
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>(lanes), (__m512d)pack);
  else
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>(lanes), (__m512)pack);
}

#elif defined(STAGENETS_AVX2_PACKS)

// All ones in the first `count` lanes.
template <class Scalar>
STAGENETS_INLINE __m256i first_lanes(Index count) {
  if constexpr (sizeof(Scalar) == sizeof(double))
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  else
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

template <class Scalar>
STAGENETS_INLINE Pack<Scalar> load_first(const Scalar* from, Index count) {
  if constexpr (sizeof(Scalar) == sizeof(double))
    return (Doubles)_mm256_maskload_pd(from, first_lanes<Scalar>(count));
  else
    return (Floats)_mm256_maskload_ps(from, first_lanes<Scalar>(count));
}

template <class Scalar>
STAGENETS_INLINE void store_first(Scalar* to, Pack<Scalar> pack, Index count) {
  if constexpr (sizeof(Scalar) == sizeof(double))
    _mm256_maskstore_pd(to, first_lanes<Scalar>(count), (__m256d)pack);
  else
    _mm256_maskstore_ps(to, first_lanes<Scalar>(count), (__m256)pack);
}

#else

template <class Scalar>
STAGENETS_INLINE Pack<Scalar> load_first(const Scalar* from, Index count) {
  Scalar lanes[kLanes<Scalar>] = {};
  for (Index i = 0; i < count; ++i) lanes[i] = from[i];
  return load<Scalar>(lanes);
}

template <class Scalar>
STAGENETS_INLINE void store_first(Scalar* to, Pack<Scalar> pack, Index count) {
  Scalar lanes[kLanes<Scalar>];
  store<Scalar>(lanes, pack);
  for (Index i = 0; i < count; ++i) to[i] = lanes[i];
}

#endif

template <class Scalar>
STAGENETS_INLINE Pack<Scalar> fill(Scalar value) {
  return value - Pack<Scalar>{};  // not plus: -0 + 0 would lose the sign
}

STAGENETS_INLINE DoubleBits bits_of(Doubles x) {
  DoubleBits bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

STAGENETS_INLINE FloatBits bits_of(Floats x) {
  FloatBits bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

STAGENETS_INLINE Doubles from_bits(DoubleBits bits) {
  Doubles x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

STAGENETS_INLINE Floats from_bits(FloatBits bits) {
  Floats x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

// What x has in the last `count` lanes, and zero before them.
template <class Scalar>
STAGENETS_INLINE Pack<Scalar> last_lanes(Pack<Scalar> x, Index count) {
  Scalar ones[2 * kLanes<Scalar>];
  memset(ones, 0, sizeof(ones) / 2);
  memset(ones + kLanes<Scalar>, 0xff, sizeof(ones) / 2);
  return from_bits(bits_of(x) & bits_of(load<Scalar>(ones + count)));
}

// x y + z, rounded once where the instruction set can and twice elsewhere; nothing here relies on the single rounding.
STAGENETS_INLINE Doubles mul_add(Doubles x, Doubles y, Doubles z) {
#if defined(STAGENETS_AVX512_PACKS)
  return (Doubles)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z);
#elif defined(STAGENETS_AVX2_PACKS)
  return (Doubles)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
#elif defined(STAGENETS_VECTOR_PACKS) && defined(__aarch64__)
  return (Doubles)vfmaq_f64((float64x2_t)z, (float64x2_t)x, (float64x2_t)y);
#else
  return x * y + z;
#endif
}

STAGENETS_INLINE Floats mul_add(Floats x, Floats y, Floats z) {
#if defined(STAGENETS_AVX512_PACKS)
  return (Floats)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)z);
#elif defined(STAGENETS_AVX2_PACKS)
  return (Floats)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z);
#elif defined(STAGENETS_VECTOR_PACKS) && defined(__aarch64__)
  return (Floats)vfmaq_f32((float32x4_t)z, (float32x4_t)x, (float32x4_t)y);
#else
  return x * y + z;
#endif
}

// x / y where the inverse of y is a normal number, within two ulps. AVX-512 estimates inverses of floats to 14 bits, and
// with the Newton step that doubles them this is faster than its division; for doubles two steps are not.
STAGENETS_INLINE Doubles quotient(Doubles x, Doubles y) { return x / y; }

STAGENETS_INLINE Floats quotient(Floats x, Floats y) {
#if defined(STAGENETS_AVX512_PACKS)
  const Floats estimate = (Floats)_mm512_rcp14_ps((__m512)y);
  return x * mul_add(estimate, mul_add(-y, estimate, fill<float>(1)), estimate);
#else
  return x / y;
#endif
}

// Whether x <= limit in every lane; a NaN is not.
STAGENETS_INLINE bool all_within(Doubles x, double limit) {
#if defined(STAGENETS_AVX512_PACKS)
  return _mm512_cmp_pd_mask((__m512d)x, _mm512_set1_pd(limit), _CMP_NLE_UQ) == 0;
#elif defined(STAGENETS_AVX2_PACKS)
  return _mm256_movemask_pd((__m256d)(x <= limit)) == 0xf;
#elif defined(STAGENETS_VECTOR_PACKS) && defined(__SSE2__)
  return _mm_movemask_pd((__m128d)(x <= limit)) == 0x3;
#elif defined(STAGENETS_VECTOR_PACKS)
  const auto within = x <= limit;
  return (within[0] & within[1]) != 0;
#else
  return x <= limit;
#endif
}

STAGENETS_INLINE bool all_within(Floats x, float limit) {
#if defined(STAGENETS_AVX512_PACKS)
  return _mm512_cmp_ps_mask((__m512)x, _mm512_set1_ps(limit), _CMP_NLE_UQ) == 0;
#elif defined(STAGENETS_AVX2_PACKS)
  return _mm256_movemask_ps((__m256)(x <= limit)) == 0xff;
#elif defined(STAGENETS_VECTOR_PACKS) && defined(__SSE2__)
  return _mm_movemask_ps((__m128)(x <= limit)) == 0xf;
#elif defined(STAGENETS_VECTOR_PACKS)
  const auto within = x <= limit;
  return (within[0] & within[1] & within[2] & within[3]) != 0;
#else
  return x <= limit;
#endif
}

// A full pack's worth of doubles from half a pack's worth of floats.
STAGENETS_INLINE Doubles load_widened(const float* from) {
#ifdef STAGENETS_VECTOR_PACKS
  HalfFloats half;
  memcpy(&half, from, sizeof(half));
  return __builtin_convertvector(half, Doubles);
#else
  return *from;
#endif
}

STAGENETS_INLINE Doubles load_widened(const double* from) { return load<double>(from); }

// x, kept in a register. Compilers like to repeat a load as an operand of every instruction that needs it; loads of 64
// bytes, each of which crosses a cache line unless aligned, are then the bottleneck.
template <class AnyPack>
STAGENETS_INLINE AnyPack in_register(AnyPack x) {
#ifdef STAGENETS_AVX512_PACKS
  asm("" : "+v"(x));
#endif
  return x;
}

// The sum of the lanes, in a fixed order.
STAGENETS_INLINE double total(Doubles x) {
  double lanes[kLanes<double>];
  store<double>(lanes, x);
  for (Index width = kLanes<double> / 2; width > 0; width /= 2)
    for (Index i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  return lanes[0];
}

STAGENETS_INLINE double total(Floats x) {
  float lanes[kLanes<float>];
  store<float>(lanes, x);
  Doubles sum = load_widened(lanes);
  for (Index i = kLanes<double>; i < kLanes<float>; i += kLanes<double>)
    sum += load_widened(lanes + i);
  return total(sum);
}

#ifdef STAGENETS_AVX2_PACKS

// The upper half of a wide pack added to the lower; a pack of 32 bytes as it is.
STAGENETS_INLINE __m256d folded(Doubles x) {
#ifdef STAGENETS_AVX512_PACKS
  return _mm256_add_pd(_mm512_castpd512_pd256((__m512d)x), _mm512_extractf64x4_pd((__m512d)x, 1));
#else
  return (__m256d)x;
#endif
}

STAGENETS_INLINE __m256 folded(Floats x) {
#ifdef STAGENETS_AVX512_PACKS
  return _mm256_add_ps(_mm512_castps512_ps256((__m512)x), _mm512_extractf32x8_ps((__m512)x, 1));
#else
  return (__m256)x;
#endif
}

// The totals of four packs as the four lanes of one. Lane sums taken one by one would cost as much as a short product.
STAGENETS_INLINE __m256d four_totals(const Doubles* sums) {
  const __m256d low = _mm256_hadd_pd(folded(sums[0]), folded(sums[1]));
  const __m256d high = _mm256_hadd_pd(folded(sums[2]), folded(sums[3]));
  return _mm256_add_pd(_mm256_permute2f128_pd(low, high, 0x20),
                       _mm256_permute2f128_pd(low, high, 0x31));
}

STAGENETS_INLINE __m256d four_totals(const Floats* sums) {
  const __m256 low = _mm256_hadd_ps(folded(sums[0]), folded(sums[1]));
  const __m256 high = _mm256_hadd_ps(folded(sums[2]), folded(sums[3]));
  const __m256 halves = _mm256_hadd_ps(low, high);
  return _mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(halves)),
                       _mm256_cvtps_pd(_mm256_extractf128_ps(halves, 1)));
}

#endif

// out[i] += the sum of the lanes of sums[i].
template <class SumPack, int kCount>
STAGENETS_INLINE void add_totals(double* out, const SumPack (&sums)[kCount]) {
#ifdef STAGENETS_AVX2_PACKS
  if constexpr (kCount % 4 == 0) {
    unrolled<kCount / 4>([&](auto four) {
      double* to = out + 4 * four;
      _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), four_totals(sums + 4 * four)));
    });
    return;
  }
#endif
  unrolled<kCount>([&](auto i) { out[i] += total(sums[i]); });
}
