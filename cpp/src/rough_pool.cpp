#include "stagenets/rough_pool.hpp"

#include <cmath>
#include <limits>

#include "stagenets/thread_buffers.hpp"

namespace stagenets {
namespace {

// Beyond this, products come too near the range of single precision, which ends at 1e±38.
constexpr double kLargest = 1e15;

double greatest_slope(Activation activation) {
  switch (activation) {
    case Activation::sigmoid: return 0.25;
    case Activation::selu: return 1.7581;  // next to zero, from below
    default: return 1;
  }
}

bool within_range(const VectorD& roots) {
  return (roots.array() == 0 || (roots.array() >= 1 / kLargest && roots.array() <= kLargest)).all();
}

}  // namespace

RoughPool::RoughPool(const Inputs<double>& inputs, const double* root_weights,
                     const RowBlocks& blocks, Activation activation, Team& team)
    : values_(static_cast<std::size_t>(inputs.rows() * inputs.columns())),
      inputs_(InputView<float>{values_.data(), inputs.rows(), inputs.columns(), false}),
      layer_(activation),
      greatest_slope_(greatest_slope(activation)) {
  constexpr Index kTogether = 64;  // columns, so that a block of them stays in cache
  const Index rows = inputs.rows(), columns = inputs.columns();
  const VectorD roots =
      root_weights ? VectorD(Eigen::Map<const VectorD>(root_weights, rows)) : VectorD::Ones(rows);
  const RowTotals totals =
      blocks.totals(team, columns, columns, [&](const LaneTotals& lane, Index b, int) {
        const RowRange range = blocks.block(b);
        const auto weights = roots.segment(range.first, range.count);
        MatrixD& some = thread_buffers<double>().rows;
        some.resize(range.count, kTogether);
        for (Index first = 0; first < columns; first += kTogether) {
          const Index count = std::min(kTogether, columns - first);
          inputs.copy_columns(range, first, count, some.data(), range.count);
          for (Index j = 0; j < count; ++j) {
            const auto column = some.col(j);
            Eigen::Map<Vector<float>>(values_.data() + (first + j) * rows + range.first,
                                      range.count) = column.cast<float>();
            lane.sums[first + j] += column.cwiseProduct(weights).squaredNorm();
            double& greatest = lane.greatest[first + j];
            greatest = std::max(greatest, column.cwiseAbs().maxCoeff());
          }
        }
      });
  column_norms_ = totals.sums.cwiseSqrt();
  largest_ = totals.greatest;
  norm_of_ones_ = roots.norm();
  usable_ = (largest_.array() <= kLargest).all() && within_range(roots);
}

double RoughPool::error_of(const UnitWeights& units, Index unit) const {
  const SeenInputs& seen = units.seen;
  double error = 0;
  for (Index term = units.first_term(unit); term < units.end_of_terms(unit); ++term) {
    const double bias = std::abs(units.biases[term]);
    double size = 2 * bias * norm_of_ones_, reach = bias;
    Index count = 0;
    const auto add_input = [&](Index input) {
      const double weight = std::abs(units.weights(input, term));
      size += weight * column_norms_[input];
      reach += weight * largest_[input];
      ++count;
    };
    if (seen.known()) {
      for (Index i = seen.begin_of(term); i < seen.end_of(term); ++i) {
        add_input(seen.inputs[static_cast<std::size_t>(i)]);
      }
    } else {
      for (Index input = 0; input < units.weights.rows(); ++input) add_input(input);
    }
    if (!(reach <= kLargest)) return std::numeric_limits<double>::infinity();
    error += static_cast<double>(count + 6) * size;
  }
  // Where products underflow, that is at most 2⁻¹²⁶ each.
  constexpr double kSlack = 1.01, kUnderflow = 1e-30;
  return kSlack * greatest_slope_ * (kRounding * error + kUnderflow * norm_of_ones_);
}

void RoughPool::assign(const UnitWeights& units) {
  layer_.assign(units, inputs_);
  errors_ = VectorD::NullaryExpr(units.count(), [&](Index unit) { return error_of(units, unit); });
}

void RoughPool::evaluate(RowRange range, float* out, Index leading, double* square_norms,
                         LoadedRows<float>& scratch, Profile& profile) const {
  layer_.evaluate(inputs_.load(range, scratch), range.count, out, leading, square_norms, &profile);
}

}  // namespace stagenets
