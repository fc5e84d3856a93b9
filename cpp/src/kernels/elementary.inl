// exp, expm1 and sine on packs. Arguments are reduced to a small interval with constants split into parts whose
// products with the (short) integer multiple are exact, then a polynomial takes over. Each polynomial is minimax for
// the relative error of the function, from our own Remez exchange in 200-bit arithmetic, then rounded to the type.

template <class Scalar>
struct Constants;

template <>
struct Constants<double> {
  // Adding 1.5 * 2^52 to a small x leaves round(x), in two's complement, in the low bits of the sum. The further 1023
  // is the exponent's bias, so that shifting those bits up by 52 makes 2^round(x).
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kRoundBiased = 0x1.8p52 + 1023;
  static constexpr int kMantissaBits = 52;
  static constexpr uint64_t kSignBit = uint64_t{1} << 63;

  static constexpr double kLog2E = 0x1.71547652b82fep+0;
  static constexpr double kLn2[2] = {0x1.62e42fefa3800p-1, 0x1.ef35793c76730p-45};  // 42 + 53 bits
  // (e^r - 1 - r) / r^2 on |r| <= ln(2)/2; relative error of e^r - 1 below 2^-55.6.
  static constexpr double kExp[10] = {
      0x1.0000000000005p-1,  0x1.555555555555cp-3,  0x1.5555555552096p-5,  0x1.111111110e696p-7,
      0x1.6c16c17f512edp-10, 0x1.a01a01b5f09bcp-13, 0x1.a019a63425418p-16, 0x1.71dde9c86b6c0p-19,
      0x1.28a3008754ddbp-22, 0x1.af7715323e30dp-26};
  static constexpr double kExpNormal = 708;  // exp(-x) is a normal number up to here
  static constexpr double kExpZero = 760;    // and zero from here on
  static constexpr double kExpFirstStep =
      -1000;  // the larger part of an exponent that is applied in two steps
  static constexpr double kTanhOne = 20;         // tanh rounds to one from here on
  static constexpr double kExpm1MinusOne = -50;  // expm1 rounds to minus one from here down

  static constexpr double kInversePi = 0x1.45f306dc9c883p-2;
  static constexpr double kPi[4] = {0x1.921fb54400000p+1, 0x1.0b4611a600000p-33,
                                    0x1.3198a2e000000p-68,
                                    0x1.b839a252049c1p-103};  // 33 + 33 + 33 + 53 bits
  static constexpr double kSineReducible =
      3e6;  // multiples of pi below 2^20, so those products are exact
  // (sin r - r) / r^3 in powers of r^2 on |r| <= pi/2; relative error of sin r below 2^-60.
  static constexpr double kSine[8] = {
      -0x1.5555555555555p-3,  0x1.11111111110c9p-7,  -0x1.a01a01a014fc1p-13, 0x1.71de3a52b4998p-19,
      -0x1.ae6454de816a8p-26, 0x1.6123cfaac0007p-33, -0x1.ae4436ee422b6p-41, 0x1.88456d013132bp-49};
};

template <>
struct Constants<float> {
  static constexpr float kRound = 0x1.8p23f;
  static constexpr float kRoundBiased = 0x1.8p23f + 127;
  static constexpr int kMantissaBits = 23;
  static constexpr uint32_t kSignBit = uint32_t{1} << 31;

  static constexpr float kLog2E = 0x1.71547652b82fep+0f;
  static constexpr float kLn2[2] = {0x1.62e4p-1f, 0x1.7f7d1cp-20f};  // 16 + 24 bits
  // As above; relative error below 2^-26.
  static constexpr float kExp[5] = {0x1.000000357cc9bp-1f, 0x1.5554aec1cd853p-3f,
                                    0x1.55548616d7f6bp-5f, 0x1.12287ba1bd3f6p-7f,
                                    0x1.6d99bc44d7503p-10f};
  static constexpr float kExpNormal = 87;
  static constexpr float kExpZero = 110;
  static constexpr float kExpFirstStep = -100;
  static constexpr float kTanhOne = 10;
  static constexpr float kExpm1MinusOne = -25;

  static constexpr float kInversePi = 0x1.45f306dc9c883p-2f;
  static constexpr float kPi[4] = {0x1.922p+1f, -0x1.2afp-17f, 0x1.0b48p-33f,
                                   -0x1.ee59dap-49f};  // 15+15+15+24 bits
  static constexpr float kSineReducible = 1600;        // multiples of pi below 2^9
  // As above; relative error below 2^-27.
  static constexpr float kSine[4] = {-0x1.55554ce0e2247p-3f, 0x1.110efc866572ap-7f,
                                     -0x1.9f76dd9dac831p-13f, 0x1.5e172968aeea1p-19f};
};

// Even and odd powers are summed apart: as much work as Horner's rule, but two chains half as long, which overlap.
template <class Scalar, int kTerms>
STAGENETS_INLINE Pack<Scalar> polynomial(const Scalar (&coefficients)[kTerms], Pack<Scalar> x,
                                        Pack<Scalar> square) {
  Pack<Scalar> last = fill<Scalar>(coefficients[kTerms - 1]);
  Pack<Scalar> other = fill<Scalar>(coefficients[kTerms - 2]);
  for (int i = kTerms - 3; i >= 0; i -= 2)
    last = mul_add(last, square, fill<Scalar>(coefficients[i]));
  for (int i = kTerms - 4; i >= 0; i -= 2)
    other = mul_add(other, square, fill<Scalar>(coefficients[i]));
  return kTerms % 2 == 0 ? mul_add(last, x, other) : mul_add(other, x, last);
}

template <class Scalar>
STAGENETS_INLINE Pack<Scalar> absolute(Pack<Scalar> x) {
  return from_bits(bits_of(x) & ~Constants<Scalar>::kSignBit);
}

// e^x = 2^k (1 + fraction) with k = round(x / ln 2); `biased_exponent` holds k in its low bits, ready for power_of_two.
template <class Scalar>
struct ReducedExp {
  Pack<Scalar> biased_exponent;
  Pack<Scalar> exponent;
  Pack<Scalar> fraction;
};

template <class Scalar>
STAGENETS_INLINE Pack<Scalar> power_of_two(Pack<Scalar> biased_exponent) {
  return from_bits(bits_of(biased_exponent) << Constants<Scalar>::kMantissaBits);
}

template <class Scalar>
STAGENETS_INLINE ReducedExp<Scalar> reduce_exp(Pack<Scalar> x) {
  using K = Constants<Scalar>;
  ReducedExp<Scalar> result;
  result.biased_exponent = mul_add(x, fill<Scalar>(K::kLog2E), fill<Scalar>(K::kRoundBiased));
  result.exponent = result.biased_exponent - K::kRoundBiased;
  Pack<Scalar> r = mul_add(result.exponent, fill<Scalar>(-K::kLn2[0]), x);
  r = mul_add(result.exponent, fill<Scalar>(-K::kLn2[1]), r);
  const Pack<Scalar> square = r * r;
  result.fraction = mul_add(square, polynomial(K::kExp, r, square), r);
  return result;
}

// e^x for |x| <= kExpNormal.
template <class Scalar>
STAGENETS_INLINE Pack<Scalar> exp_bounded(Pack<Scalar> x) {
  const ReducedExp<Scalar> reduced = reduce_exp<Scalar>(x);
  const Pack<Scalar> scale = power_of_two<Scalar>(reduced.biased_exponent);
  return mul_add(scale, reduced.fraction, scale);
}

// e^-x for x >= 0, down to the denormals. Those cannot be reached by one normal power of two, so a pack that holds a
// large x is scaled twice; a lane gives the same bits either way.
template <class Scalar>
STAGENETS_INLINE Pack<Scalar> exp_minus(Pack<Scalar> x) {
  using K = Constants<Scalar>;
  if (all_within(x, K::kExpNormal)) return exp_bounded<Scalar>(-x);
  const Pack<Scalar> bounded = x > K::kExpZero ? fill<Scalar>(K::kExpZero) : x;
  const ReducedExp<Scalar> reduced = reduce_exp<Scalar>(-bounded);
  const Pack<Scalar> step = fill<Scalar>(K::kExpFirstStep);
  const Pack<Scalar> first = reduced.exponent < step ? step : reduced.exponent;
  const Pack<Scalar> first_scale = power_of_two<Scalar>(first + K::kRoundBiased);
  const Pack<Scalar> second_scale =
      power_of_two<Scalar>(reduced.exponent - first + K::kRoundBiased);
  return mul_add(first_scale, reduced.fraction, first_scale) * second_scale;
}

// e^x - 1 for x so small or negative that 2^k neither overflows nor underflows. Near zero k = 0 and the result is the
// fraction itself, with its full relative accuracy.
template <class Scalar>
STAGENETS_INLINE Pack<Scalar> expm1_bounded(Pack<Scalar> x) {
  const ReducedExp<Scalar> reduced = reduce_exp<Scalar>(x);
  const Pack<Scalar> scale = power_of_two<Scalar>(reduced.biased_exponent);
  return mul_add(scale, reduced.fraction, scale - Scalar(1));
}

// sin x for |x| <= kSineReducible. With m = round(x / pi) every subtraction of a part of m pi is either exact or far
// from cancelling, so r = x - m pi has full relative accuracy even next to the zeros; the sign is the parity of m.
template <class Scalar>
STAGENETS_INLINE Pack<Scalar> sine_reducible(Pack<Scalar> x) {
  using K = Constants<Scalar>;
  const Pack<Scalar> rounded = mul_add(x, fill<Scalar>(K::kInversePi), fill<Scalar>(K::kRound));
  const Pack<Scalar> multiple = rounded - K::kRound;
  Pack<Scalar> r = x;
  for (const Scalar part : K::kPi) r = mul_add(multiple, fill<Scalar>(-part), r);
  const Pack<Scalar> square = r * r;
  const Pack<Scalar> value = mul_add(square * r, polynomial(K::kSine, square, square * square), r);
  constexpr int kSignShift = static_cast<int>(8 * sizeof(Scalar)) - 1;
  return from_bits(bits_of(value) ^ (bits_of(rounded) << kSignShift));
}

// Arguments too large to reduce here are rare and go to the C library one by one.
template <class Scalar>
STAGENETS_INLINE Pack<Scalar> sine(Pack<Scalar> x) {
  const Pack<Scalar> size = absolute<Scalar>(x);
  const Pack<Scalar> value = sine_reducible<Scalar>(x);
  if (all_within(size, Constants<Scalar>::kSineReducible)) return value;
  Scalar arguments[kLanes<Scalar>];
  Scalar values[kLanes<Scalar>];
  store<Scalar>(arguments, x);
  store<Scalar>(values, value);
  for (Index i = 0; i < kLanes<Scalar>; ++i) {
    const double argument = arguments[i];
    if (argument > Constants<Scalar>::kSineReducible ||
        argument < -Constants<Scalar>::kSineReducible)
      values[i] = static_cast<Scalar>(sin(argument));
  }
  return load<Scalar>(values);
}
