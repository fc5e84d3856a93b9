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
  // The same for units that read these inputs, if it is known what they see; biases in their terms.
  bool take(const UnitWeights& units, const Inputs<Scalar>& inputs, Vector<Scalar>& biases);

  // The columns of x that some unit sees, one after another. Good until the thread asks again.
  std::vector<const Scalar*> columns(const InputBlock<Scalar>& x, Index rows) const;
  // out (rows × units, column-major) <- x W of units [first, last), from those columns.
  void map(const std::vector<const Scalar*>& columns, Index first, Index last, Index rows,
           Scalar* out, Index leading) const;

 private:
  void clear(Index inputs);
  void add(Index input, Scalar weight);
  void finish();
  void end_unit() { ends_.push_back(static_cast<Index>(weights_.size())); }

  std::vector<Index> place_;     // of every input in inputs_, or -1
  std::vector<Index> inputs_;    // those that some unit sees
  std::vector<Index> ends_;      // of each unit's part of the next two
  std::vector<Index> position_;  // in inputs_
  std::vector<Scalar> weights_;
};

}  // namespace residuum
