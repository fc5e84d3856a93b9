#include "stagenets/unit_weights.hpp"

#include <numeric>

namespace stagenets {

namespace {

// Appends the inputs that a term of `from` sees to `to`, as those of its next term.
void append_term(const SeenInputs& from, Index term, SeenInputs& to) {
  const auto inputs = from.inputs.begin();
  to.inputs.insert(to.inputs.end(), inputs + from.begin_of(term), inputs + from.end_of(term));
  to.ends.push_back(static_cast<Index>(to.inputs.size()));
}

}  // namespace

UnitWeights pick(const UnitWeights& units, const std::vector<Index>& chosen) {
  std::vector<Index> terms, ends;
  for (const Index unit : chosen) {
    for (Index term = units.first_term(unit); term < units.end_of_terms(unit); ++term) {
      terms.push_back(term);
    }
    ends.push_back(static_cast<Index>(terms.size()));
  }
  UnitWeights picked{units.weights(Eigen::all, terms), units.biases(terms), {}, {}};
  if (terms.size() > chosen.size()) picked.ends = std::move(ends);
  for (std::size_t i = 0; units.seen.known() && i < terms.size(); ++i) {
    append_term(units.seen, terms[i], picked.seen);
  }
  return picked;
}

UnitWeights first_units(const UnitWeights& units, Index count) {
  if (count == units.count()) return units;
  std::vector<Index> first(static_cast<std::size_t>(count));
  std::iota(first.begin(), first.end(), Index{0});
  return pick(units, first);
}

UnitWeights UnitList::joined(Index inputs) const {
  UnitWeights all{MatrixD(inputs, terms_), VectorD(terms_), {}, {}};
  Index term = 0;
  bool known = true;
  for (const UnitWeights& piece : pieces_) {
    const Index terms = piece.biases.size();
    all.weights.middleCols(term, terms) = piece.weights;
    all.biases.segment(term, terms) = piece.biases;
    known = known && piece.seen.known();
    for (Index i = 0; known && i < terms; ++i) append_term(piece.seen, i, all.seen);
    for (Index unit = 0; terms_ > count_ && unit < piece.count(); ++unit) {
      all.ends.push_back(term + piece.end_of_terms(unit));
    }
    term += terms;
  }
  if (!known) all.seen = {};
  return all;
}

}  // namespace stagenets
