// A = [1 U G], the design on which the readout is fitted: the fixed columns (a column of ones, the
// direct links) and the units of a CandidateSource, with rows scaled by the roots of their weights so
// that every inner product over rows is weighted. Its rows are those of the inputs; or, if the weights have a graph,
// the first ones of them (the samples) and then the differences of the pairs of the graph.
#pragma once

#include <optional>

#include "stagenets/candidates.hpp"
#include "stagenets/inputs.hpp"
#include "stagenets/rough_pool.hpp"
#include "stagenets/row_weights.hpp"
#include "stagenets/sparse_links.hpp"

namespace stagenets {

template <class Scalar>
class Design {
 public:
  // All arguments must outlive the design.
  Design(const Inputs<Scalar>& inputs, bool intercept, bool direct_links,
         CandidateSource<Scalar>& source, const RowWeights& weights, int workers)
      : inputs_(inputs),
        intercept_(intercept),
        direct_links_(direct_links),
        source_(source),
        weights_(weights),
        root_weights_(weights.root_data()),
        scratch_(static_cast<std::size_t>(workers)) {
    // Differences of pairs have links that are not those of a row.
    if (direct_links && inputs.is_sparse() && !weights.graph) {
      sparse_links_.emplace(inputs, intercept, root_weights_);
    }
  }

  CandidateSource<Scalar>& source() { return source_; }
  const RowWeights& weights() const { return weights_; }
  const double* root_weights() const { return root_weights_; }  // null for equal weights
  Index rows() const { return weights_.graph ? weights_.roots.size() : inputs_.rows(); }
  Index samples() const { return weights_.samples(rows()); }
  Index fixed() const { return (intercept_ ? 1 : 0) + (direct_links_ ? inputs_.columns() : 0); }
  Index columns() const { return fixed() + source_.count(Units::kept); }
  Profile profile() const {
    Profile sum;
    for (const Scratch<Scalar>& own : scratch_) sum += own.profile;
    return sum;
  }
  Scratch<Scalar>& scratch(int worker) { return scratch_[static_cast<std::size_t>(worker)]; }

  // The targets of the samples with their rows weighted in the same way, and zeros for pairs.
  MatrixD weighted(const MatrixD& targets) const {
    if (!root_weights_) return targets;
    const Eigen::Map<const VectorD> roots(root_weights_, targets.rows());
    MatrixD all = MatrixD::Zero(rows(), targets.cols());
    all.topRows(targets.rows()) = roots.asDiagonal() * targets;
    return all;
  }

  // Units of the source on a block of rows, weighted; squared norms are added to square_norms.
  void evaluate(Units units, RowRange range, Scalar* out, Index leading, double* square_norms,
                int worker);

  // The same for a source's pool in single precision.
  void evaluate(const RoughPool& pool, RowRange range, float* out, Index leading,
                double* square_norms, int worker);

  // Fixed columns [first, first + count) on a block of rows, weighted.
  void fixed_columns(RowRange range, Index first, Index count, double* out, Index leading) const;
  // All fixed columns without weights, for rows whose weight may be zero.
  void unweighted_fixed_columns(RowRange range, double* out, Index leading) const {
    copy_fixed_columns(range, 0, fixed(), out, leading);
  }
  // Whether the fixed columns are the links of sparse inputs, which products with them do not fill in.
  bool has_sparse_links() const { return sparse_links_.has_value(); }
  const SparseLinks<Scalar>& sparse_links() const { return *sparse_links_; }

  // Calls visit(first, count, columns) for the fixed columns on all rows, weighted, a few hundred at a time: they are the
  // first `count` ones of `columns`.
  template <class Visit>
  void visit_fixed_columns(const RowBlocks& blocks, Team& team, Visit&& visit) const {
    constexpr Index kColumns = 512;
    MatrixD columns(rows(), std::min(kColumns, fixed()));
    for (Index first = 0; first < fixed(); first += kColumns) {
      const Index count = std::min(kColumns, fixed() - first);
      blocks.sweep(team, [&](Index, Index b, int) {
        const RowRange range = blocks.block(b);
        fixed_columns(range, first, count, columns.data() + range.first, columns.rows());
      });
      visit(first, count, columns);
    }
  }
  // With A₀ the fixed columns: the lower triangle of A₀A₀ᵀ, and A₀ᵀ x for a few columns x.
  MatrixD fixed_products_of_rows(const RowBlocks& blocks, Team& team) const;
  MatrixD fixed_transposed_times(const MatrixD& x, Team& team);

  // The units kept on a block of rows, weighted, in double.
  void unit_columns(RowRange range, double* out, Index leading, int worker);
  // All columns (fixed, then the units kept) on a block of rows, weighted, in double.
  void all_columns(RowRange range, double* out, Index leading, int worker);

  // A x over all rows, for a few columns x (columns() × c).
  MatrixD times(const MatrixD& x, const RowBlocks& blocks, Team& team);

  // Aᵀ x over all rows of this process.
  MatrixD transposed_times(const MatrixD& x, const RowBlocks& blocks, Team& team);

  // Aᵀ(T − A Ω), where T is already weighted; residual_energy <- ‖T − A Ω‖².
  MatrixD residual_gradient(const MatrixD& readout, const MatrixD& targets, const RowBlocks& blocks,
                            double& residual_energy, Team& team);

 private:
  void copy_fixed_columns(RowRange range, Index first, Index count, double* out,
                          Index leading) const;
  // Scales the rows of some columns by the roots of their weights; adds squared norms unless null.
  template <class Number>
  void weigh(RowRange range, MatrixMap<Number> columns, double* square_norms) const;
  // Has fill(rows of the inputs, out, leading) fill in what a range of rows consists of: these rows, or the rows of
  // pairs, which are subtracted.
  template <class Number, class Fill>
  void combine(RowRange range, Index columns, Number* out, Index leading, Fill&& fill) const;
  VectorD roots_of(RowRange range) const {
    return VectorD::NullaryExpr(range.count, [&](Index i) { return root_weights_[range[i]]; });
  }

  const Inputs<Scalar>& inputs_;
  bool intercept_, direct_links_;
  CandidateSource<Scalar>& source_;
  const RowWeights& weights_;
  const double* root_weights_;
  std::optional<SparseLinks<Scalar>> sparse_links_;
  std::vector<Scratch<Scalar>> scratch_;
};

}  // namespace stagenets
