// Weights of units that each see few inputs: x W as sums of a few columns of x, where a full product
// would mostly multiply by zero. Units of several terms are always among them.
#pragma once

#include <vector>

#include "stagenets/inputs.hpp"

namespace stagenets {

template <class Scalar>
class SparseWeights {
 public:
  // Takes the units of a layer with so few nonzero weights that sums are faster, and returns the others. Units read
  // these inputs in the scale in which they are loaded or, if there are none, any inputs as they are. Resizes the biases
  // and sets those of the units taken (of their first terms).
  std::vector<Index> assign(const UnitWeights& units, const Inputs<Scalar>* inputs,
                            Vector<Scalar>& biases);

  // The units taken, by their numbers in the layer.
  const std::vector<Index>& units() const { return units_; }

  // The columns of x that some unit sees, one after another. Valid until the thread calls this again.
  std::vector<const Scalar*> columns(const InputBlock<Scalar>& x, Index rows) const;
  // Columns of out (rows × units of the layer, column-major) <- x W, or the least term, from those columns, for entries
  // [first, last) of units(). Biases remain to be added.
  void map(const std::vector<const Scalar*>& columns, Index first, Index last, Index rows,
           Scalar* out, Index leading) const;

 private:
  void clear(Index inputs);
  void add(Index input, Scalar weight);
  void finish();
  void map_term(Index term, const std::vector<const Scalar*>& columns, Index rows,
                Scalar* out) const;
  void lower_to_term(Index term, const std::vector<const Scalar*>& columns, Index rows,
                     Scalar* out) const;
  Index first_weight(Index term) const {
    return term == 0 ? 0 : term_ends_[static_cast<std::size_t>(term) - 1];
  }

  std::vector<Index> place_;         // position of every input in inputs_, or -1
  std::vector<Index> inputs_;        // the inputs that some unit sees
  std::vector<Index> units_;         // the units taken
  std::vector<Index> unit_ends_;     // end of each one's part of the next two
  std::vector<Scalar> term_biases_;  // by how much they exceed that of the unit's first term
  std::vector<Index> term_ends_;     // end of each term's part of the next two
  std::vector<Index> position_;      // in inputs_
  std::vector<Scalar> weights_;
};

}  // namespace stagenets
