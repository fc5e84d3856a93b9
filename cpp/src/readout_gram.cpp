#include "stagenets/readout_gram.hpp"

#include <algorithm>
#include <numeric>

#include "stagenets/cholesky.hpp"
#include "stagenets/gram.hpp"
#include "stagenets/predictor.hpp"
#include "stagenets/raw_readout.hpp"

namespace stagenets {
namespace {

// Calls body(first, design) for some rows at a time: columns of `design` are rows of the network's design times
// `readout`.
template <class Scalar, class Body>
void for_rows(const Network& network, const MatrixD& readout, const InputView<Scalar>& view,
              Team& team, Body&& body) {
  constexpr Index kChunkDoubles = Index{1} << 21;
  const Predictor<double> predictor(network, readout);
  const Inputs<Scalar> inputs(view);
  const Index most =
      std::clamp<Index>(kChunkDoubles / std::max<Index>(1, readout.cols()), 64, 8192);
  MatrixD chunk;
  std::vector<Index> rows;
  for (Index first = 0; first < view.rows; first += most) {
    rows.resize(static_cast<std::size_t>(std::min(most, view.rows - first)));
    std::iota(rows.begin(), rows.end(), first);
    chunk.resize(readout.cols(), static_cast<Index>(rows.size()));
    predictor.scores(inputs, chunk.data(), team, &rows);
    body(first, chunk);
  }
}

}  // namespace

template <class Scalar>
MatrixD design_map(const InputView<Scalar>& view, const double* root_weights,
                   const NetworkSettings& settings, const Network& network, int threads,
                   const Team::Poll& poll) {
  const Index columns = network.readout_rows() - (settings.intercept ? 0 : 1);
  MatrixD map;
  Team::run(threads, poll, [&](Team& team) {
    Inputs<Scalar> inputs(view);
    inputs.learn_scales(settings.scaling, root_weights, team);
    map = raw_readout<Scalar>(MatrixD::Identity(columns, columns), inputs, settings.intercept,
                              network.direct_links);
  });
  return map;
}

template <class Scalar>
MatrixD readout_gram(const Network& network, const MatrixD& map, const InputView<Scalar>& inputs,
                     const MatrixD& targets, const double* root_weights, int threads,
                     const Team::Poll& poll) {
  const Index columns = map.cols(), all = columns + targets.cols();
  MatrixD result = MatrixD::Zero(all, all);
  MatrixD wider = MatrixD::Zero(map.rows(), all);  // leaves room for the targets
  wider.leftCols(columns) = map;
  Team::run(threads, poll, [&](Team& team) {
    for_rows(network, wider, inputs, team, [&](Index first, MatrixD& design) {
      const Index count = design.cols();
      design.bottomRows(targets.cols()) = targets.middleRows(first, count).transpose();
      if (root_weights) {
        design *= Eigen::Map<const VectorD>(root_weights + first, count).asDiagonal();
      }
      add_outer_product(1, design, result, team);
    });
  });
  check_squares(result.diagonal().sum());
  return result;
}

GramSolution solve_gram(const MatrixD& gram, const MatrixD& map, double alpha, int threads,
                        const Team::Poll& poll) {
  const Index columns = map.cols(), outputs = gram.rows() - columns;
  GramSolution solution;
  Team::run(threads, poll, [&](Team& team) {
    MatrixD normal = gram.topLeftCorner(columns, columns);
    normal.diagonal().array() += alpha;
    const KeptCholesky factor(normal, team);
    MatrixD omega = factor.compress(gram.bottomLeftCorner(outputs, columns).transpose());
    solve_lower(factor.l, omega, team);
    solve_lower_transposed(factor.l, omega, team);
    solution.readout = map * factor.expand(omega, columns);
    const MatrixD root = factor.expand(inverse_transposed_columns(factor.l, 0, team), columns);
    solution.root.resize(map.rows(), root.cols());
    multiply(blas::Op::none, blas::Op::none, 1, map, root, 0, solution.root, team);
  });
  return solution;
}

template <class Scalar>
VectorD leverages(const Network& network, const MatrixD& root, const InputView<Scalar>& inputs,
                  int threads, const Team::Poll& poll) {
  VectorD found(inputs.rows);
  Team::run(threads, poll, [&](Team& team) {
    for_rows(network, root, inputs, team, [&](Index first, const MatrixD& q) {
      found.segment(first, q.cols()) = q.colwise().squaredNorm().transpose();
    });
  });
  return found;
}

#define STAGENETS_INSTANTIATE(Scalar)                                                             \
  template MatrixD design_map<Scalar>(const InputView<Scalar>&, const double*,                    \
                                      const NetworkSettings&, const Network&, int,                \
                                      const Team::Poll&);                                         \
  template MatrixD readout_gram<Scalar>(const Network&, const MatrixD&, const InputView<Scalar>&, \
                                        const MatrixD&, const double*, int, const Team::Poll&);   \
  template VectorD leverages<Scalar>(const Network&, const MatrixD&, const InputView<Scalar>&,    \
                                     int, const Team::Poll&);
STAGENETS_INSTANTIATE(float)
STAGENETS_INSTANTIATE(double)
#undef STAGENETS_INSTANTIATE

}  // namespace stagenets
