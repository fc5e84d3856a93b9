#include <memory>

#include "bindings.hpp"
#include "residuum/given_units.hpp"
#include "residuum/network_fit.hpp"

namespace residuum::python {
namespace {

using Labels = py::array_t<std::int64_t, py::array::c_style>;

// Calls a Python function (stage, units, objective, residual_energy, validation_score) -> go on?, if
// there is one.
Observer observer_of(const py::object& callback) {
  if (callback.is_none()) return nullptr;
  const py::handle borrowed = callback;
  return [borrowed](const StageReport& report) {
    const py::gil_scoped_acquire gil;
    return borrowed(report.stage, report.units, report.objective, report.residual_energy,
                    report.validation_score)
        .template cast<bool>();
  };
}

py::dict as_dict(const StagewiseFit& fit) {
  py::dict result;
  py::array_t<std::int64_t> selected(
      {static_cast<py::ssize_t>(fit.selected.size()), py::ssize_t{2}});
  auto rows = selected.mutable_unchecked<2>();
  for (std::size_t i = 0; i < fit.selected.size(); ++i) {
    for (int c = 0; c < 2; ++c) rows(i, c) = fit.selected[i][c];
  }
  const auto vector = [](const std::vector<double>& values) {
    return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
  };
  result["readout"] = fit.readout;
  result["path_start"] = fit.path.start;
  result["path_directions"] = fit.path.directions;
  result["path_steps"] = fit.path.steps;
  result["path_ends"] = fit.path.ends;
  result["objective_path"] = vector(fit.objective_path);
  result["residual_path"] = vector(fit.residual_path);
  result["loo_error_path"] = vector(fit.loo_error_path);
  result["loo_accuracy_path"] = vector(fit.loo_accuracy_path);
  result["validation_path"] = vector(fit.validation_path);
  result["units_path"] =
      py::array_t<Index>(static_cast<py::ssize_t>(fit.units_path.size()), fit.units_path.data());
  result["best_stage"] = fit.best_stage;
  result["selected"] = selected;
  result["unit_scores"] = vector(fit.unit_scores);
  const py::ssize_t stages = static_cast<py::ssize_t>(fit.pool_quantiles.size());
  result["pool_quantiles"] = py::array_t<double>(
      {stages, py::ssize_t{5}}, stages > 0 ? fit.pool_quantiles.front().data() : nullptr);
  py::dict profile;
  profile["draw"] = fit.profile.draw;
  profile["map"] = fit.profile.map;
  profile["activation"] = fit.profile.activation;
  profile["score"] = fit.profile.score;
  profile["project"] = fit.profile.project;
  profile["append"] = fit.profile.append;
  profile["total"] = fit.profile.total;
  result["profile"] = profile;
  return result;
}

template <class Scalar>
py::dict fit_network_from_python(const InputArray<Scalar>& x, const MatrixD& targets,
                                 const std::optional<Labels>& labels,
                                 const std::optional<VectorD>& root_weights,
                                 const NetworkSettings& settings, const py::object& callback) {
  const ArrayView<Scalar> view(x);
  std::vector<Index> classes;
  if (labels) classes.assign(labels->data(), labels->data() + labels->size());
  const TrainingData<Scalar> data{view.data,
                                  view.rows,
                                  view.columns,
                                  view.row_major,
                                  targets,
                                  labels ? classes.data() : nullptr,
                                  root_weights ? root_weights->data() : nullptr};
  const Observer observer = observer_of(callback);
  NetworkFit fit;
  {
    const py::gil_scoped_release no_gil;
    fit = fit_network(data, settings, observer, check_signals);
  }
  py::dict result = as_dict(fit.fit);
  result["temperature"] = fit.temperature;
  result["hidden_weights"] = fit.network.hidden.weights;
  result["hidden_biases"] = fit.network.hidden.biases;
  if (fit.network.features) {
    const FeatureNodes& nodes = fit.network.features->nodes;
    result["feature_weights"] = nodes.units.weights;
    result["feature_biases"] = nodes.units.biases;
    result["feature_gain"] = nodes.gain;
    result["feature_shift"] = nodes.shift;
  }
  return result;
}

py::dict fit_given_units(const py::function& candidates, const MatrixD& targets,
                         const InputArray<double>& inputs, Index n_hidden, double alpha,
                         Index pool_size, Index block_size, const std::string& selection,
                         double score_fraction, bool intercept, const std::string& solver,
                         double tol, int threads) {
  const ArrayView<double> view(inputs);
  const py::handle borrowed = candidates;
  const auto pool = [borrowed](Index stage, Index count) {
    const py::gil_scoped_acquire gil;
    return borrowed(stage, count).template cast<MatrixD>();
  };
  StagewiseSettings settings;
  settings.alpha = alpha;
  settings.solver = solver_from_name(solver);
  settings.tol = tol;
  settings.max_units = n_hidden;
  settings.block = block_size;
  settings.selection = selection_from_name(selection);
  settings.score_fraction = score_fraction;
  const bool one_shot = settings.selection == Selection::random;
  StagewiseFit fit;
  MatrixD hidden;
  {
    const py::gil_scoped_release no_gil;
    const Inputs<double> rows(view.data, view.rows, view.columns, view.row_major);
    const RowBlocks blocks = RowBlocks::for_fit(view.rows, view.columns);
    GivenUnits source(pool, view.rows, Budget{n_hidden, pool_size, block_size, one_shot});
    Team::run(threads, check_signals, [&](Team& team) {
      Design<double> design(rows, intercept, view.columns > 0, source, nullptr, team.size());
      fit = fit_stagewise(design, blocks, targets, settings, nullptr, team);
    });
    hidden = source.kept();
  }
  py::dict result = as_dict(fit);
  result["hidden"] = hidden;
  return result;
}

}  // namespace

void register_fits(py::module_& module) {
  // One plain settings object, its defaults stated once, in the core.
  py::class_<NetworkSettings>(module, "NetworkSettings")
      .def(py::init<>())
      .def("set_architecture",
           [](NetworkSettings& s, const std::string& name) {
             s.architecture = architecture_from_name(name);
           })
      .def("set_activation",
           [](NetworkSettings& s, const std::string& name) {
             s.activation = activation_from_name(name);
           })
      .def(
          "set_draws",
          [](NetworkSettings& s, const py::object& weight_init, double scale, Index fan_in,
             std::uint64_t seed) { s.draws = weight_draws(weight_init, scale, fan_in, seed); },
          py::keep_alive<1, 2>())
      .def("set_units", [](NetworkSettings& s, Index units, Index pool, Index block,
                           bool one_shot) { s.budget = Budget{units, pool, block, one_shot}; })
      .def("set_broad_units",
           [](NetworkSettings& s, Index windows, Index window_nodes, Index enhancement,
              const std::string& feature_activation, const std::string& enhancement_activation,
              bool sparse_features, Index pool, Index block, bool one_shot) {
             s.broad = BroadSettings{windows,
                                     window_nodes,
                                     enhancement,
                                     activation_from_name(feature_activation),
                                     activation_from_name(enhancement_activation),
                                     sparse_features,
                                     pool,
                                     block,
                                     one_shot};
           })
      .def("set_selection",
           [](NetworkSettings& s, const std::string& selection, double score_fraction) {
             s.stagewise.selection = selection_from_name(selection);
             s.stagewise.score_fraction = score_fraction;
           })
      .def("set_ridge",
           [](NetworkSettings& s, double alpha, const std::string& solver, double tol) {
             s.stagewise.alpha = alpha;
             s.stagewise.solver = solver_from_name(solver);
             s.stagewise.tol = tol;
           })
      .def("set_evidence",
           [](NetworkSettings& s, bool classification, bool leave_one_out, bool loo_scores,
              const std::string& stop_by, Index patience, std::vector<Index> validation_rows) {
             s.stagewise.classification = classification;
             s.stagewise.leave_one_out = leave_one_out;
             s.stagewise.loo_scores = loo_scores;
             s.stagewise.stopping =
                 Stopping{evidence_from_name(stop_by), patience, std::move(validation_rows)};
           })
      .def_property("size", &NetworkSettings::size, &NetworkSettings::set_size)
      .def_readwrite("intercept", &NetworkSettings::intercept)
      .def_readwrite("standardize", &NetworkSettings::standardize)
      .def_readwrite("threads", &NetworkSettings::threads);

  module.def("fit_network", &fit_network_from_python<double>, py::arg("x").noconvert(),
             py::arg("targets"), py::arg("labels"), py::arg("root_weights"), py::arg("settings"),
             py::arg("callback"));
  module.def("fit_network", &fit_network_from_python<float>, py::arg("x").noconvert(),
             py::arg("targets"), py::arg("labels"), py::arg("root_weights"), py::arg("settings"),
             py::arg("callback"));
  module.def("fit_given_units", &fit_given_units, py::arg("candidates"), py::arg("targets"),
             py::arg("inputs").noconvert(), py::kw_only(), py::arg("n_hidden"), py::arg("alpha"),
             py::arg("pool_size"), py::arg("block_size"), py::arg("selection"),
             py::arg("score_fraction"), py::arg("intercept"), py::arg("solver"), py::arg("tol"),
             py::arg("threads"));
}

}  // namespace residuum::python
