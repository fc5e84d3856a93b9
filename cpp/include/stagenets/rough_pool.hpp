// The pool of a float64 fit in single precision. Most of a pool is only ranked, so it is evaluated in half the time with
// this, and whatever the ranking of which its errors could change is evaluated again in double (scores.hpp).
//
// With u = 2⁻²⁴, candidate g = φ(z), z = Σ wᵢxᵢ + β over m inputs, and norms over rows, weighted:
//
//   map         rounding x, w and β to single precision and summing in any order errs by at most
//               (m + 6) u (Σ |wᵢ||xᵢ| + 2|β|) in each row, so ‖z̃ − z‖ ≤ (m + 6) u (Σ |wᵢ| ‖xᵢ‖ + 2|β| ‖1‖); a unit
//               that is the least of several terms errs by no more than the sum over its terms
//   activation  ‖g̃ − g‖ ≤ φ'max ‖z̃ − z‖ + 8u ‖g̃‖, as kernels are within 4 ulp, + 2u ‖g̃‖ for the roots of the weights
//
// These bounds are what errors() and kRelativeError are. Errors of the double pass are smaller by 2²⁹ and covered by slack.
#pragma once

#include "stagenets/layer.hpp"

namespace stagenets {

class RoughPool {
 public:
  static constexpr double kRounding = 0x1p-24;
  static constexpr double kRelativeError = 11 * kRounding;

  // Copies the inputs, as the network sees them, to single precision; root_weights may be null.
  RoughPool(const Inputs<double>& inputs, const double* root_weights, const RowBlocks& blocks,
            Activation activation, Team& team);
  // Bytes of that copy.
  static double bytes(Index rows, Index inputs) {
    return static_cast<double>(rows) * static_cast<double>(inputs) * sizeof(float);
  }

  // Whether inputs and weights are of a size that single precision can do anything with.
  bool usable() const { return usable_; }

  void assign(const UnitWeights& units);
  // out (range.count × candidates) <- activations, without weights. Adds their squared norms unless null.
  void evaluate(RowRange range, float* out, Index leading, double* square_norms,
                LoadedRows<float>& scratch, Profile& profile) const;
  // Bounds of ‖g̃ − g‖ but for the relative error; infinite for candidates beyond single precision.
  const VectorD& errors() const { return errors_; }

 private:
  double error_of(const UnitWeights& units, Index unit) const;

  std::vector<float> values_;  // column by column
  Inputs<float> inputs_;       // a view of those
  Layer<float> layer_;
  double greatest_slope_;  // of the activation
  VectorD column_norms_;   // ‖xᵢ‖
  VectorD largest_;        // |xᵢ| at most
  double norm_of_ones_;    // ‖1‖
  bool usable_;
  VectorD errors_;
};

}  // namespace stagenets
