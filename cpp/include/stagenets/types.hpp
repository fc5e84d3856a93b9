// The few types shared by all parts of the core: column-major Eigen containers of the feature type
// (`Matrix<float>` or `Matrix<double>`) and of double for whatever is accumulated.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "stagenets/index.hpp"
#include "stagenets/storage.hpp"

namespace stagenets {

template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
template <class Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
using MatrixD = Matrix<double>;
using VectorD = Vector<double>;

template <class Scalar>
using MatrixMap = Eigen::Map<Matrix<Scalar>, 0, Eigen::OuterStride<>>;
template <class Scalar>
using ConstMatrixMap = Eigen::Map<const Matrix<Scalar>, 0, Eigen::OuterStride<>>;

// A matrix in memory whose columns begin `leading` elements apart.
template <class Scalar>
MatrixMap<Scalar> matrix_map(Scalar* data, Index rows, Index columns, Index leading) {
  return {data, rows, columns, Eigen::OuterStride<>(leading)};
}
template <class Scalar>
ConstMatrixMap<Scalar> matrix_map(const Scalar* data, Index rows, Index columns, Index leading) {
  return {data, rows, columns, Eigen::OuterStride<>(leading)};
}

}  // namespace stagenets
