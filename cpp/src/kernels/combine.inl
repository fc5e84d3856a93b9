// Sums of a few columns: units that see few inputs each need no more than those.

// Columns that one pass takes, each with its weight in a register.
constexpr int kMostCombined = 6;

template <class Scalar, int kCount, bool kAdd>
void combine_some(const Scalar* const* columns, const Scalar* weights, Index rows, Scalar* out) {
  Pack<Scalar> factors[kCount];
  unrolled<kCount>([&](auto i) { factors[i] = fill<Scalar>(weights[i]); });
  const auto combined = [&](Index row, auto load_rows) {
    Pack<Scalar> sum = load_rows(columns[0] + row) * factors[0];
    if constexpr (kAdd) sum = load_rows(out + row) + sum;
    unrolled<kCount - 1>(
        [&](auto i) { sum = mul_add(load_rows(columns[i + 1] + row), factors[i + 1], sum); });
    return sum;
  };
  const auto load_full = [](const Scalar* from) { return load<Scalar>(from); };
  const Index last_row = rows - kLanes<Scalar>;
  if (last_row < 0) {
    const auto load_rest = [rows](const Scalar* from) { return load_first<Scalar>(from, rows); };
    store_first<Scalar>(out, combined(0, load_rest), rows);
    return;
  }
  // The last pack may overlap the one before; see activate_column.
  const Pack<Scalar> last = combined(last_row, load_full);
  for (Index row = 0; row < last_row; row += kLanes<Scalar>)
    store<Scalar>(out + row, combined(row, load_full));
  store<Scalar>(out + last_row, last);
}

template <class Scalar, bool kAdd, int kCount = kMostCombined>
void combine_up_to(Index count, const Scalar* const* columns, const Scalar* weights, Index rows,
                   Scalar* out) {
  if (count == kCount) return combine_some<Scalar, kCount, kAdd>(columns, weights, rows, out);
  if constexpr (kCount > 1)
    combine_up_to<Scalar, kAdd, kCount - 1>(count, columns, weights, rows, out);
}

template <class Scalar>
void combine_columns(const Scalar* const* columns, const Scalar* weights, Index count, Index rows,
                     Scalar* out) {
  if (count == 0) {
    for (Index row = 0; row < rows; ++row) out[row] = 0;
    return;
  }
  const Index first = count < kMostCombined ? count : kMostCombined;
  combine_up_to<Scalar, false>(first, columns, weights, rows, out);
  for (Index done = first; done < count; done += kMostCombined) {
    const Index some = count - done < kMostCombined ? count - done : kMostCombined;
    combine_up_to<Scalar, true>(some, columns + done, weights + done, rows, out);
  }
}

template <class Scalar>
void lower_to_column(const Scalar* column, Scalar weight, Scalar bias, Index rows, Scalar* out) {
  const Pack<Scalar> factor = fill<Scalar>(weight), offset = fill<Scalar>(bias);
  const auto lowered = [&](const Pack<Scalar>& values, const Pack<Scalar>& least) {
    const Pack<Scalar> term = mul_add(values, factor, offset);
    return term < least ? term : least;
  };
  const Index last_row = rows - kLanes<Scalar>;
  if (last_row < 0) {
    const Pack<Scalar> values = load_first<Scalar>(column, rows);
    return store_first<Scalar>(out, lowered(values, load_first<Scalar>(out, rows)), rows);
  }
  const auto lower_pack = [&](Index row) {
    store<Scalar>(out + row, lowered(load<Scalar>(column + row), load<Scalar>(out + row)));
  };
  for (Index row = 0; row < last_row; row += kLanes<Scalar>) lower_pack(row);
  lower_pack(last_row);  // may overlap the one before: lowering twice changes nothing
}
