// Readouts in the coordinates of a factor, Θ = LᵀΩ, in which scores are QΘ. Those of the fixed columns may be implicit:
// given as Θ₀ = Q₀ᵀV by some V with a row for every row of the design, where Q₀ is not at hand but Q₀Q₀ᵀ is. The inner
// product of two such points is V · Q₀Q₀ᵀW, and Q₀Q₀ᵀV is what they add to the scores, so every V goes with its image.
#pragma once

#include "stagenets/factor.hpp"
#include "stagenets/factor_columns.hpp"

namespace stagenets {

// A point, a step or a gradient.
struct Coordinates {
  MatrixD values;  // V, if the first coordinates are implicit, above the others
  MatrixD image;   // the same with Q₀Q₀ᵀV in place of V; empty if none are implicit

  Coordinates& operator+=(const Coordinates& other) {
    values += other.values;
    image += other.image;
    return *this;
  }
  Coordinates& operator*=(double factor) {
    values *= factor;
    image *= factor;
    return *this;
  }
  // Adds a multiple of another point.
  void add(double factor, const Coordinates& other) {
    values += factor * other.values;
    image += factor * other.image;
  }
  void scale_columns(const Eigen::RowVectorXd& factors) {
    values = values * factors.asDiagonal();
    image = image.size() > 0 ? MatrixD(image * factors.asDiagonal()) : MatrixD();
  }
  // Squared norms of the columns.
  Eigen::RowVectorXd energies() const {
    return values.cwiseProduct(image.size() > 0 ? image : values).colwise().sum();
  }
  // More coordinates, which are not implicit and zero.
  void grow(Index rows) {
    extend(values, rows);
    if (image.size() > 0) extend(image, rows);
  }

 private:
  static void extend(MatrixD& matrix, Index rows) {
    const Index before = matrix.rows();
    matrix.conservativeResize(before + rows, Eigen::NoChange);
    matrix.bottomRows(rows).setZero();
  }
};

inline Coordinates operator+(Coordinates a, const Coordinates& b) { return a += b; }

inline double inner(const Coordinates& a, const Coordinates& b) {
  return a.values.cwiseProduct(b.image.size() > 0 ? b.image : b.values).sum();
}

// A factor whose coordinates are at hand, so that other losses than the squared one can be minimised in them.
template <class Scalar>
class CoordinateFactor : public Factor<Scalar> {
 public:
  // Coordinates of the fixed columns, and whether they are implicit.
  virtual Index fixed_width() const = 0;
  virtual bool is_implicit() const { return false; }
  // Whether there are as many of them as rows.
  virtual bool is_wide() const = 0;
  // How many of these are independent.
  virtual Index fixed_rank() const { return fixed_width(); }
  // Q₀Q₀ᵀV.
  virtual MatrixD image(const MatrixD& values, Team& team) const = 0;
  // Columns of Q, of coordinates that are not implicit; `first` counts all coordinates.
  virtual FactorColumns<Scalar> columns(Index first, Index count) const = 0;
  // The number of all coordinates.
  virtual Index width() const = 0;
  // The lower triangle of I − QᵀQ = λ L⁻¹L⁻ᵀ, for the first coordinates, if none are implicit.
  virtual MatrixD shrinkage(Index columns, Team& team) const = 0;
  // Ω = L⁻ᵀΘ, of the height of the first columns of a design.
  virtual MatrixD readout_of(const MatrixD& coordinates, Team& team) const = 0;
};

}  // namespace stagenets
