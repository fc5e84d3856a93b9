#include "residuum/validation.hpp"

namespace residuum {

double prediction_score(const MatrixD& targets, const MatrixD& scores, bool classification) {
  if (classification) {
    Index right = 0;
    for (Index i = 0; i < targets.rows(); ++i) {
      Index wanted, given;
      targets.row(i).maxCoeff(&wanted);
      scores.row(i).maxCoeff(&given);
      right += wanted == given;
    }
    return static_cast<double>(right) / static_cast<double>(targets.rows());
  }
  double sum = 0;
  for (Index c = 0; c < targets.cols(); ++c) {
    const double error = (targets.col(c) - scores.col(c)).squaredNorm();
    const double spread = (targets.col(c).array() - targets.col(c).mean()).square().sum();
    // scikit-learn's convention for a constant target.
    sum += spread > 0 ? 1 - error / spread : error > 0 ? 0.0 : 1.0;
  }
  return sum / static_cast<double>(targets.cols());
}

template <class Scalar>
ValidationRows<Scalar>::ValidationRows(Design<Scalar>& design, const MatrixD& targets,
                                       const std::vector<Index>& rows, Index max_units,
                                       bool classification)
    : rows_(rows),
      classification_(classification),
      targets_(static_cast<Index>(rows.size()), targets.cols()),
      columns_(static_cast<Index>(rows.size()), design.fixed() + max_units),
      width_(design.fixed()) {
  for (std::size_t i = 0; i < rows.size(); ++i) targets_.row(i) = targets.row(rows[i]);
  design.unweighted_fixed_columns({0, columns_.rows(), rows.data()}, columns_.data(),
                                  columns_.rows());
}

template <class Scalar>
void ValidationRows<Scalar>::add_selected(Design<Scalar>& design) {
  const CandidateSource<Scalar>& source = design.source();
  const Index units = source.count(Units::selected);
  Matrix<Scalar> values(columns_.rows(), units);
  source.evaluate(Units::selected, {0, columns_.rows(), rows_.data()}, values.data(), values.rows(),
                  nullptr, design.scratch(0));
  columns_.middleCols(width_, units) = values.template cast<double>();
  width_ += units;
}

template <class Scalar>
double ValidationRows<Scalar>::score(const MatrixD& readout) const {
  MatrixD scores(columns_.rows(), readout.cols());
  blas::gemm<double>(blas::Op::none, blas::Op::none, scores.rows(), scores.cols(), width_, 1,
                     columns_.data(), columns_.rows(), readout.data(), readout.rows(), 0,
                     scores.data(), scores.rows());
  return prediction_score(targets_, scores, classification_);
}

template class ValidationRows<float>;
template class ValidationRows<double>;

}  // namespace residuum
