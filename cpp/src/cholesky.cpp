#include "stagenets/cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "stagenets/tiles.hpp"

namespace stagenets {
namespace {
constexpr Index kTile = 192;
}

bool cholesky(MatrixD& a, Team& team) {
  using blas::Op;
  const Index n = a.rows();
  for (Index first = 0; first < n; first += kTile) {
    const Index width = std::min(kTile, n - first), below = first + width;
    const auto corner = a.block(first, first, width, width);
    if (blas::potrf(a.block(first, first, width, width)) != 0) return false;
    const Index tiles = (n - below + kTile - 1) / kTile;
    const auto start = [&](Index t) { return below + t * kTile; };
    const auto size = [&](Index t) { return std::min(kTile, n - start(t)); };
    team.for_each(tiles, [&](Index t, int worker) {
      team.poll(worker);
      blas::trsm(blas::Side::right, Op::transpose, corner,
                 a.block(start(t), first, size(t), width));
    });
    for_each_lower_tile(team, tiles, [&](Index i, Index j) {
      blas::gemm(Op::none, Op::transpose, -1, a.block(start(i), first, size(i), width),
                 a.block(start(j), first, size(j), width), 1,
                 a.block(start(i), start(j), size(i), size(j)));
    });
  }
  return true;
}

namespace {

// cholesky_dropping for the few columns of a panel: pivots are compared with `diagonal`. Row by row, each new column is
// projected on the ones kept before it. `a` becomes the transposed factor.
std::vector<Index> drop_in_panel(MatrixD& a, const VectorD& diagonal, double tolerance) {
  std::vector<Index> kept;
  MatrixD upper = MatrixD::Zero(a.rows(), a.rows());
  for (Index j = 0; j < a.rows(); ++j) {
    const Index count = static_cast<Index>(kept.size());
    auto column = upper.col(count);
    for (Index c = 0; c < count; ++c) {
      column[c] = (a(j, kept[c]) - column.head(c).dot(upper.col(c).head(c))) / upper(c, c);
    }
    const double pivot = a(j, j) - column.head(count).squaredNorm();
    if (!(pivot > tolerance * diagonal[j])) continue;
    column[count] = std::sqrt(pivot);
    kept.push_back(j);
  }
  const Index count = static_cast<Index>(kept.size());
  a = upper.topLeftCorner(count, count);
  return kept;
}

}  // namespace

// One panel of columns after another: the part explained by all columns kept before is subtracted at once.
std::vector<Index> cholesky_dropping(MatrixD& a, double tolerance, Team& team) {
  const Index n = a.rows();
  std::vector<Index> kept;
  MatrixD l = MatrixD::Zero(n, n);
  for (Index first = 0; first < n; first += kTile) {
    const Index width = std::min(kTile, n - first), before = static_cast<Index>(kept.size());
    MatrixD projections(before, width);
    for (Index c = 0; c < before; ++c) {
      projections.row(c) = a.col(kept[c]).segment(first, width).transpose();
    }
    solve_lower(l.topLeftCorner(before, before), projections, team);
    MatrixD rest = a.block(first, first, width, width);
    const VectorD diagonal = rest.diagonal();
    multiply(blas::Op::transpose, blas::Op::none, -1, projections, projections, 1, rest, team);
    const std::vector<Index> fresh = drop_in_panel(rest, diagonal, tolerance);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      const Index row = before + static_cast<Index>(i), own = static_cast<Index>(i) + 1;
      l.row(row).head(before) = projections.col(fresh[i]).transpose();
      l.row(row).segment(before, own) = rest.col(own - 1).head(own).transpose();
      kept.push_back(first + fresh[i]);
    }
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
    kept = cholesky_dropping(l, tolerance, team);
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

namespace {

struct Rotation {
  double cosine, sine;

  // Rotates `count` pairs of values.
  void turn(double* __restrict x, double* __restrict y, Index count) const {
    for (Index i = 0; i < count; ++i) {
      const double old = x[i];
      x[i] = cosine * old + sine * y[i];
      y[i] = cosine * y[i] - sine * old;
    }
  }
};

}  // namespace

// Rotations depend on the rows of L down to their own and act on each row below independently. For a few columns of L
// at a time, they are computed in the diagonal block first and then applied to runs of rows.
void cholesky_update(MatrixD& l, MatrixD& g, Team& team) {
  constexpr Index kColumns = 64, kLeastWork = 1 << 16;
  const Index n = l.rows(), rank = g.cols();
  std::vector<Rotation> rotations;
  for (Index first = 0; first < n; first += kColumns) {
    const Index last = std::min(first + kColumns, n);
    rotations.clear();
    for (Index j = first; j < last; ++j) {
      for (Index c = 0; c < rank; ++c) {
        const double diagonal = l(j, j), radius = std::hypot(diagonal, g(j, c));
        rotations.push_back({diagonal / radius, g(j, c) / radius});
        l(j, j) = radius;
        rotations.back().turn(&l(j, j) + 1, &g(j, c) + 1, last - j - 1);
      }
    }
    const Index rows = std::max<Index>(256, kLeastWork / std::max<Index>(1, kColumns * rank));
    for_each_run(team, n - last, rows, [&](Index start, Index count, int) {
      const Rotation* rotation = rotations.data();
      for (Index j = first; j < last; ++j) {
        for (Index c = 0; c < rank; ++c) {
          (rotation++)->turn(l.col(j).data() + last + start, g.col(c).data() + last + start, count);
        }
      }
    });
  }
}

// A column of L⁻ᵀ is zero below the diagonal, a column of L⁻¹ above it: the solves end, or begin, there.
MatrixD inverse_transposed_columns(MatrixIn l, Index first, Team& team) {
  const Index n = l.rows();
  MatrixD columns = MatrixD::Zero(n, n - first);
  for_each_run(team, n - first, kSolvedTogether, [&](Index start, Index count, int worker) {
    const Index size = first + start + count;
    columns.block(first + start, start, count, count).setIdentity();
    solve_columns(blas::Op::transpose, l.topLeftCorner(size, size),
                  columns.block(0, start, size, count), team, worker);
  });
  return columns;
}

VectorD inverse_square_norms(MatrixIn l, Team& team) {
  const Index n = l.rows();
  VectorD norms(n);
  for_each_run(team, n, kSolvedTogether, [&](Index start, Index count, int worker) {
    const Index size = n - start;
    MatrixD columns = MatrixD::Identity(size, count);
    solve_columns(blas::Op::none, l.bottomRightCorner(size, size), columns, team, worker);
    norms.segment(start, count) = columns.colwise().squaredNorm().transpose();
  });
  return norms;
}

}  // namespace stagenets
