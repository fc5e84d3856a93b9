// Weights and biases of some hidden units, and lists of them that grow by stages. A unit is φ of an affine map of the
// inputs, or of the least of several: its terms.
#pragma once

#include <vector>

#include "stagenets/types.hpp"

namespace stagenets {

// Which inputs the terms see, if that is known: all other weights are zero.
struct SeenInputs {
  std::vector<Index> inputs;  // term after term
  std::vector<Index> ends;    // end of each term's part of `inputs`; empty if nothing is known

  bool known() const { return !ends.empty(); }
  Index begin_of(Index term) const {
    return term == 0 ? 0 : ends[static_cast<std::size_t>(term) - 1];
  }
  Index end_of(Index term) const { return ends[static_cast<std::size_t>(term)]; }
};

struct UnitWeights {
  MatrixD weights;  // inputs × terms, unit after unit
  VectorD biases;   // of the terms
  SeenInputs seen = {};
  std::vector<Index> ends = {};  // end of each unit's terms; empty if every unit has one

  Index count() const { return ends.empty() ? biases.size() : static_cast<Index>(ends.size()); }
  Index first_term(Index unit) const {
    return ends.empty() || unit == 0 ? unit : ends[static_cast<std::size_t>(unit) - 1];
  }
  Index end_of_terms(Index unit) const {
    return ends.empty() ? unit + 1 : ends[static_cast<std::size_t>(unit)];
  }
  Index terms(Index unit) const { return end_of_terms(unit) - first_term(unit); }
};

// The given units, in the given order.
UnitWeights pick(const UnitWeights& units, const std::vector<Index>& chosen);

// The first `count` units.
UnitWeights first_units(const UnitWeights& units, Index count);

// Units gathered stage by stage; joined once, when all of them are needed.
class UnitList {
 public:
  void append(const UnitWeights& units) {
    count_ += units.count();
    terms_ += units.biases.size();
    pieces_.push_back(units);
  }
  Index count() const { return count_; }
  // All units; `inputs` is the height of the weights if there are no units.
  UnitWeights joined(Index inputs) const;

 private:
  Index count_ = 0, terms_ = 0;
  std::vector<UnitWeights> pieces_;
};

}  // namespace stagenets
