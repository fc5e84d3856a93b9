// A pack is one vector register of floats or doubles with the usual operators, made from the vector extension of GCC
// and Clang. Other compilers get packs of one lane, plain numbers: the same kernels, as fast as scalar code is.

#ifdef RESIDUUM_VECTOR_PACKS

#ifdef __AVX2__
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
RESIDUUM_INLINE void unrolled(const Body& body) {
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
RESIDUUM_INLINE Pack<Scalar> load(const Scalar* from) {
  Pack<Scalar> pack;
  memcpy(&pack, from, sizeof(pack));
  return pack;
}

template <class Scalar>
RESIDUUM_INLINE void store(Scalar* to, Pack<Scalar> pack) {
  memcpy(to, &pack, sizeof(pack));
}

// The first `count` < kLanes elements, and zeros: reads nothing past the end of a column.
template <class Scalar>
RESIDUUM_INLINE Pack<Scalar> load_first(const Scalar* from, Index count) {
  Scalar lanes[kLanes<Scalar>] = {};
  for (Index i = 0; i < count; ++i) lanes[i] = from[i];
  return load<Scalar>(lanes);
}

template <class Scalar>
RESIDUUM_INLINE void store_first(Scalar* to, Pack<Scalar> pack, Index count) {
  Scalar lanes[kLanes<Scalar>];
  store<Scalar>(lanes, pack);
  for (Index i = 0; i < count; ++i) to[i] = lanes[i];
}

template <class Scalar>
RESIDUUM_INLINE Pack<Scalar> fill(Scalar value) {
  return value - Pack<Scalar>{};  // not plus: -0 + 0 would lose the sign
}

RESIDUUM_INLINE DoubleBits bits_of(Doubles x) {
  DoubleBits bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

RESIDUUM_INLINE FloatBits bits_of(Floats x) {
  FloatBits bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

RESIDUUM_INLINE Doubles from_bits(DoubleBits bits) {
  Doubles x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

RESIDUUM_INLINE Floats from_bits(FloatBits bits) {
  Floats x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

// x y + z, rounded once where the instruction set can and twice elsewhere; nothing here relies on the single rounding.
RESIDUUM_INLINE Doubles mul_add(Doubles x, Doubles y, Doubles z) {
#if defined(RESIDUUM_VECTOR_PACKS) && defined(__FMA__) && defined(__AVX2__)
  return (Doubles)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
#elif defined(RESIDUUM_VECTOR_PACKS) && defined(__aarch64__)
  return (Doubles)vfmaq_f64((float64x2_t)z, (float64x2_t)x, (float64x2_t)y);
#else
  return x * y + z;
#endif
}

RESIDUUM_INLINE Floats mul_add(Floats x, Floats y, Floats z) {
#if defined(RESIDUUM_VECTOR_PACKS) && defined(__FMA__) && defined(__AVX2__)
  return (Floats)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z);
#elif defined(RESIDUUM_VECTOR_PACKS) && defined(__aarch64__)
  return (Floats)vfmaq_f32((float32x4_t)z, (float32x4_t)x, (float32x4_t)y);
#else
  return x * y + z;
#endif
}

// Whether x > limit in any lane; false for lanes that are NaN.
RESIDUUM_INLINE bool any_above(Doubles x, double limit) {
#if defined(RESIDUUM_VECTOR_PACKS) && defined(__AVX2__)
  return _mm256_movemask_pd((__m256d)(x > limit)) != 0;
#elif defined(RESIDUUM_VECTOR_PACKS) && defined(__SSE2__)
  return _mm_movemask_pd((__m128d)(x > limit)) != 0;
#elif defined(RESIDUUM_VECTOR_PACKS)
  const auto above = x > limit;
  return (above[0] | above[1]) != 0;
#else
  return x > limit;
#endif
}

RESIDUUM_INLINE bool any_above(Floats x, float limit) {
#if defined(RESIDUUM_VECTOR_PACKS) && defined(__AVX2__)
  return _mm256_movemask_ps((__m256)(x > limit)) != 0;
#elif defined(RESIDUUM_VECTOR_PACKS) && defined(__SSE2__)
  return _mm_movemask_ps((__m128)(x > limit)) != 0;
#elif defined(RESIDUUM_VECTOR_PACKS)
  const auto above = x > limit;
  return (above[0] | above[1] | above[2] | above[3]) != 0;
#else
  return x > limit;
#endif
}

// A full pack's worth of doubles from half a pack's worth of floats.
RESIDUUM_INLINE Doubles load_widened(const float* from) {
#ifdef RESIDUUM_VECTOR_PACKS
  HalfFloats half;
  memcpy(&half, from, sizeof(half));
  return __builtin_convertvector(half, Doubles);
#else
  return *from;
#endif
}

RESIDUUM_INLINE Doubles load_widened(const double* from) { return load<double>(from); }

// The sum of the lanes, in a fixed order.
RESIDUUM_INLINE double total(Doubles x) {
  double lanes[kLanes<double>];
  store<double>(lanes, x);
  for (Index width = kLanes<double> / 2; width > 0; width /= 2)
    for (Index i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  return lanes[0];
}

RESIDUUM_INLINE double total(Floats x) {
  float lanes[kLanes<float>];
  store<float>(lanes, x);
  Doubles sum = load_widened(lanes);
  for (Index i = kLanes<double>; i < kLanes<float>; i += kLanes<double>)
    sum += load_widened(lanes + i);
  return total(sum);
}

#if defined(RESIDUUM_VECTOR_PACKS) && defined(__AVX2__)

// The totals of four packs as the four lanes of one. Lane sums taken one by one would cost as much as a short product.
RESIDUUM_INLINE __m256d four_totals(const Doubles* sums) {
  const __m256d low = _mm256_hadd_pd((__m256d)sums[0], (__m256d)sums[1]);
  const __m256d high = _mm256_hadd_pd((__m256d)sums[2], (__m256d)sums[3]);
  return _mm256_add_pd(_mm256_permute2f128_pd(low, high, 0x20),
                       _mm256_permute2f128_pd(low, high, 0x31));
}

RESIDUUM_INLINE __m256d four_totals(const Floats* sums) {
  const __m256 low = _mm256_hadd_ps((__m256)sums[0], (__m256)sums[1]);
  const __m256 high = _mm256_hadd_ps((__m256)sums[2], (__m256)sums[3]);
  const __m256 halves = _mm256_hadd_ps(low, high);
  return _mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(halves)),
                       _mm256_cvtps_pd(_mm256_extractf128_ps(halves, 1)));
}

#endif

// out[i] += the sum of the lanes of sums[i].
template <class SumPack, int kCount>
RESIDUUM_INLINE void add_totals(double* out, const SumPack (&sums)[kCount]) {
#if defined(RESIDUUM_VECTOR_PACKS) && defined(__AVX2__)
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

RESIDUUM_INLINE void prefetch(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address, 0, 3);
#else
  (void)address;
#endif
}
