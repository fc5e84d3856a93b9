// The activations as function objects on packs, and the loop that applies one of them to a column. Conditions are
// written so that a NaN fails the comparison and passes through.

struct Identity {
  static constexpr bool kBounded = false;
  template <class Scalar>
  static STAGENETS_INLINE Pack<Scalar> apply(Pack<Scalar> z) {
    return z;
  }
};

// 1 / (1 + e^-z) keeps its relative accuracy as long as e^-z is a normal number. A pack that holds a larger z of either
// sign has those lanes from e / (1 + e) with e = e^-|z| <= 1, which does so down to the denormals.
struct Sigmoid {
  static constexpr bool kBounded = true;
  template <class Scalar>
  static STAGENETS_INLINE Pack<Scalar> apply(Pack<Scalar> z) {
    using K = Constants<Scalar>;
    const Pack<Scalar> one = fill<Scalar>(1);
    const Pack<Scalar> value = quotient(one, one + exp_bounded<Scalar>(-z));
    const Pack<Scalar> size = absolute<Scalar>(z);
    if (all_within(size, K::kExpNormal)) return value;
    const Pack<Scalar> e = exp_minus<Scalar>(size);
    const Pack<Scalar> saturated = (z < Scalar(0) ? e : one) / (one + e);
    return size > K::kExpNormal ? saturated : value;
  }
};

// tanh |z| = t / (t + 2) with t = expm1(2 |z|): no cancellation at either end.
struct Tanh {
  static constexpr bool kBounded = true;
  template <class Scalar>
  static STAGENETS_INLINE Pack<Scalar> apply(Pack<Scalar> z) {
    using K = Constants<Scalar>;
    const Pack<Scalar> size = absolute<Scalar>(z);
    const Pack<Scalar> bounded = size > K::kTanhOne ? fill<Scalar>(K::kTanhOne) : size;
    const Pack<Scalar> t = expm1_bounded<Scalar>(bounded + bounded);
    return from_bits(bits_of(quotient(t, t + Scalar(2))) | (bits_of(z) & K::kSignBit));
  }
};

struct Relu {
  static constexpr bool kBounded = false;
  template <class Scalar>
  static STAGENETS_INLINE Pack<Scalar> apply(Pack<Scalar> z) {
    return z < Scalar(0) ? Pack<Scalar>{} : z;
  }
};

struct Sine {
  static constexpr bool kBounded = true;
  template <class Scalar>
  static STAGENETS_INLINE Pack<Scalar> apply(Pack<Scalar> z) {
    return sine<Scalar>(z);
  }
};

struct Selu {
  static constexpr bool kBounded = false;
  template <class Scalar>
  static STAGENETS_INLINE Pack<Scalar> apply(Pack<Scalar> z) {
    constexpr double kScale = 1.0507009873554805;
    constexpr double kAlpha = 1.6732632423543772;
    const Pack<Scalar> lowest = fill<Scalar>(Constants<Scalar>::kExpm1MinusOne);
    const Pack<Scalar> below = z > Scalar(0) ? Pack<Scalar>{} : z;
    const Pack<Scalar> bounded = below < lowest ? lowest : below;
    const Pack<Scalar> negative = expm1_bounded<Scalar>(bounded) * Scalar(kScale * kAlpha);
    return z > Scalar(0) ? z * Scalar(kScale) : negative;
  }
};

struct Tribas {
  static constexpr bool kBounded = true;
  template <class Scalar>
  static STAGENETS_INLINE Pack<Scalar> apply(Pack<Scalar> z) {
    const Pack<Scalar> height = Scalar(1) - absolute<Scalar>(z);
    return height < Scalar(0) ? Pack<Scalar>{} : height;
  }
};

struct Radbas {
  static constexpr bool kBounded = true;
  template <class Scalar>
  static STAGENETS_INLINE Pack<Scalar> apply(Pack<Scalar> z) {
    return exp_minus<Scalar>(z * z);
  }
};

// Float squares of any size are summed in double: they can overflow float, and the column is in cache.
template <class Scalar>
STAGENETS_INLINE double sum_of_squares(const Scalar* column, Index rows) {
  constexpr Index kWidth = kLanes<double>;
  // Four, to hide the latency of an addition.
  Doubles sums[4] = {Doubles{}, Doubles{}, Doubles{}, Doubles{}};
  const auto add_pack = [&](Index row, int i) {
    const Doubles x = load_widened(column + row);
    sums[i] = mul_add(x, x, sums[i]);
  };
  Index row = 0;
  for (; row + 4 * kWidth <= rows; row += 4 * kWidth)
    unrolled<4>([&](auto i) { add_pack(row + i * kWidth, i); });
  for (; row + kWidth <= rows; row += kWidth) add_pack(row, 0);
  double rest = 0;
  for (; row < rows; ++row)
    rest += static_cast<double>(column[row]) * static_cast<double>(column[row]);
  return total((sums[0] + sums[1]) + (sums[2] + sums[3])) + rest;
}

// Of a column, activated in place, the sum of squares. The last pack may overlap the one before, so it is loaded
// first; a masked store in its place would hold up the loads of the next column.
template <class Function, class Scalar>
double activate_column(Scalar* column, Index rows, Scalar bias) {
  constexpr Index kWidth = kLanes<Scalar>;
  if (rows < kWidth) {
    const Pack<Scalar> z = load_first<Scalar>(column, rows) + bias;
    store_first<Scalar>(column, Function::template apply<Scalar>(z), rows);
    return sum_of_squares(column, rows);
  }
  const Pack<Scalar> last = load<Scalar>(column + rows - kWidth) + bias;
  Pack<Scalar> squares = Pack<Scalar>{};
  Index row = 0;
  for (; row + kWidth <= rows; row += kWidth) {
    const Pack<Scalar> value = Function::template apply<Scalar>(load<Scalar>(column + row) + bias);
    store<Scalar>(column + row, value);
    squares = mul_add(value, value, squares);
  }
  if (const Index rest = rows - row) {
    const Pack<Scalar> value = Function::template apply<Scalar>(last);
    store<Scalar>(column + rows - kWidth, value);
    const Pack<Scalar> fresh = last_lanes<Scalar>(value, rest);
    squares = mul_add(fresh, fresh, squares);
  }
  if constexpr (Function::kBounded || sizeof(Scalar) == sizeof(double))
    return total(squares);
  else
    return sum_of_squares(column, rows);
}

template <class Scalar>
double activate(Activation activation, Scalar* column, Index rows, Scalar bias) {
  switch (activation) {
    case Activation::identity: return activate_column<Identity>(column, rows, bias);
    case Activation::sigmoid: return activate_column<Sigmoid>(column, rows, bias);
    case Activation::tanh: return activate_column<Tanh>(column, rows, bias);
    case Activation::relu: return activate_column<Relu>(column, rows, bias);
    case Activation::sine: return activate_column<Sine>(column, rows, bias);
    case Activation::selu: return activate_column<Selu>(column, rows, bias);
    case Activation::tribas: return activate_column<Tribas>(column, rows, bias);
    case Activation::radbas: return activate_column<Radbas>(column, rows, bias);
  }
  return 0;
}
