// The few types every part of the core shares: column-major Eigen containers of the feature type
// (`Matrix<float>` or `Matrix<double>`) and of double for whatever is accumulated.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "residuum/index.hpp"

namespace residuum {

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

}  // namespace residuum
