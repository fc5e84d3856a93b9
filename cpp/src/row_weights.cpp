#include "stagenets/row_weights.hpp"

#include <cmath>

namespace stagenets {

namespace {

// Membership of the rows in a partition into classes, one column each.
VectorD factors_of(const MatrixD& members, const double* given, const VectorD& weights,
                   const RowBlocks& blocks) {
  if (given) return members * Eigen::Map<const VectorD>(given, members.cols());
  VectorD totals = members.transpose() * weights;
  blocks.complete(totals.data(), totals.size());
  const double present = static_cast<double>((totals.array() > 0).count());
  const VectorD balancing =
      (totals.array() > 0).select(totals.sum() / (present * totals.array()), 0);
  return members * balancing;
}

}  // namespace

VectorD ClassWeights::row_factors(const Targets& targets, const VectorD& weights,
                                  const RowBlocks& blocks) const {
  const MatrixD& values = targets.values();
  const auto given_from = [&](Index first) { return balanced ? nullptr : given.data() + first; };
  if (targets.task() == Task::one_label) return factors_of(values, given_from(0), weights, blocks);
  VectorD factors = VectorD::Ones(values.rows());
  for (Index label = 0; label < values.cols(); ++label) {
    MatrixD members(values.rows(), 2);
    members << (1 - values.col(label).array()).matrix(), values.col(label);
    factors.array() *= factors_of(members, given_from(2 * label), weights, blocks).array();
  }
  if (balanced) factors *= blocks.complete(weights.sum()) / blocks.complete(weights.dot(factors));
  return factors;
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
  if (!classes.equal()) counted.array() *= classes.row_factors(targets, counted, blocks).array();
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
