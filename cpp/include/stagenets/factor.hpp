// The ridge problem min ‖AΩ − T‖² + λ‖Ω‖² while A grows by columns, in either of its two forms:
//
//   primal (RidgeFactor)  AᵀA + λI = L Lᵀ, Q = A L⁻ᵀ, z = L⁻¹AᵀT, R = T − Q z     O(n d k) per stage
//   dual   (DualFactor)   AAᵀ + λI = L Lᵀ, R = λ (AAᵀ + λI)⁻¹ T                   O(n² k) per stage
//
// Both append a block G of columns in two steps. project() finds the Schur complement
// S = Gᵀ(I − QQᵀ)G + λI and Gᵀ R; from these the caller sees how much the columns gain jointly, and
// chooses among them. append() adds the k chosen: with S = L_s L_sᵀ, Q' = (I − QQᵀ) G L_s⁻ᵀ and
// z' = L_s⁻¹GᵀR, the residual becomes R − Q' z', the objective falls by ‖z'‖², and Q' adds its squared
// row norms to the leverages.
#pragma once

#include <optional>

#include "stagenets/calibration.hpp"
#include "stagenets/design.hpp"
#include "stagenets/panels.hpp"

namespace stagenets {

// The targets that leave-one-out errors are measured against, and the last result: the mean squared error (summed over
// the outputs) and the accuracy, with rows counted by their weight. A row is accurate if its largest score is in the
// column of its largest target.
struct LeftOutErrors {
  LeftOutErrors(const MatrixD& unweighted_targets, const RowWeights& weights,
                const RowBlocks& blocks);

  const MatrixD& targets;
  const double* roots;
  const double* left_out;
  VectorD wanted;       // column of the largest target
  double total_weight;  // of all rows
  double squared_error = 0;
  double accuracy = 0;
};

// The state that both forms keep up to date.
template <class Scalar>
struct RidgeState {
  RidgeState(const RowBlocks& row_blocks, const MatrixD& weighted_targets, double penalty,
             bool with_leverage)
      : blocks(row_blocks),
        targets(weighted_targets),
        alpha(penalty),
        residual(row_blocks, weighted_targets.cols()),
        leverage(VectorD::Zero(with_leverage ? weighted_targets.rows() : 0)) {}

  // To be called on every block once its residual has changed, with any new columns of Q that count towards the
  // leverages; then measured() is called with the totals of the sums.
  static constexpr Index kSums = 3;
  void measure_block(Index block, const MatrixMap<Scalar>& fresh, double* sums);
  void measured(const VectorD& sums);

  const RowBlocks& blocks;
  const MatrixD& targets;  // T, rows scaled by the roots of their weights
  double alpha;
  Panels<Scalar> residual;
  VectorD leverage;                       // empty unless asked for
  std::optional<LeftOutErrors> left_out;  // empty unless asked for; needs the leverages
  double objective = 0;
  double residual_energy = 0;
  double worst_pivot = 1;  // smallest relative pivot so far: how ill-conditioned the problem is

  Index outputs() const { return targets.cols(); }
  // Residuals and leverages of some rows.
  CalibrationState of_rows(const std::vector<Index>& rows) const;
};

// What is known about c columns G before any is appended.
struct Projection {
  MatrixD schur;           // c × c
  MatrixD residual_gain;   // GᵀR, c × q
  VectorD penalized_norm;  // ‖g_j‖² + λ
};

// Which of these columns to append, in order, and the resulting step.
struct Choice {
  std::vector<Index> columns;
  MatrixD schur_factor;    // L_s of those columns
  MatrixD step;            // z' = L_s⁻¹ GᵀR, k × q
  double worst_pivot = 1;  // smallest S_jj after the columns before it, relative to ‖g_j‖² + λ

  Index size() const { return static_cast<Index>(columns.size()); }
};

template <class Scalar>
class Factor {
 public:
  virtual ~Factor() = default;

  // Projects the columns that the design's source has selected.
  virtual Projection project(Design<Scalar>& design, RidgeState<Scalar>& state, Team& team) = 0;

  // Appends the chosen ones of the columns last projected and brings the state up to date; may improve the step of the
  // choice. If one of them turns out to depend on the columns before it, nothing is appended and its place is returned.
  virtual std::optional<Index> append(Choice& choice, const Projection& projection,
                                      Design<Scalar>& design, RidgeState<Scalar>& state,
                                      Team& team) = 0;

  // Ω for all columns of the design, and (AᵀA + λI)⁻¹ rhs.
  virtual MatrixD readout(Design<Scalar>& design, Team& team) = 0;
  virtual MatrixD solve(const MatrixD& rhs, Design<Scalar>& design, Team& team) = 0;

  // Γ, with one column per unit appended to this factor, such that Q' = A Γ: the readout after a stage
  // is the one before it plus Γ' z'.
  virtual MatrixD directions(Design<Scalar>& design, Team& team) = 0;

  // The columns of Q of these units, on some rows.
  virtual MatrixD unit_columns(const std::vector<Index>& rows) const = 0;
};

// Below this relative pivot, columns are orthogonalised a second time.
template <class Scalar>
double second_pass_threshold() {
  // A single-precision Q loses that many digits anyway, down to pivots of about 1e-3.
  constexpr double kFactor = std::is_same_v<Scalar, float> ? 4 : 64;
  return kFactor * std::sqrt(static_cast<double>(std::numeric_limits<Scalar>::epsilon()));
}

}  // namespace stagenets
