// What the rows of a fit count. A row of weight 3 stands for three equal rows in every sum over rows, and when one sample
// is left out, two of them stay. The weights of classes say how much an error matters, not how often a row was seen:
// they leave nothing behind.
#pragma once

#include "stagenets/row_graph.hpp"
#include "stagenets/targets.hpp"

namespace stagenets {

// Factors for the weights of rows by their class. Where rows have several labels, each label makes two classes, that of
// the rows without and that of the rows with it, and the factors of a row are multiplied.
struct ClassWeights {
  std::vector<double> given;  // one per class; empty for ones
  // Instead: the same total for every class that occurs, and the sum as it was.
  bool balanced = false;

  // The factor of every row, for rows of these weights.
  VectorD row_factors(const Targets& targets, const VectorD& weights,
                      const RowBlocks& blocks) const;
  bool equal() const { return given.empty() && !balanced; }
};

// With a graph, the rows of the design are the samples and then the pairs; the inputs may have more rows than there are
// samples, whose weights count when inputs are scaled and rows are drawn.
struct RowWeights {
  VectorD roots;     // of the weights of the design's rows; empty if all are one
  VectorD left_out;  // the share of its weight that a row loses with one sample; empty if all of it
  VectorD set_aside;  // weights of the rows that only judge the fit; empty if they are equal

  const RowGraph* graph = nullptr;  // must outlive this
  VectorD input_roots;              // of the weights of the inputs' rows, if there is a graph

  const double* root_data() const { return roots.size() > 0 ? roots.data() : nullptr; }
  const double* input_root_data() const { return graph ? input_roots.data() : root_data(); }
  // The number of samples, if this many rows are those of the design.
  Index samples(Index design_rows) const { return design_rows - (graph ? graph->size() : 0); }
  const double* left_out_data() const { return left_out.size() > 0 ? left_out.data() : nullptr; }
};

// `weights` has one value per row, or is null for ones. Rows that are set aside have no weight in the fit.
RowWeights row_weights(const double* weights, const ClassWeights& classes, const Targets& targets,
                       const std::vector<Index>& set_aside, const RowBlocks& blocks);
// The same with the pairs of a graph of `rows` input rows, each counted by `factor` times its weight, unless one of its
// rows has no weight.
RowWeights row_weights(const double* weights, const ClassWeights& classes, const Targets& targets,
                       const std::vector<Index>& set_aside, const RowBlocks& blocks,
                       const RowGraph& graph, Index rows, double factor);

}  // namespace stagenets
