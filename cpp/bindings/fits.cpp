// Fits of the built-in architectures: one call in, one typed result out.
#include <memory>

#include "gil.hpp"
#include "history.hpp"
#include "stagenets/fit.hpp"
#include "stagenets/paused_fit.hpp"

namespace stagenets::python {

Observer observer_of(const py::object& callback) {
  if (callback.is_none()) return nullptr;
  const py::handle borrowed = callback;
  return [borrowed](const StageReport& report) {
    const WithGil gil;
    return call_python(borrowed, report.stage, report.units, report.max_units, report.objective,
                       report.residual_energy, report.validation_score)
        .template cast<bool>();
  };
}

namespace {

template <class Scalar>
TrainingData<Scalar> checked_data(const InputView<Scalar>& view, const Targets& targets,
                                  const NetworkSettings& settings,
                                  const std::optional<VectorD>& weights,
                                  const RowGraph* graph = nullptr) {
  check(view.rows >= 1 && view.columns >= 1, "X must not be empty");
  if (graph) {
    check(targets.rows() >= 1 && targets.rows() <= view.rows,
          "with a graph, targets must be those of the first rows of X");
    for (const auto& pair : graph->pairs) {
      check_row_numbers("pairs", {pair[0], pair[1]}, view.rows);
    }
  } else {
    check_rows("targets", targets.rows(), view.rows);
  }
  check_weights(weights, view.rows);
  check_class_weights(settings.class_weights, targets);
  const bool numbers = targets.task() == Task::numbers;
  check(settings.stages.loss != Loss::log || !numbers, "loss='log' needs labels");
  check(settings.stages.loss != Loss::huber || numbers, "loss='huber' needs numbers");
  const Stopping& stopping = settings.stages.stopping;
  check_row_numbers("validation_rows", stopping.validation_rows, targets.rows());
  return {view, targets, weights ? weights->data() : nullptr, nullptr, graph};
}

template <class Scalar>
std::shared_ptr<Fit> fit_from_python(const InputRows<Scalar>& x, const Targets& targets,
                                     const NetworkSettings& settings,
                                     const std::optional<VectorD>& weights,
                                     const CrossValidation* choice, int threads,
                                     const py::object& callback, const py::object& progress,
                                     const KnownStages* known, bool remember,
                                     const RowGraph* graph) {
  const TrainingData<Scalar> data = checked_data(view_of(x), targets, settings, weights, graph);
  const Stopping& stopping = settings.stages.stopping;
  check(stopping.by != StopBy::validation || !stopping.validation_rows.empty(),
        "stopping by 'validation' needs validation_rows");
  const Observer observer = observer_of(callback);
  const SearchProgress folds_done = progress_of(progress);
  FitRequest request{settings, choice ? *choice : CrossValidation(), threads, remember};
  check_splits(request.choice.splits, targets.rows());
  if (known) request.network.stages.known = *known;
  const WithoutGil no_gil;
  return std::make_shared<Fit>(fit(data, request, observer, folds_done, check_signals));
}

template <class Scalar>
CrossValidated cross_validate_from_python(const InputArray<Scalar>& x, const Targets& targets,
                                          const NetworkSettings& settings,
                                          const CrossValidation& choice,
                                          const std::optional<VectorD>& weights, int threads) {
  const TrainingData<Scalar> data = checked_data(view_of(x), targets, settings, weights);
  check_splits(choice.splits, targets.rows());
  const FitRequest request{settings, choice, threads};
  const WithoutGil no_gil;
  return cross_validate(data, settings, choice, request.max_memory, threads, nullptr,
                        check_signals);
}

// A paused fit with the data it works on; the Python object keeps x, targets and what settings refer to alive.
struct PausedNetworkFit {
  NetworkSettings settings;
  std::optional<VectorD> weights;
  double bytes = 0;
  std::unique_ptr<PausedFit> fit;
};

template <class Scalar>
std::unique_ptr<PausedNetworkFit> pause_from_python(const InputArray<Scalar>& x,
                                                    const Targets& targets,
                                                    const NetworkSettings& settings_of_all,
                                                    std::optional<VectorD> weights, Index process,
                                                    bool steered, const std::string& store,
                                                    int threads) {
  auto paused = std::make_unique<PausedNetworkFit>();
  paused->weights = std::move(weights);
  paused->settings = settings_of_all;
  NetworkSettings& settings = paused->settings;
  settings.stages.store = store_from_name(store);
  const TrainingData<Scalar> data = checked_data(view_of(x), targets, settings, paused->weights);
  paused->bytes = bytes_of_fit(data, settings);
  const auto work = [data, &settings, threads](const Reduction& reduction, const Observer& observer,
                                               const Team::Poll& poll) {
    TrainingData<Scalar> shared = data;
    shared.reduction = &reduction;
    return fit(shared, {settings, {}, threads}, observer, nullptr, poll);
  };
  paused->fit = std::make_unique<PausedFit>(process, steered, work);
  return paused;
}

py::object question_of(const PausedNetworkFit& paused) {
  const Question* question = paused.fit->question();
  if (question == nullptr) return py::none();
  return py::make_tuple(question->how, question->values);
}

py::list reports_of(const PausedNetworkFit& paused) {
  py::list reports;
  for (const StageReport& report : paused.fit->reports()) {
    reports.append(py::make_tuple(report.stage, report.units, report.max_units, report.objective,
                                  report.residual_energy, report.validation_score));
  }
  return reports;
}

py::dict profile_of(const Fit& fit) {
  py::dict profile;
  profile["draw"] = fit.profile.draw;
  profile["map"] = fit.profile.map;
  profile["activation"] = fit.profile.activation;
  profile["score"] = fit.profile.score;
  profile["project"] = fit.profile.project;
  profile["append"] = fit.profile.append;
  profile["total"] = fit.profile.total;
  return profile;
}

// A property that is a read-only view of a vector of the history.
template <class Value>
auto path_of(std::vector<Value> FitHistory::* member) {
  return [member](const py::object& self) {
    return as_array(self.cast<const FitHistory&>().*member, self);
  };
}

// Pairs of rows (m × 2) and their weights.
RowGraph make_graph(const IndexArray& pairs, VectorD weights) {
  check(pairs.ndim() == 2 && pairs.shape(1) == 2 && pairs.shape(0) == weights.size(),
        "pairs must have two columns, and one row per weight");
  check(weights.allFinite() && (weights.array() >= 0).all(),
        "weights of pairs must be finite and not negative");
  RowGraph graph;
  for (Index i = 0; i < weights.size(); ++i) {
    graph.pairs.push_back({pairs.at(i, 0), pairs.at(i, 1)});
  }
  graph.weights = std::move(weights);
  return graph;
}

// Opaque to Python, which only stores them between two fits.
void register_known_stages(py::module_& module) {
  using Plain = std::tuple<Index, std::vector<Index>, PoolQuantiles>;
  py::class_<KnownStages>(module, "KnownStages")
      .def("__len__", [](const KnownStages& known) { return known.stages.size(); })
      .def(py::pickle(
          [](const KnownStages& known) {
            std::vector<Plain> plain;
            for (const KnownStage& stage : known.stages) {
              plain.emplace_back(stage.keep, stage.pool.candidates, stage.pool.quantiles);
            }
            return py::make_tuple(std::move(plain), known.alpha);
          },
          [](const py::tuple& state) {
            KnownStages known;
            known.alpha = state[1].cast<double>();
            for (auto& [keep, candidates, quantiles] : state[0].cast<std::vector<Plain>>()) {
              known.stages.push_back({keep, {candidates, quantiles}});
            }
            return known;
          }));
}

void register_history(py::module_& module) {
  py::class_<FitHistory>(module, "FitHistory")
      .def_readonly("best_stage", &FitHistory::best_stage)
      .def_property_readonly("units_path", path_of(&FitHistory::units_path))
      .def_property_readonly("objective_path", path_of(&FitHistory::objective_path))
      .def_property_readonly("residual_path", path_of(&FitHistory::residual_path))
      .def_property_readonly("loo_error_path", path_of(&FitHistory::loo_error_path))
      .def_property_readonly("loo_accuracy_path", path_of(&FitHistory::loo_accuracy_path))
      .def_property_readonly("validation_path", path_of(&FitHistory::validation_path))
      .def_property_readonly("unit_scores", path_of(&FitHistory::unit_scores))
      .def_property_readonly("selected",
                             [](const py::object& self) {
                               return as_table(self.cast<const FitHistory&>().selected, self);
                             })
      .def_property_readonly("pool_quantiles", [](const py::object& self) {
        return as_table(self.cast<const FitHistory&>().pool_quantiles, self);
      });
}

}  // namespace

void register_fits(py::module_& module) {
  py::class_<RowGraph>(module, "RowGraph")
      .def(py::init(&make_graph), py::arg("pairs"), py::arg("weights"))
      .def("__len__", &RowGraph::size);
  register_history(module);
  register_known_stages(module);
  py::class_<Fit, std::shared_ptr<Fit>>(module, "Fit")
      .def_property_readonly(
          "network",
          [](const Fit& fit) { return std::const_pointer_cast<FittedNetwork>(fit.network); })
      .def_readonly("history", &Fit::history)
      .def_property_readonly("temperatures", [](const Fit& fit) { return fit.link.temperatures; })
      .def_property_readonly("thresholds", [](const Fit& fit) { return fit.link.thresholds; })
      .def_readonly("alpha", &Fit::alpha)
      .def_property_readonly(
          "cv_sizes",
          [](const py::object& self) { return as_array(self.cast<const Fit&>().cv_sizes, self); })
      .def_property_readonly(
          "cv_path",
          [](const py::object& self) { return as_array(self.cast<const Fit&>().cv_path, self); })
      .def_readonly("known", &Fit::known)
      .def_property_readonly("profile", &profile_of);

  const auto define = [&](auto function) {
    module.def("fit", function, py::arg("x").noconvert(), py::arg("targets"), py::arg("settings"),
               py::kw_only(), py::arg("weights") = py::none(), py::arg("choice") = py::none(),
               py::arg("threads") = 1, py::arg("callback") = py::none(),
               py::arg("progress") = py::none(), py::arg("known") = py::none(),
               py::arg("remember") = false, py::arg("graph") = py::none());
  };
  define(&fit_from_python<double>);
  define(&fit_from_python<float>);
  py::class_<CrossValidated>(module, "CrossValidated")
      .def_readonly("alpha", &CrossValidated::alpha)
      .def_readonly("size", &CrossValidated::size)
      .def_readonly("sizes", &CrossValidated::sizes)
      .def_readonly("means", &CrossValidated::means);
  const auto define_choice = [&](auto function) {
    module.def("cross_validate", function, py::arg("x").noconvert(), py::arg("targets"),
               py::arg("settings"), py::arg("choice"), py::kw_only(),
               py::arg("weights") = py::none(), py::arg("threads") = 1);
  };
  define_choice(&cross_validate_from_python<double>);
  define_choice(&cross_validate_from_python<float>);
}

void register_paused_fits(py::module_& module) {
  py::enum_<Combine>(module, "Combine")
      .value("SUM", Combine::sum)
      .value("LEAST", Combine::least)
      .value("GREATEST", Combine::greatest)
      .value("GATHER", Combine::gather)
      .value("STOP", Combine::stop);
  py::class_<PausedNetworkFit> paused(module, "PausedFit");
  const auto define = [&](auto function) {
    paused.def(py::init(function), py::keep_alive<1, 2>(), py::keep_alive<1, 3>(),
               py::keep_alive<1, 4>(), py::arg("x").noconvert(), py::arg("targets"),
               py::arg("settings"), py::kw_only(), py::arg("weights") = py::none(),
               py::arg("process"), py::arg("steered") = false, py::arg("store") = "memory",
               py::arg("threads") = 1);
  };
  define(&pause_from_python<double>);
  define(&pause_from_python<float>);
  paused
      .def("start",
           [](PausedNetworkFit& self) {
             const WithoutGil no_gil;
             self.fit->start();
           })
      .def(
          "answer",
          [](PausedNetworkFit& self, VectorD values) {
            const WithoutGil no_gil;
            self.fit->answer(std::move(values));
          },
          py::arg("values"))
      .def_property_readonly("question", &question_of)
      .def_property_readonly("reports", &reports_of)
      .def_property_readonly("result",
                             [](const PausedNetworkFit& self) {
                               return std::const_pointer_cast<Fit>(self.fit->result());
                             })
      .def_property_readonly("bytes", [](const PausedNetworkFit& self) { return self.bytes; });
}

}  // namespace stagenets::python
