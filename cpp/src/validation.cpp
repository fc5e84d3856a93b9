#include "stagenets/validation.hpp"

#include <utility>

namespace stagenets {

template <class Scalar>
ValidationRows<Scalar>::ValidationRows(Design<Scalar>& design, Targets targets,
                                       const std::vector<Index>& rows, const VectorD& weights,
                                       const RowBlocks& blocks, Measure measure)
    : rows_(rows),
      score_(std::move(targets), weights, blocks, measure),
      design_(design),
      columns_(static_cast<Index>(rows.size()),
               (design.has_sparse_links() ? 0 : design.fixed()) + design.source().max_units()),
      width_(design.has_sparse_links() ? 0 : design.fixed()) {
  if (width_ == 0) return;
  design.unweighted_fixed_columns({0, columns_.rows(), rows.data()}, columns_.data(),
                                  columns_.rows());
}

template <class Scalar>
void ValidationRows<Scalar>::add_selected(Design<Scalar>& design) {
  if (columns_.rows() == 0) return;
  const CandidateSource<Scalar>& source = design.source();
  const Index units = source.count(Units::selected);
  Matrix<Scalar> values(columns_.rows(), units);
  source.evaluate(Units::selected, {0, columns_.rows(), rows_.data()}, values.data(), values.rows(),
                  nullptr, design.scratch(0));
  columns_.middleCols(width_, units) = values.template cast<double>();
  width_ += units;
}

template <class Scalar>
double ValidationRows<Scalar>::score(const MatrixD& readout, const Link& link) const {
  MatrixD scores(columns_.rows(), readout.cols());
  if (columns_.rows() > 0) {
    if (design_.has_sparse_links()) {
      const RowRange range{0, columns_.rows(), rows_.data()};
      design_.sparse_links().times(range, readout.topRows(design_.fixed()), scores);
    } else {
      scores.setZero();
    }
    blas::gemm(blas::Op::none, blas::Op::none, 1, columns_.leftCols(width_),
               readout.bottomRows(width_), 1, scores);
    scores.rowwise() -= link.thresholds;
  }
  return score_.of(scores);
}

template class ValidationRows<float>;
template class ValidationRows<double>;

}  // namespace stagenets
