// Weights of units that see few of the inputs each: x W as sums of a few columns of x, where a full
// product would mostly multiply by zero.
#pragma once

#include <vector>

#include "residuum/inputs.hpp"

namespace residuum {

template <class Scalar>
class SparseWeights {
 public:
  // Takes the nonzero weights (inputs × units) if they are few enough to gain by; says whether.
  bool take(const Matrix<Scalar>& weights);

  // out (rows × units, column-major) <- x W.
  void map(const InputBlock<Scalar>& x, Index rows, Scalar* out, Index leading) const;

 private:
  std::vector<Index> inputs_;    // those that some unit sees
  std::vector<Index> ends_;      // of each unit's part of the next two
  std::vector<Index> position_;  // in inputs_
  std::vector<Scalar> weights_;
};

}  // namespace residuum
