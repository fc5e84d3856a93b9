#include "residuum/cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "residuum/blas.hpp"
#include "residuum/tiles.hpp"

namespace residuum {
namespace {
constexpr Index kTile = 192;
}

bool cholesky(MatrixD& a, Team& team) {
  using blas::Op;
  const Index n = a.rows();
  for (Index first = 0; first < n; first += kTile) {
    const Index width = std::min(kTile, n - first), below = first + width;
    if (blas::potrf(width, &a(first, first), n) != 0) return false;
    const Index tiles = (n - below + kTile - 1) / kTile;
    const auto start = [&](Index t) { return below + t * kTile; };
    const auto size = [&](Index t) { return std::min(kTile, n - start(t)); };
    team.for_each(tiles, [&](Index t, int worker) {
      team.poll(worker);
      blas::trsm(blas::Side::right, Op::transpose, size(t), width, &a(first, first), n,
                 &a(start(t), first), n);
    });
    for_each_lower_tile(team, tiles, [&](Index i, Index j) {
      blas::gemm(Op::none, Op::transpose, size(i), size(j), width, -1.0, &a(start(i), first), n,
                 &a(start(j), first), n, 1.0, &a(start(i), start(j)), n);
    });
  }
  return true;
}

std::vector<Index> cholesky_dropping(MatrixD& a, double tolerance) {
  const Index n = a.rows();
  std::vector<Index> kept;
  MatrixD l = MatrixD::Zero(n, n);
  // Row by row: each new column is projected on the ones kept before it.
  for (Index j = 0; j < n; ++j) {
    const Index count = static_cast<Index>(kept.size());
    VectorD row(count);
    for (Index c = 0; c < count; ++c) {
      row[c] = (a(j, kept[c]) - row.head(c).dot(l.row(c).head(c))) / l(c, c);
    }
    const double pivot = a(j, j) - row.squaredNorm();
    if (!(pivot > tolerance * a(j, j))) continue;
    l.row(count).head(count) = row;
    l(count, count) = std::sqrt(pivot);
    kept.push_back(j);
  }
  const Index count = static_cast<Index>(kept.size());
  a = l.topLeftCorner(count, count);
  return kept;
}

KeptCholesky::KeptCholesky(const MatrixD& a, Team& team) : l(a) {
  const Index n = a.rows();
  const double tolerance = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  kept.resize(static_cast<std::size_t>(n));
  std::iota(kept.begin(), kept.end(), Index{0});
  const auto relative_pivot = [&](Index j) { return l(j, j) * l(j, j) / a(kept[j], kept[j]); };
  bool sound = cholesky(l, team);
  for (Index j = 0; sound && j < n; ++j) sound = relative_pivot(j) > tolerance;
  if (!sound) {
    l = a;
    kept = cholesky_dropping(l, tolerance);
  }
  for (Index j = 0; j < l.rows(); ++j) worst_pivot = std::min(worst_pivot, relative_pivot(j));
}

MatrixD KeptCholesky::compress(const MatrixD& all) const {
  MatrixD some(l.rows(), all.cols());
  for (Index j = 0; j < l.rows(); ++j) some.row(j) = all.row(kept[j]);
  return some;
}

MatrixD KeptCholesky::expand(const MatrixD& some, Index rows) const {
  MatrixD all = MatrixD::Zero(rows, some.cols());
  for (Index j = 0; j < some.rows(); ++j) all.row(kept[j]) = some.row(j);
  return all;
}

void cholesky_update(MatrixD& l, MatrixD& g) {
  const Index n = l.rows();
  for (Index j = 0; j < n; ++j) {
    double* column = &l(0, j);
    for (Index c = 0; c < g.cols(); ++c) {  // while the column is in cache
      double* rest = g.col(c).data();
      const double diagonal = column[j], radius = std::hypot(diagonal, rest[j]);
      const double cosine = diagonal / radius, sine = rest[j] / radius;
      column[j] = radius;
      for (Index i = j + 1; i < n; ++i) {
        const double old = column[i];
        column[i] = cosine * old + sine * rest[i];
        rest[i] = cosine * rest[i] - sine * old;
      }
    }
  }
}

void solve_lower(const MatrixD& l, Index size, MatrixD& x) {
  blas::trsm(blas::Side::left, blas::Op::none, size, x.cols(), l.data(), l.rows(), x.data(),
             x.rows());
}

void solve_lower_transposed(const MatrixD& l, Index size, MatrixD& x) {
  blas::trsm(blas::Side::left, blas::Op::transpose, size, x.cols(), l.data(), l.rows(), x.data(),
             x.rows());
}

MatrixD inverse_transposed_columns(const MatrixD& l, Index size, Index first) {
  MatrixD columns = MatrixD::Zero(size, size - first);
  columns.bottomRows(size - first).setIdentity();
  solve_lower_transposed(l, size, columns);
  return columns;
}

}  // namespace residuum
