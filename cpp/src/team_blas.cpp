#include "stagenets/team_blas.hpp"

#include <algorithm>

#include "stagenets/tiles.hpp"

namespace stagenets {

using blas::Op;
using blas::Side;

void multiply(Op op_a, Op op_b, double alpha, MatrixIn a, MatrixIn b, double beta, MatrixOut c,
              Team& team) {
  constexpr Index kTile = 192;
  const Index down = (c.rows() + kTile - 1) / kTile, across = (c.cols() + kTile - 1) / kTile;
  const Index inner = op_a == Op::none ? a.cols() : a.rows();
  team.for_each(down * across, [&](Index tile, int worker) {
    team.poll(worker);
    const Index row = tile % down * kTile, column = tile / down * kTile;
    const Index height = std::min(kTile, c.rows() - row);
    const Index width = std::min(kTile, c.cols() - column);
    const auto left =
        op_a == Op::none ? a.block(row, 0, height, inner) : a.block(0, row, inner, height);
    const auto right =
        op_b == Op::none ? b.block(0, column, inner, width) : b.block(column, 0, width, inner);
    blas::gemm(op_a, op_b, alpha, left, right, beta, c.block(row, column, height, width));
  });
}

namespace {

constexpr Index kTriangleTile = 128;
Index tiles_of(Index size) { return (size + kTriangleTile - 1) / kTriangleTile; }
Index end_of(Index tile, Index size) { return std::min((tile + 1) * kTriangleTile, size); }

}  // namespace

void add_outer_product(double alpha, MatrixIn a, MatrixOut c, Team& team) {
  const Index n = c.rows();
  for_each_lower_tile(team, tiles_of(n), [&](Index i, Index j) {
    const Index row = i * kTriangleTile, height = end_of(i, n) - row;
    const Index column = j * kTriangleTile, width = end_of(j, n) - column;
    blas::gemm(Op::none, Op::transpose, alpha, a.middleRows(row, height),
               a.middleRows(column, width), 1, c.block(row, column, height, width));
  });
}

void add_gram_of_upper(double alpha, MatrixIn u, MatrixOut c, Team& team) {
  const Index n = c.rows();
  for_each_lower_tile(team, tiles_of(n), [&](Index i, Index j) {
    const Index row = i * kTriangleTile, height = end_of(i, n) - row;
    const Index column = j * kTriangleTile, width = end_of(j, n) - column;
    const Index inner = end_of(j, n);  // the columns of tile j are zero below this
    blas::gemm(Op::transpose, Op::none, alpha, u.block(0, row, inner, height),
               u.block(0, column, inner, width), 1, c.block(row, column, height, width));
  });
}

MatrixD multiply_lower(MatrixIn l, MatrixIn m, Team& team) {
  const Index n = l.rows();
  MatrixD product = MatrixD::Zero(n, n);
  for_each_lower_tile(team, tiles_of(n), [&](Index i, Index j) {
    const Index row = i * kTriangleTile, height = end_of(i, n) - row;
    const Index column = j * kTriangleTile, width = end_of(j, n) - column;
    const Index inner = end_of(i, n) - column;  // from the diagonal of M to that of L
    blas::gemm(Op::none, Op::none, 1, l.block(row, column, height, inner),
               m.block(column, column, inner, width), 0, product.block(row, column, height, width));
  });
  return product;
}

namespace {

// Calls body(first, size) for panels of the columns of L, in the order in which op(L) is solved.
template <class Body>
void for_each_panel(Op op, Index n, Body&& body) {
  constexpr Index kPanel = 512;
  const Index panels = (n + kPanel - 1) / kPanel;
  for (Index p = 0; p < panels; ++p) {
    const Index first = (op == Op::none ? p : panels - 1 - p) * kPanel;
    body(first, std::min(kPanel, n - first));
  }
}

// What a solved panel of X takes away from some of the rows that are still to be solved.
void subtract_panel(Op op, MatrixIn l, Index first, Index size, Index row, Index count,
                    MatrixOut x) {
  const auto part =
      op == Op::none ? l.block(row, first, count, size) : l.block(first, row, size, count);
  blas::gemm(op, Op::none, -1, part, x.middleRows(first, size), 1, x.middleRows(row, count));
}

}  // namespace

// Panel by panel, so that a large L can be interrupted in between.
void solve_columns(Op op, MatrixIn l, MatrixOut x, Team& team, int worker) {
  for_each_panel(op, l.rows(), [&](Index first, Index size) {
    team.poll(worker);
    blas::trsm(Side::left, op, l.block(first, first, size, size), x.middleRows(first, size));
    const Index rest = op == Op::none ? first + size : 0;
    subtract_panel(op, l, first, size, rest, op == Op::none ? l.rows() - rest : first, x);
  });
}

namespace {

// For so few columns that one thread would do them all, the rows below (or above) each panel are divided instead.
void solve_few_columns(Op op, MatrixIn l, MatrixOut x, Team& team) {
  constexpr Index kRows = 1024;
  for_each_panel(op, l.rows(), [&](Index first, Index size) {
    auto solved = x.middleRows(first, size);
    blas::trsm(Side::left, op, l.block(first, first, size, size), solved);
    const Index rest = op == Op::none ? first + size : 0;
    const Index rest_rows = op == Op::none ? l.rows() - rest : first;
    for_each_run(team, rest_rows, kRows, [&](Index start, Index count, int) {
      subtract_panel(op, l, first, size, rest + start, count, x);
    });
  });
}

void solve_triangular(Op op, MatrixIn l, MatrixOut x, Team& team) {
  constexpr Index kWorthDividing = 2048;
  if (x.cols() <= kSolvedTogether && l.rows() >= kWorthDividing) {
    return solve_few_columns(op, l, x, team);
  }
  for_each_run(team, x.cols(), kSolvedTogether, [&](Index first, Index count, int worker) {
    solve_columns(op, l, x.middleCols(first, count), team, worker);
  });
}

}  // namespace

void solve_lower(MatrixIn l, MatrixOut x, Team& team) { solve_triangular(Op::none, l, x, team); }

void solve_lower_transposed(MatrixIn l, MatrixOut x, Team& team) {
  solve_triangular(Op::transpose, l, x, team);
}

// Y = X L⁻ᵀ is L Yᵀ = Xᵀ, so panels are solved in the order of L.
void solve_rows(MatrixIn l, MatrixOut x, Team& team, int worker) {
  for_each_panel(Op::none, l.rows(), [&](Index first, Index size) {
    team.poll(worker);
    blas::trsm(Side::right, Op::transpose, l.block(first, first, size, size),
               x.middleCols(first, size));
    const Index rest = first + size, left = l.rows() - rest;
    blas::gemm(Op::none, Op::transpose, -1, x.middleCols(first, size),
               l.block(rest, first, left, size), 1, x.middleCols(rest, left));
  });
}

void solve_lower_from_right(MatrixIn l, MatrixOut x, Team& team) {
  constexpr Index kRows = 512;
  for_each_run(team, x.rows(), kRows, [&](Index first, Index count, int worker) {
    solve_rows(l, x.middleRows(first, count), team, worker);
  });
}

}  // namespace stagenets
