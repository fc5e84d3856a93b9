#include "residuum/unit_weights.hpp"

namespace residuum {

namespace {

// What unit `unit` of `from` sees, as what the next unit of `to` does.
void append_unit(const SeenInputs& from, Index unit, SeenInputs& to) {
  const auto inputs = from.inputs.begin();
  to.inputs.insert(to.inputs.end(), inputs + from.begin_of(unit), inputs + from.end_of(unit));
  to.ends.push_back(static_cast<Index>(to.inputs.size()));
}

}  // namespace

UnitWeights pick(const UnitWeights& units, const std::vector<Index>& columns) {
  const Index count = static_cast<Index>(columns.size());
  UnitWeights picked{MatrixD(units.weights.rows(), count), VectorD(count), {}};
  for (Index j = 0; j < count; ++j) {
    picked.weights.col(j) = units.weights.col(columns[j]);
    picked.biases[j] = units.biases[columns[j]];
    if (units.seen.known()) append_unit(units.seen, columns[j], picked.seen);
  }
  return picked;
}

UnitWeights UnitList::joined(Index inputs) const {
  UnitWeights all{MatrixD(inputs, count_), VectorD(count_), {}};
  Index column = 0;
  bool known = true;
  for (const UnitWeights& piece : pieces_) {
    const Index count = piece.biases.size();
    all.weights.middleCols(column, count) = piece.weights;
    all.biases.segment(column, count) = piece.biases;
    column += count;
    known = known && piece.seen.known();
    for (Index j = 0; known && j < count; ++j) append_unit(piece.seen, j, all.seen);
  }
  if (!known) all.seen = {};
  return all;
}

}  // namespace residuum
