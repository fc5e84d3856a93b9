// Products of a tall A with a skinny matrix. A comes from memory and is read once; the skinny side stays in cache. Both
// work on tiles of kTall columns of A by kSkinny columns of the other matrix, so small that every pair has a register of
// its own, and while a tile is computed the columns of A that come next are fetched.

constexpr Index kCacheLineBytes = 64;
#ifndef AHEAD
#define AHEAD 16384
#endif
constexpr Index kBytesAhead = AHEAD;

template <class Scalar>
constexpr Index kLineRows = kCacheLineBytes / static_cast<Index>(sizeof(Scalar));

// Rows worked on at a time: few enough that the skinny side and two tiles of A share the first-level cache, and that the
// sums of float lanes stay short before they are carried to double.
constexpr Index kRunRows = 256;

// Which part of a product a tile computes, and from which column on it fetches A meanwhile.
struct TileRange {
  Index column;
  Index skinny;
  Index row;
  Index rows;
  Index fetched;
};

// How many of the remaining skinny columns the next tile takes, when there are more than one. Four are halved: a tile of
// one column would spend more time loading A than multiplying.
RESIDUUM_INLINE Index skinny_width(Index left) { return left == 2 || left == 4 ? 2 : 3; }

// Calls tile(columns, skinny columns, columns to fetch, range) for tiles that cover A and the skinny matrix: kTall
// columns of A wide while they last, then half as many, and kSkinny or, if that is zero, two or three skinny columns.
// Skinny tiles are innermost, so that a run of A is still in cache when it is used again; a column's runs come next, for
// memory likes long reads.
template <class Scalar, int kTall, int kSkinny, int kFetches, class Tile>
RESIDUUM_INLINE void for_each_tile(Index first, Index a, Index b, Index rows, const Tile& tile) {
  const Index ahead = kTall + kBytesAhead / (rows * static_cast<Index>(sizeof(Scalar))) / kTall * kTall;
  for (; first + kTall <= a; first += kTall) {
    for (Index row = 0; row < rows; row += kRunRows) {
      const Index run = rows - row < kRunRows ? rows - row : kRunRows;
      Index to_fetch = first + ahead + kTall <= a ? kTall : 0;
      for (Index j = 0; j < b;) {
        const Index fetched = to_fetch > 0 ? first + ahead + kTall - to_fetch : first;
        const TileRange range = {first, j, row, run, fetched};
        const Index width = kSkinny > 0 ? kSkinny : skinny_width(b - j);
        if constexpr (kSkinny > 0)
          tile(Constant<kTall>(), Constant<kSkinny>(), Constant<kFetches>(), range);
        else if (width == 2)
          tile(Constant<kTall>(), Constant<2>(), Constant<kFetches>(), range);
        else
          tile(Constant<kTall>(), Constant<3>(), Constant<kFetches>(), range);
        to_fetch -= kFetches;
        j += width;
      }
    }
  }
  if constexpr (kTall > 1) for_each_tile<Scalar, kTall / 2, kSkinny, 0>(first, a, b, rows, tile);
}

// The widths are such that at most 12 pairs and their operands fill 16 registers, and that at least 8 pairs hide the
// latency of a multiply-add. Up to six skinny columns A passes through the registers once; beyond, several tiles use the
// same columns of A and two of them share the fetching: all at once would be more than memory can deliver meanwhile.
template <class Scalar, class Tile>
RESIDUUM_INLINE void for_each_tile(Index a, Index b, Index rows, const Tile& tile) {
  if (rows == 0) return;
  switch (b) {
    case 0: return;
    case 1: return for_each_tile<Scalar, 8, 1, 8>(0, a, b, rows, tile);
    case 2: return for_each_tile<Scalar, 4, 2, 4>(0, a, b, rows, tile);
    case 3: return for_each_tile<Scalar, 4, 3, 4>(0, a, b, rows, tile);
    case 4: return for_each_tile<Scalar, 3, 4, 3>(0, a, b, rows, tile);
    case 5: return for_each_tile<Scalar, 2, 5, 2>(0, a, b, rows, tile);
    case 6: return for_each_tile<Scalar, 2, 6, 2>(0, a, b, rows, tile);
    default: return for_each_tile<Scalar, 4, 0, 2>(0, a, b, rows, tile);
  }
}

// One step over a pack of rows of sums += A^T B. The narrower side is held and each pack of the other is used up at once:
// the other way round would need more registers than there are.
template <class Scalar, int kTall, int kSkinny>
RESIDUUM_INLINE void add_products(Pack<Scalar> (&sums)[kSkinny][kTall], const Scalar* A, Index lda, const Scalar* B,
                                  Index ldb) {
  if constexpr (kSkinny <= kTall) {
    Pack<Scalar> skinny[kSkinny];
    unrolled<kSkinny>([&](auto j) { skinny[j] = load<Scalar>(B + j * ldb); });
    unrolled<kTall>([&](auto i) {
      const Pack<Scalar> tall = load<Scalar>(A + i * lda);
      unrolled<kSkinny>([&](auto j) { sums[j][i] = mul_add(tall, skinny[j], sums[j][i]); });
    });
  } else {
    Pack<Scalar> tall[kTall];
    unrolled<kTall>([&](auto i) { tall[i] = load<Scalar>(A + i * lda); });
    unrolled<kSkinny>([&](auto j) {
      const Pack<Scalar> skinny = load<Scalar>(B + j * ldb);
      unrolled<kTall>([&](auto i) { sums[j][i] = mul_add(tall[i], skinny, sums[j][i]); });
    });
  }
}

// out (kTall x kSkinny) += A^T B over `rows` rows; kFetches columns from `next` on are fetched meanwhile.
template <class Scalar, int kTall, int kSkinny, int kFetches>
void add_transposed_tile(const Scalar* A, Index lda, const Scalar* next, const Scalar* B, Index ldb, Index rows,
                         double* out, Index ld_out) {
  Pack<Scalar> sums[kSkinny][kTall];
  unrolled<kSkinny>([&](auto j) { unrolled<kTall>([&](auto i) { sums[j][i] = Pack<Scalar>{}; }); });
  Index row = 0;
  for (; row + kLineRows<Scalar> <= rows; row += kLineRows<Scalar>) {
    unrolled<kFetches>([&](auto i) { prefetch(next + i * lda + row); });
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
        out[i + j * ld_out] += static_cast<double>(A[row + i * lda]) * static_cast<double>(B[row + j * ldb]);
}

template <class Scalar>
void add_transposed_product(const Scalar* A, Index lda, Index a, const Scalar* B, Index ldb, Index b, Index rows,
                            double* out, Index ld_out) {
  for_each_tile<Scalar>(
      a, b, rows, [=](auto tall, auto skinny, auto fetches, const TileRange& range) {
        add_transposed_tile<Scalar, tall, skinny, fetches>(
            A + range.column * lda + range.row, lda, A + range.fetched * lda + range.row,
            B + range.skinny * ldb + range.row, ldb, range.rows, out + range.column + range.skinny * ld_out, ld_out);
      });
}

// One step over a pack of rows of Y += A C; C is negated and spread over packs already.
template <class Scalar, int kTall, int kSkinny, class Load, class Store>
RESIDUUM_INLINE void add_combination(const Pack<Scalar> (&C)[kTall][kSkinny], const Scalar* A, Index lda, Scalar* Y,
                                     Index ldy, Load load_rows, Store store_rows) {
  Pack<Scalar> tall[kTall];
  unrolled<kTall>([&](auto i) { tall[i] = load_rows(A + i * lda); });
  unrolled<kSkinny>([&](auto j) {
    Pack<Scalar> sum = load_rows(Y + j * ldy);
    unrolled<kTall>([&](auto i) { sum = mul_add(tall[i], C[i][j], sum); });
    store_rows(Y + j * ldy, sum);
  });
}

// Y (rows x kSkinny) -= A (rows x kTall) C; kFetches columns from `next` on are fetched meanwhile.
template <class Scalar, int kTall, int kSkinny, int kFetches>
void subtract_tile(const Scalar* A, Index lda, const Scalar* next, const Scalar* C, Index ldc, Scalar* Y, Index ldy,
                   Index rows) {
  const auto load_full = [](const Scalar* from) { return load<Scalar>(from); };
  const auto store_full = [](Scalar* to, Pack<Scalar> pack) { store<Scalar>(to, pack); };
  Pack<Scalar> negated[kTall][kSkinny];
  unrolled<kSkinny>([&](auto j) { unrolled<kTall>([&](auto i) { negated[i][j] = fill<Scalar>(-C[i + j * ldc]); }); });
  Index row = 0;
  for (; row + kLineRows<Scalar> <= rows; row += kLineRows<Scalar>) {
    unrolled<kFetches>([&](auto i) { prefetch(next + i * lda + row); });
    unrolled<kLineRows<Scalar> / kLanes<Scalar>>([&](auto step) {
      const Index at = row + step * kLanes<Scalar>;
      add_combination<Scalar, kTall, kSkinny>(negated, A + at, lda, Y + at, ldy, load_full, store_full);
    });
  }
  for (; row + kLanes<Scalar> <= rows; row += kLanes<Scalar>)
    add_combination<Scalar, kTall, kSkinny>(negated, A + row, lda, Y + row, ldy, load_full, store_full);
  if (const Index rest = rows - row)
    add_combination<Scalar, kTall, kSkinny>(
        negated, A + row, lda, Y + row, ldy, [rest](const Scalar* from) { return load_first<Scalar>(from, rest); },
        [rest](Scalar* to, Pack<Scalar> pack) { store_first<Scalar>(to, pack, rest); });
}

template <class Scalar>
void subtract_product(const Scalar* A, Index lda, Index a, const Scalar* C, Index ldc, Index b, Scalar* Y, Index ldy,
                      Index rows) {
  for_each_tile<Scalar>(
      a, b, rows, [=](auto tall, auto skinny, auto fetches, const TileRange& range) {
        subtract_tile<Scalar, tall, skinny, fetches>(
            A + range.column * lda + range.row, lda, A + range.fetched * lda + range.row,
            C + range.column + range.skinny * ldc, ldc, Y + range.skinny * ldy + range.row, ldy, range.rows);
      });
}
