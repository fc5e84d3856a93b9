#include "stagenets/row_weights.hpp"

#include <cmath>

namespace stagenets {

std::vector<double> ClassWeights::factors(const Targets& targets, const VectorD& weights,
                                          const RowBlocks& blocks) const {
  if (!balanced) return given;
  VectorD totals = targets.values().transpose() * weights;
  blocks.complete(totals.data(), totals.size());
  const double present = static_cast<double>((totals.array() > 0).count());
  std::vector<double> balancing;
  for (const double total : totals) {
    balancing.push_back(total > 0 ? totals.sum() / (present * total) : 0.0);
  }
  return balancing;
}

RowWeights row_weights(const double* weights, const ClassWeights& classes, const Targets& targets,
                       const std::vector<Index>& set_aside, const RowBlocks& blocks) {
  RowWeights result;
  if (!weights && classes.equal() && set_aside.empty()) return result;
  const Index rows = targets.rows();
  VectorD counted =
      weights ? VectorD(Eigen::Map<const VectorD>(weights, rows)) : VectorD(VectorD::Ones(rows));
  if (weights) {
    result.set_aside = counted(set_aside);
    if (counted.maxCoeff() > 1) result.left_out = counted.cwiseMax(1).cwiseInverse();
  }
  for (const Index row : set_aside) counted[row] = 0;
  if (!classes.equal()) {
    const std::vector<double> factors = classes.factors(targets, counted, blocks);
    for (Index i = 0; i < rows; ++i) {
      counted[i] *= factors[static_cast<std::size_t>(targets.label(i))];
    }
  }
  result.roots = counted.cwiseSqrt();
  return result;
}

RowWeights row_weights(const double* weights, const ClassWeights& classes, const Targets& targets,
                       const std::vector<Index>& set_aside, const RowBlocks& blocks,
                       const RowGraph& graph, Index rows, double factor) {
  RowWeights result = row_weights(weights, classes, targets, set_aside, blocks);
  const Index samples = targets.rows();
  const VectorD own = result.roots.size() > 0 ? result.roots : VectorD(VectorD::Ones(samples));
  result.graph = &graph;
  result.input_roots = VectorD::Ones(rows);
  if (weights) result.input_roots = Eigen::Map<const VectorD>(weights, rows).cwiseSqrt();
  result.input_roots.head(samples) = own;
  result.roots.resize(samples + graph.size());
  result.roots.head(samples) = own;
  for (Index e = 0; e < graph.size(); ++e) {
    const auto [first, second] = graph.pairs[static_cast<std::size_t>(e)];
    const bool counts = result.input_roots[first] > 0 && result.input_roots[second] > 0;
    result.roots[samples + e] = counts ? std::sqrt(factor * graph.weights[e]) : 0.0;
  }
  return result;
}

}  // namespace stagenets
