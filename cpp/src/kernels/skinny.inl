// Products of a tall A with a skinny matrix. A comes from memory and is read once; the skinny side stays in cache. Both
// work on tiles of kTall columns of A by kSkinny columns of the other matrix, so small that every pair has a register
// of its own, and A is fetched ahead of its use where the hardware alone does not keep memory busy.

constexpr Index kCacheLineBytes = 64;

template <class Scalar>
constexpr Index kLineRows = kCacheLineBytes / static_cast<Index>(sizeof(Scalar));

// Rows worked on at a time: few enough that the skinny side and two tiles of A share the first-level cache, and that
// the sums of float lanes stay short before they are carried to double.
constexpr Index kRunRows = 256;

// How far ahead of its use A is fetched, at least; some hundred nanoseconds' worth.
constexpr Index kBytesAhead = 8192;

// Which part of a product a tile computes, and from which column on it fetches A meanwhile.
struct TileRange {
  Index column;
  Index skinny;
  Index row;
  Index rows;
  Index fetched;
};

// How many of the `left` skinny columns the next tile takes: three, but two of a last two or four, for a tile of one
// column spends more time loading A than multiplying.
RESIDUUM_INLINE Index skinny_width(Index left) {
  return left == 1 ? 1 : left == 2 || left == 4 ? 2 : 3;
}

// Calls tile(columns of A, skinny columns, columns to fetch, range), for the widths that occur only: eight columns of A
// with a single skinny one, four and fewer with any, and fetches where several skinny tiles share four columns of A.
template <int kTall, int kFetches, class Tile>
RESIDUUM_INLINE void call_tile(Index width, const TileRange& range, const Tile& tile) {
  if constexpr (kTall <= 4) {
    if (width == 3) return tile(Constant<kTall>(), Constant<3>(), Constant<kFetches>(), range);
    if (width == 2) return tile(Constant<kTall>(), Constant<2>(), Constant<kFetches>(), range);
  }
  if constexpr (kFetches == 0) tile(Constant<kTall>(), Constant<1>(), Constant<0>(), range);
}

// All tiles of the kTall columns of A from range.column on. When several skinny tiles use the same columns, columns
// needed later are fetched meanwhile, evenly over the tiles. That helped a lone stream of reads; in these kernels no gain
// has been seen beyond the noise yet, so it may go. A single tile is bound by memory anyway and fetches nothing.
template <int kTall, class Tile>
RESIDUUM_INLINE void for_each_skinny_tile(TileRange range, Index b, Index fetched_end,
                                          const Tile& tile) {
  Index tiles_left = (b + 2) / 3;
  for (range.skinny = 0; range.skinny < b; --tiles_left) {
    const Index width = skinny_width(b - range.skinny);
    const Index to_fetch = fetched_end - range.fetched;
    if constexpr (kTall == 4) {
      const Index fetches = to_fetch <= 0 || b <= 3 ? 0 : to_fetch > tiles_left ? 2 : 1;
      if (fetches == 2)
        call_tile<4, 2>(width, range, tile);
      else if (fetches == 1)
        call_tile<4, 1>(width, range, tile);
      else
        call_tile<4, 0>(width, range, tile);
      range.fetched += fetches;
    } else {
      call_tile<kTall, 0>(width, range, tile);
    }
    range.skinny += width;
  }
}

// Covers A with tiles kTall columns wide while they last, then half as wide. Skinny tiles are innermost, so that a run
// of A is still in cache when it is used again; a column's runs come next, for memory likes long reads.
template <class Scalar, int kTall, class Tile>
RESIDUUM_INLINE void for_each_tile(Index first, Index a, Index b, Index rows, const Tile& tile) {
  const Index ahead =
      kTall + kBytesAhead / (rows * static_cast<Index>(sizeof(Scalar))) / kTall * kTall;
  for (; first + kTall <= a; first += kTall) {
    const Index fetched_end = first + ahead + kTall <= a ? first + ahead + kTall : first + ahead;
    for (Index row = 0; row < rows; row += kRunRows) {
      const Index run = rows - row < kRunRows ? rows - row : kRunRows;
      for_each_skinny_tile<kTall>(TileRange{first, 0, row, run, first + ahead}, b, fetched_end,
                                  tile);
    }
  }
  if constexpr (kTall > 1) for_each_tile<Scalar, kTall / 2>(first, a, b, rows, tile);
}

// A tile has at most 12 pairs of columns, which with their operands fill 16 registers, and at least 8 where it can, to
// hide the latency of a multiply-add.
template <class Scalar, class Tile>
RESIDUUM_INLINE void for_each_tile(Index a, Index b, Index rows, const Tile& tile) {
  if (rows == 0) return;
  if (b == 1)
    for_each_tile<Scalar, 8>(0, a, b, rows, tile);
  else
    for_each_tile<Scalar, 4>(0, a, b, rows, tile);
}

// One step over a pack of rows of sums += A^T B. The skinny side is held and each pack of A is used up at once: the
// other way round would need one register too many.
template <class Scalar, int kTall, int kSkinny>
RESIDUUM_INLINE void add_products(Pack<Scalar> (&sums)[kSkinny][kTall], const Scalar* A, Index lda,
                                  const Scalar* B, Index ldb) {
  Pack<Scalar> skinny[kSkinny];
  unrolled<kSkinny>([&](auto j) { skinny[j] = load<Scalar>(B + j * ldb); });
  unrolled<kTall>([&](auto i) {
    const Pack<Scalar> tall = load<Scalar>(A + i * lda);
    unrolled<kSkinny>([&](auto j) { sums[j][i] = mul_add(tall, skinny[j], sums[j][i]); });
  });
}

// out (kTall x kSkinny) += A^T B over `rows` rows; kFetches columns from `later` on are fetched meanwhile.
template <class Scalar, int kTall, int kSkinny, int kFetches>
void add_transposed_tile(const Scalar* A, Index lda, const Scalar* later, const Scalar* B,
                         Index ldb, Index rows, double* out, Index ld_out) {
  Pack<Scalar> sums[kSkinny][kTall];
  unrolled<kSkinny>([&](auto j) { unrolled<kTall>([&](auto i) { sums[j][i] = Pack<Scalar>{}; }); });
  Index row = 0;
  for (; row + kLineRows<Scalar> <= rows; row += kLineRows<Scalar>) {
    unrolled<kFetches>([&](auto i) { prefetch(later + i * lda + row); });
    unrolled<kLineRows<Scalar> / kLanes<Scalar>>([&](auto step) {
      const Index at = row + step * kLanes<Scalar>;
      add_products<Scalar, kTall, kSkinny>(sums, A + at, lda, B + at, ldb);
    });
  }
  for (; row + kLanes<Scalar> <= rows; row += kLanes<Scalar>)
    add_products<Scalar, kTall, kSkinny>(sums, A + row, lda, B + row, ldb);
  unrolled<kSkinny>([&](auto j) { add_totals(out + j * ld_out, sums[j]); });
  for (; row < rows; ++row)
    for (int j = 0; j < kSkinny; ++j)
      for (int i = 0; i < kTall; ++i)
        out[i + j * ld_out] +=
            static_cast<double>(A[row + i * lda]) * static_cast<double>(B[row + j * ldb]);
}

template <class Scalar>
void add_transposed_product(const Scalar* A, Index lda, Index a, const Scalar* B, Index ldb,
                            Index b, Index rows, double* out, Index ld_out) {
  for_each_tile<Scalar>(a, b, rows,
                        [=](auto tall, auto skinny, auto fetches, const TileRange& range) {
                          add_transposed_tile<Scalar, tall, skinny, fetches>(
                              A + range.column * lda + range.row, lda,
                              fetches == 0 ? A : A + range.fetched * lda + range.row,
                              B + range.skinny * ldb + range.row, ldb, range.rows,
                              out + range.column + range.skinny * ld_out, ld_out);
                        });
}

// One step over a pack of rows of Y += A C; C is negated and spread over packs already.
template <class Scalar, int kTall, int kSkinny, class Load, class Store>
RESIDUUM_INLINE void add_combination(const Pack<Scalar> (&C)[kTall][kSkinny], const Scalar* A,
                                     Index lda, Scalar* Y, Index ldy, Load load_rows,
                                     Store store_rows) {
  Pack<Scalar> tall[kTall];
  unrolled<kTall>([&](auto i) { tall[i] = load_rows(A + i * lda); });
  unrolled<kSkinny>([&](auto j) {
    Pack<Scalar> sum = load_rows(Y + j * ldy);
    unrolled<kTall>([&](auto i) { sum = mul_add(tall[i], C[i][j], sum); });
    store_rows(Y + j * ldy, sum);
  });
}

// Y (rows x kSkinny) -= A (rows x kTall) C; kFetches columns from `later` on are fetched meanwhile.
template <class Scalar, int kTall, int kSkinny, int kFetches>
void subtract_tile(const Scalar* A, Index lda, const Scalar* later, const Scalar* C, Index ldc,
                   Scalar* Y, Index ldy, Index rows) {
  const auto load_full = [](const Scalar* from) { return load<Scalar>(from); };
  const auto store_full = [](Scalar* to, Pack<Scalar> pack) { store<Scalar>(to, pack); };
  Pack<Scalar> negated[kTall][kSkinny];
  unrolled<kSkinny>([&](auto j) {
    unrolled<kTall>([&](auto i) { negated[i][j] = fill<Scalar>(-C[i + j * ldc]); });
  });
  Index row = 0;
  for (; row + kLineRows<Scalar> <= rows; row += kLineRows<Scalar>) {
    unrolled<kFetches>([&](auto i) { prefetch(later + i * lda + row); });
    unrolled<kLineRows<Scalar> / kLanes<Scalar>>([&](auto step) {
      const Index at = row + step * kLanes<Scalar>;
      add_combination<Scalar, kTall, kSkinny>(negated, A + at, lda, Y + at, ldy, load_full,
                                              store_full);
    });
  }
  for (; row + kLanes<Scalar> <= rows; row += kLanes<Scalar>)
    add_combination<Scalar, kTall, kSkinny>(negated, A + row, lda, Y + row, ldy, load_full,
                                            store_full);
  if (const Index rest = rows - row)
    add_combination<Scalar, kTall, kSkinny>(
        negated, A + row, lda, Y + row, ldy,
        [rest](const Scalar* from) { return load_first<Scalar>(from, rest); },
        [rest](Scalar* to, Pack<Scalar> pack) { store_first<Scalar>(to, pack, rest); });
}

template <class Scalar>
void subtract_product(const Scalar* A, Index lda, Index a, const Scalar* C, Index ldc, Index b,
                      Scalar* Y, Index ldy, Index rows) {
  for_each_tile<Scalar>(a, b, rows,
                        [=](auto tall, auto skinny, auto fetches, const TileRange& range) {
                          subtract_tile<Scalar, tall, skinny, fetches>(
                              A + range.column * lda + range.row, lda,
                              fetches == 0 ? A : A + range.fetched * lda + range.row,
                              C + range.column + range.skinny * ldc, ldc,
                              Y + range.skinny * ldy + range.row, ldy, range.rows);
                        });
}
