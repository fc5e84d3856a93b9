// The inner loops that dominate the time of a fit: activation of one candidate's column, the two products of a tall
// matrix with a few columns that a stage needs (B = Q^T G and G - Q B; each streams Q from memory once), and the
// sums over rows that follow them.
// The same source is compiled for several instruction sets and the best one this CPU runs is chosen once per process.
#pragma once

#include <cstdint>
#include <string>

#include "stagenets/activation.hpp"
#include "stagenets/index.hpp"

namespace stagenets {

// Some rows after a stage. Without targets, only the residual and the leverages (if present) are used.
template <class Scalar>
struct RowTally {
  Index rows = 0, outputs = 0;
  const Scalar* residual = nullptr;
  Index ld_residual = 0;
  const Scalar* fresh = nullptr;  // new columns of Q
  Index ld_fresh = 0, fresh_columns = 0;
  double* leverage = nullptr;
  const double* targets = nullptr;
  Index ld_targets = 0;
  const double* wanted = nullptr;  // the column of the largest target in each row
  // Of the weights, by which the residual is scaled and targets are not.
  const double* roots = nullptr;
  // The share of a row's weight, and so of its leverage, that is left out with one sample; null if that is all.
  const double* left_out = nullptr;
};

// Scores and labels (zeros and a one) of some rows, and what becomes of them.
template <class Scalar>
struct SoftmaxRows {
  Index rows = 0, outputs = 0;
  Scalar* scores = nullptr;
  Index ld_scores = 0;
  const Scalar* labels = nullptr;
  Index ld_labels = 0;
  Scalar* gaps = nullptr;     // by how much the score of the label is below the largest of its row
  Scalar* totals = nullptr;   // of e^(score - largest)
  Scalar* squares = nullptr;  // of the chances, summed
};

// All matrices are column-major; a leading dimension is the distance between columns, in elements. Nothing needs to be
// aligned, arguments must not overlap, and any size may be zero. Equal inputs give equal bits.
template <class Scalar>
struct Kernels {
  // column[i] <- phi(column[i] + bias) in place, for i < rows; returns the sum of squares of the result,
  // in the precision of the type; squares of floats that are not bounded by one are summed in double.
  // Within 4 ulp for every argument; infinities saturate and NaN stays NaN.
  double (*activate)(Activation activation, Scalar* column, Index rows, Scalar bias);

  // out (a x b) += A^T B, with A (rows x a) and B (rows x b). Made for b <= 16 and rows <= 1024, so that B stays in
  // cache. Float sums are carried to double every 256 rows.
  void (*add_transposed_product)(const Scalar* A, Index lda, Index a, const Scalar* B, Index ldb,
                                 Index b, Index rows, double* out, Index ld_out);

  // Y (rows x b) -= A C, with A (rows x a) and C (a x b). Made for b <= 16 and rows <= 1024, so that Y stays in cache.
  void (*subtract_product)(const Scalar* A, Index lda, Index a, const Scalar* C, Index ldc, Index b,
                           Scalar* Y, Index ldy, Index rows);

  // out <- sum over i < count of weights[i] columns[i], each column with `rows` elements.
  void (*combine_columns)(const Scalar* const* columns, const Scalar* weights, Index count,
                          Index rows, Scalar* out);

  // out[i] <- min(out[i], weight column[i] + bias), for i < rows.
  void (*lower_to_column)(const Scalar* column, Scalar weight, Scalar bias, Index rows,
                          Scalar* out);

  // leverage[i] += sum of the squares of the new columns. Adds to sums the energy of the residual and, by weight, the
  // squared error of the leave-one-out scores and the rows whose largest leave-one-out score is in the wanted column.
  void (*tally_rows)(const RowTally<Scalar>& tally, double* sums);

  // column[i] <- e^-column[i] in place, for column[i] >= 0 and i < rows; within 4 ulp.
  void (*exponential)(Scalar* column, Index rows);

  // Scores <- labels - chances, where the chances of a row are its e^score in proportion; and gaps, totals and squares.
  void (*softmax)(const SoftmaxRows<Scalar>& rows);

  const char* name;  // the instruction set: "baseline", "avx2" or "avx512"
};

// The fastest kernels that this CPU can run, for float and double, or those that use_kernels() has named.
template <class Scalar>
const Kernels<Scalar>& kernels();

// Every variant that this CPU can run, slowest first; nullptr if `i` is past the last. For tests and benchmarks.
template <class Scalar>
const Kernels<Scalar>* available_kernels(int i);

// From now on the kernels of this name; false, and no change, if this CPU cannot run them. Not during a fit.
bool use_kernels(const std::string& name);

}  // namespace stagenets
