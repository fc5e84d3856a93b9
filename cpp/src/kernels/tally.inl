// What a stage leaves behind, row by row: leverages, the energy of the residual, leave-one-out errors. All in double.

template <class Scalar>
STAGENETS_INLINE Doubles load_widened_first(const Scalar* from, Index count) {
  Scalar lanes[kLanes<double>] = {};
  for (Index i = 0; i < count; ++i) lanes[i] = from[i];
  return load_widened(lanes);
}

// Leaving its row out makes r / (1 - leverage) of a residual r. A row without weight has no say in the fit, nor here.
STAGENETS_INLINE Doubles growth_when_left_out(Doubles leverage, const Doubles* roots) {
  const Doubles share = 1.0 - leverage;
  const Doubles growth = 1.0 / (share > 1e-10 ? share : fill<double>(1e-10));
  return roots ? (*roots > 0.0 ? growth / *roots : Doubles{}) : growth;
}

// One pack of rows; `load_rows` reads them and makes lanes past the last row zero; `present` is one in
// the others.
template <class Scalar, class Load>
STAGENETS_INLINE Doubles tally_pack(const RowTally<Scalar>& tally, Index row, Doubles present,
                                    Doubles (&sums)[3], const Load& load_rows) {
  Doubles leverage = tally.leverage ? load_rows(tally.leverage + row) : Doubles{};
  for (Index j = 0; j < tally.fresh_columns; ++j) {
    const Doubles q = load_rows(tally.fresh + j * tally.ld_fresh + row);
    leverage = mul_add(q, q, leverage);
  }
  if (!tally.targets) {
    for (Index c = 0; c < tally.outputs; ++c) {
      const Doubles r = load_rows(tally.residual + c * tally.ld_residual + row);
      sums[0] = mul_add(r, r, sums[0]);
    }
    return leverage;
  }
  const Doubles roots = tally.roots ? load_rows(tally.roots + row) : present;
  const Doubles lost = tally.left_out ? leverage * load_rows(tally.left_out + row) : leverage;
  const Doubles growth = growth_when_left_out(lost, tally.roots ? &roots : nullptr);
  Doubles error = Doubles{}, given = Doubles{};
  Doubles best = fill<double>(-HUGE_VAL);
  for (Index c = 0; c < tally.outputs; ++c) {
    const Doubles r = load_rows(tally.residual + c * tally.ld_residual + row);
    sums[0] = mul_add(r, r, sums[0]);
    const Doubles miss = r * growth;
    error = mul_add(miss, miss, error);
    const Doubles score = load_rows(tally.targets + c * tally.ld_targets + row) - miss;
    given = score > best ? fill<double>(static_cast<double>(c)) : given;
    best = score > best ? score : best;
  }
  const Doubles weight = roots * roots;
  sums[1] = mul_add(weight, error, sums[1]);
  sums[2] += given == load_rows(tally.wanted + row) ? weight : Doubles{};
  return leverage;
}

template <class Scalar>
void tally_rows(const RowTally<Scalar>& tally, double* out) {
  constexpr Index kWidth = kLanes<double>;
  Doubles sums[3] = {Doubles{}, Doubles{}, Doubles{}};
  const Doubles ones = fill<double>(1);
  Index row = 0;
  for (; row + kWidth <= tally.rows; row += kWidth) {
    const Doubles leverage =
        tally_pack(tally, row, ones, sums, [](const auto* from) { return load_widened(from); });
    if (tally.leverage) store<double>(tally.leverage + row, leverage);
  }
  if (const Index rest = tally.rows - row) {
    double present[kWidth];
    store<double>(present, ones);
    const auto load_rest = [rest](const auto* from) { return load_widened_first(from, rest); };
    const Doubles leverage = tally_pack(tally, row, load_rest(present), sums, load_rest);
    if (tally.leverage) store_first<double>(tally.leverage + row, leverage, rest);
  }
  for (int i = 0; i < 3; ++i) out[i] += total(sums[i]);
}
