#include "stagenets/row_space.hpp"

namespace stagenets {

template <class Scalar>
RowSpace<Scalar>::RowSpace(Design<Scalar>& design, const RowBlocks& blocks, Team& team)
    : RowSpace(design, design.fixed_products_of_rows(blocks, team), team) {}

template <class Scalar>
RowSpace<Scalar>::RowSpace(Design<Scalar>& design, MatrixD products, Team& team)
    : design_(design), factor_(products, team), columns_(products.rows(), factor_.l.rows()) {
  products.template triangularView<Eigen::StrictlyUpper>() = products.transpose();
  for (Index j = 0; j < columns_.cols(); ++j) {
    columns_.col(j) = products.col(factor_.kept[static_cast<std::size_t>(j)]);
  }
  solve_lower_from_right(factor_.l, columns_, team);
}

template <class Scalar>
MatrixD RowSpace<Scalar>::expand(const MatrixD& readout, Team& team) const {
  MatrixD shares = readout;
  solve_lower_transposed(factor_.l, shares, team);
  return design_.fixed_transposed_times(factor_.expand(shares, design_.rows()), team);
}

template class RowSpace<float>;
template class RowSpace<double>;

}  // namespace stagenets
