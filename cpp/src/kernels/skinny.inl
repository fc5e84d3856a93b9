// Products of a tall A with a skinny matrix. A comes from memory and is read once; the skinny side stays in cache. Both
// work on tiles of kTall columns of A by kSkinny columns of the other matrix, so small that every pair has a register
// of its own.

// Rows worked on at a time: few enough that the skinny side and two tiles of A share the first-level cache, and that
// the sums of float lanes stay short before they are carried to double.
constexpr Index kRunRows = 256;

// The most columns of A in a tile. With three skinny ones that makes 12 or 24 pairs, which with their operands fill 16
// or 32 registers.
#ifdef STAGENETS_AVX512_PACKS
constexpr int kTallColumns = 8;
#else
constexpr int kTallColumns = 4;
#endif

// Which part of a product a tile computes.
struct TileRange {
  Index column;
  Index skinny;
  Index row;
  Index rows;
};

// How many of the `left` skinny columns the next tile takes: three, but two of a last two or four, for a tile of one
// column spends more time loading A than multiplying.
STAGENETS_INLINE Index skinny_width(Index left) {
  return left == 1 ? 1 : left == 2 || left == 4 ? 2 : 3;
}

// Calls tile(columns of A, skinny columns, range) for all tiles of the kTall columns of A from range.column on.
template <int kTall, class Tile>
STAGENETS_INLINE void for_each_skinny_tile(TileRange range, Index b, const Tile& tile) {
  for (range.skinny = 0; range.skinny < b;) {
    const Index width = skinny_width(b - range.skinny);
    if constexpr (kTall <= kTallColumns) {
      if (width == 3) tile(Constant<kTall>(), Constant<3>(), range);
      if (width == 2) tile(Constant<kTall>(), Constant<2>(), range);
    }
    if (width == 1) tile(Constant<kTall>(), Constant<1>(), range);
    range.skinny += width;
  }
}

// Covers A with tiles kTall columns wide while they last, then half as wide. Skinny tiles are innermost, so that a run
// of A is still in cache when it is used again; a column's runs come next, for memory likes long reads.
template <int kTall, class Tile>
STAGENETS_INLINE void for_each_tile(Index first, Index a, Index b, Index rows, const Tile& tile) {
  for (; first + kTall <= a; first += kTall)
    for (Index row = 0; row < rows; row += kRunRows) {
      const Index run = rows - row < kRunRows ? rows - row : kRunRows;
      for_each_skinny_tile<kTall>(TileRange{first, 0, row, run}, b, tile);
    }
  if constexpr (kTall > 1) for_each_tile<kTall / 2>(first, a, b, rows, tile);
}

// A single skinny column takes more of A, for some 8 pairs are needed to hide the latency of a multiply-add.
template <class Tile>
STAGENETS_INLINE void for_each_tile(Index a, Index b, Index rows, const Tile& tile) {
  if (b == 1)
    for_each_tile<8>(0, a, b, rows, tile);
  else
    for_each_tile<kTallColumns>(0, a, b, rows, tile);
}

// One step over a pack of rows of sums += A^T B. The skinny side is held and each pack of A is used up at once: the
// other way round would need one register too many.
template <class Scalar, int kTall, int kSkinny, class Load>
STAGENETS_INLINE void add_products(Pack<Scalar> (&sums)[kSkinny][kTall], const Scalar* A, Index lda,
                                  const Scalar* B, Index ldb, Load load_rows) {
  Pack<Scalar> skinny[kSkinny];
  unrolled<kSkinny>([&](auto j) { skinny[j] = load_rows(B + j * ldb); });
  unrolled<kTall>([&](auto i) {
    const Pack<Scalar> tall = in_register(load_rows(A + i * lda));
    unrolled<kSkinny>([&](auto j) { sums[j][i] = mul_add(tall, skinny[j], sums[j][i]); });
  });
}

// out (kTall x kSkinny) += A^T B over `rows` rows.
template <class Scalar, int kTall, int kSkinny>
void add_transposed_tile(const Scalar* A, Index lda, const Scalar* B, Index ldb, Index rows,
                         double* out, Index ld_out) {
  Pack<Scalar> sums[kSkinny][kTall];
  unrolled<kSkinny>([&](auto j) { unrolled<kTall>([&](auto i) { sums[j][i] = Pack<Scalar>{}; }); });
  Index row = 0;
  for (; row + kLanes<Scalar> <= rows; row += kLanes<Scalar>)
    add_products<Scalar>(sums, A + row, lda, B + row, ldb,
                         [](const Scalar* from) { return load<Scalar>(from); });
  if (const Index rest = rows - row)
    add_products<Scalar>(sums, A + row, lda, B + row, ldb,
                         [rest](const Scalar* from) { return load_first<Scalar>(from, rest); });
  unrolled<kSkinny>([&](auto j) { add_totals(out + j * ld_out, sums[j]); });
}

template <class Scalar>
void add_transposed_product(const Scalar* A, Index lda, Index a, const Scalar* B, Index ldb,
                            Index b, Index rows, double* out, Index ld_out) {
  for_each_tile(a, b, rows, [=](auto tall, auto skinny, const TileRange& range) {
    add_transposed_tile<Scalar, tall, skinny>(A + range.column * lda + range.row, lda,
                                              B + range.skinny * ldb + range.row, ldb, range.rows,
                                              out + range.column + range.skinny * ld_out, ld_out);
  });
}

// One step over a pack of rows of Y += A C; C is negated and spread over packs already.
template <class Scalar, int kTall, int kSkinny, class Load, class Store>
STAGENETS_INLINE void add_combination(const Pack<Scalar> (&C)[kTall][kSkinny], const Scalar* A,
                                     Index lda, Scalar* Y, Index ldy, Load load_rows,
                                     Store store_rows) {
  Pack<Scalar> tall[kTall];
  unrolled<kTall>([&](auto i) { tall[i] = in_register(load_rows(A + i * lda)); });
  unrolled<kSkinny>([&](auto j) {
    Pack<Scalar> sum = load_rows(Y + j * ldy);
    unrolled<kTall>([&](auto i) { sum = mul_add(tall[i], C[i][j], sum); });
    store_rows(Y + j * ldy, sum);
  });
}

// Y (rows x kSkinny) -= A (rows x kTall) C.
template <class Scalar, int kTall, int kSkinny>
void subtract_tile(const Scalar* A, Index lda, const Scalar* C, Index ldc, Scalar* Y, Index ldy,
                   Index rows) {
  Pack<Scalar> negated[kTall][kSkinny];
  unrolled<kSkinny>([&](auto j) {
    unrolled<kTall>([&](auto i) { negated[i][j] = fill<Scalar>(-C[i + j * ldc]); });
  });
  Index row = 0;
  for (; row + kLanes<Scalar> <= rows; row += kLanes<Scalar>)
    add_combination<Scalar>(
        negated, A + row, lda, Y + row, ldy, [](const Scalar* from) { return load<Scalar>(from); },
        [](Scalar* to, Pack<Scalar> pack) { store<Scalar>(to, pack); });
  if (const Index rest = rows - row)
    add_combination<Scalar>(
        negated, A + row, lda, Y + row, ldy,
        [rest](const Scalar* from) { return load_first<Scalar>(from, rest); },
        [rest](Scalar* to, Pack<Scalar> pack) { store_first<Scalar>(to, pack, rest); });
}

template <class Scalar>
void subtract_product(const Scalar* A, Index lda, Index a, const Scalar* C, Index ldc, Index b,
                      Scalar* Y, Index ldy, Index rows) {
  for_each_tile(a, b, rows, [=](auto tall, auto skinny, const TileRange& range) {
    subtract_tile<Scalar, tall, skinny>(A + range.column * lda + range.row, lda,
                                        C + range.column + range.skinny * ldc, ldc,
                                        Y + range.skinny * ldy + range.row, ldy, range.rows);
  });
}
