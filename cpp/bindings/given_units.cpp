// The stagewise loop on candidates that a Python function computes.
#include "stagenets/given_units.hpp"

#include "gil.hpp"
#include "history.hpp"

namespace stagenets::python {
namespace {

GivenFit given_fit_from_python(const py::function& candidates, const MatrixD& targets,
                               const InputArray<double>& inputs,
                               const std::optional<VectorD>& weights, Index n_hidden, double alpha,
                               Index pool_size, Index block_size, const std::string& selection,
                               double score_fraction, bool intercept, const std::string& solver,
                               double tol, int threads) {
  const InputView<double> view = view_of(inputs);
  check_rows("targets", targets.rows(), view.rows);
  check_weights(weights, view.rows);
  const py::handle borrowed = candidates;
  const auto pool = [borrowed, &view](Index stage, Index count) {
    const WithGil gil;
    const py::object drawn = call_python(borrowed, stage, count);
    MatrixD columns = cast_or_stop<MatrixD>(drawn);
    check(columns.rows() == view.rows && columns.cols() == count,
          "candidates must have one row per target and one column per candidate");
    return columns;
  };
  StagewiseSettings settings;
  settings.alpha = alpha;
  settings.solver = solver_from_name(solver);
  settings.tol = tol;
  settings.pool = pool_size;
  settings.block = block_size;
  settings.selection = selection_from_name(selection);
  settings.score_fraction = score_fraction;
  const WithoutGil no_gil;
  return fit_given_units(pool, targets, view, weights ? weights->data() : nullptr, n_hidden,
                         intercept, settings, threads, check_signals);
}

}  // namespace

void register_given_units(py::module_& module) {
  constexpr auto view = py::return_value_policy::reference_internal;
  py::class_<GivenFit>(module, "GivenFit")
      .def_property_readonly(
          "hidden", [](const GivenFit& fit) -> const MatrixD& { return fit.hidden; }, view)
      .def_property_readonly(
          "readout", [](const GivenFit& fit) -> const MatrixD& { return fit.readout; }, view)
      .def_readonly("history", &GivenFit::history);
  module.def("fit_given_units", &given_fit_from_python, py::arg("candidates"), py::arg("targets"),
             py::arg("inputs").noconvert(), py::kw_only(), py::arg("weights") = py::none(),
             py::arg("n_hidden"), py::arg("alpha"), py::arg("pool_size"), py::arg("block_size"),
             py::arg("selection"), py::arg("score_fraction"), py::arg("intercept"),
             py::arg("solver"), py::arg("tol"), py::arg("threads"));
}

}  // namespace stagenets::python
