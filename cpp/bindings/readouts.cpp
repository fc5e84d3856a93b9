// What follows from a fitted network and rows: its ridge problem with the units fixed, and what it looks at.
#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "bindings.hpp"
#include "gil.hpp"
#include "stagenets/input_effects.hpp"
#include "stagenets/readout_gram.hpp"

namespace stagenets::python {
namespace {

using OptionalRoots = std::optional<VectorD>;

template <class Scalar>
InputView<Scalar> rows_for(const FittedNetwork& fitted, const InputRows<Scalar>& x) {
  const InputView<Scalar> view = view_of(x);
  check(view.rows >= 1, "X must not be empty");
  check(view.columns == fitted.network().inputs(),
        "X must have the width the network was fitted on (" +
            std::to_string(fitted.network().inputs()) + "); got " + std::to_string(view.columns));
  return view;
}

const double* roots_for(const OptionalRoots& root_weights, Index rows) {
  if (!root_weights) return nullptr;
  check_rows("root_weights", root_weights->size(), rows);
  return root_weights->data();
}

void check_height(const FittedNetwork& fitted, const std::string& name, const MatrixD& matrix) {
  check(matrix.rows() == fitted.network().readout_rows(),
        name + " must have one row per column of the network's design");
}

template <class Scalar>
MatrixD map_from_python(const FittedNetwork& fitted, const InputRows<Scalar>& x,
                        const NetworkSettings& settings, const OptionalRoots& root_weights,
                        int threads) {
  const InputView<Scalar> view = rows_for(fitted, x);
  const double* roots = roots_for(root_weights, view.rows);
  const WithoutGil no_gil;
  return design_map(view, roots, settings, fitted.network(), threads, check_signals);
}

template <class Scalar>
MatrixD gram_from_python(const FittedNetwork& fitted, const InputRows<Scalar>& x,
                         const MatrixD& map, const MatrixD& targets,
                         const OptionalRoots& root_weights, int threads) {
  const InputView<Scalar> view = rows_for(fitted, x);
  check_height(fitted, "map", map);
  check_rows("targets", targets.rows(), view.rows);
  const double* roots = roots_for(root_weights, view.rows);
  const WithoutGil no_gil;
  return readout_gram(fitted.network(), map, view, targets, roots, threads, check_signals);
}

std::pair<MatrixD, MatrixD> solution_of(const MatrixD& gram, const MatrixD& map, double alpha,
                                        int threads) {
  check(gram.rows() == gram.cols() && gram.rows() > map.cols(),
        "gram must be square, with one row per column of the map and per target");
  check(alpha >= 0, "alpha must not be negative");
  const WithoutGil no_gil;
  GramSolution solution = solve_gram(gram, map, alpha, threads, check_signals);
  return {std::move(solution.readout), std::move(solution.root)};
}

template <class Scalar>
VectorD leverages_from_python(const FittedNetwork& fitted, const InputRows<Scalar>& x,
                              const MatrixD& root, int threads) {
  const InputView<Scalar> view = rows_for(fitted, x);
  check_height(fitted, "root", root);
  const WithoutGil no_gil;
  return leverages(fitted.network(), root, view, threads, check_signals);
}

template <class Scalar>
MatrixD effects_from_python(const FittedNetwork& fitted, const InputRows<Scalar>& x,
                            const std::vector<Index>& ends, const VectorD& units, int threads) {
  const InputView<Scalar> view = rows_for(fitted, x);
  check(units.size() == fitted.readout().cols(), "units must have one value per output");
  check((units.array() > 0).all(), "units must be positive");
  const auto fall = std::adjacent_find(ends.begin(), ends.end(), std::greater_equal<Index>());
  check(!ends.empty() && ends.front() >= 1 && fall == ends.end() && ends.back() == view.columns,
        "ends must rise to the number of inputs");
  const WithoutGil no_gil;
  return input_effects(fitted.network(), fitted.readout(), units, view, ends, threads,
                       check_signals);
}

template <class Scalar>
void register_for(py::module_& module) {
  module.def("design_map", &map_from_python<Scalar>, py::arg("network"), py::arg("x").noconvert(),
             py::arg("settings"), py::kw_only(), py::arg("root_weights") = py::none(),
             py::arg("threads") = 1);
  module.def("readout_gram", &gram_from_python<Scalar>, py::arg("network"),
             py::arg("x").noconvert(), py::arg("map"), py::arg("targets"), py::kw_only(),
             py::arg("root_weights") = py::none(), py::arg("threads") = 1);
  module.def("leverages", &leverages_from_python<Scalar>, py::arg("network"),
             py::arg("x").noconvert(), py::arg("root"), py::kw_only(), py::arg("threads") = 1);
  module.def("input_effects", &effects_from_python<Scalar>, py::arg("network"),
             py::arg("x").noconvert(), py::kw_only(), py::arg("ends"), py::arg("units"),
             py::arg("threads") = 1);
}

}  // namespace

void register_readouts(py::module_& module) {
  register_for<double>(module);
  register_for<float>(module);
  module.def("solve_gram", &solution_of, py::arg("gram"), py::arg("map"), py::arg("alpha"),
             py::kw_only(), py::arg("threads") = 1);
}

}  // namespace stagenets::python
