#include "residuum/unit_weights.hpp"

namespace residuum {

UnitWeights pick(const UnitWeights& units, const std::vector<Index>& columns) {
  const Index count = static_cast<Index>(columns.size());
  UnitWeights picked{MatrixD(units.weights.rows(), count), VectorD(count), {}};
  for (Index j = 0; j < count; ++j) {
    picked.weights.col(j) = units.weights.col(columns[j]);
    picked.biases[j] = units.biases[columns[j]];
    if (!units.seen.known()) continue;
    const auto inputs = units.seen.inputs.begin();
    picked.seen.inputs.insert(picked.seen.inputs.end(), inputs + units.seen.begin_of(columns[j]),
                              inputs + units.seen.end_of(columns[j]));
    picked.seen.ends.push_back(static_cast<Index>(picked.seen.inputs.size()));
  }
  return picked;
}

UnitWeights UnitList::joined(Index inputs) const {
  UnitWeights all{MatrixD(inputs, count_), VectorD(count_), {}};
  Index column = 0;
  for (const UnitWeights& piece : pieces_) {
    all.weights.middleCols(column, piece.biases.size()) = piece.weights;
    all.biases.segment(column, piece.biases.size()) = piece.biases;
    column += piece.biases.size();
  }
  return all;
}

}  // namespace residuum
