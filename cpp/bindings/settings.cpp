// Settings and architectures: values created once, by keyword, and read-only afterwards.
#include "bindings.hpp"
#include "stagenets/affine_units.hpp"
#include "stagenets/broad_units.hpp"
#include "stagenets/cross_validation.hpp"
#include "stagenets/sizes.hpp"

namespace stagenets::python {
namespace {

// Row numbers are checked later, against the inputs: see fits.cpp.
Stopping make_stopping(const std::string& by, Index patience, const IndexArray& validation_rows) {
  const Stopping stopping{stop_by_from_name(by), patience, row_list(validation_rows)};
  check(patience >= 1, "patience must be at least 1");
  return stopping;
}

CrossValidation make_choice(const std::vector<RowPair>& splits, std::vector<double> alphas,
                            bool sizes, Index block_size, double caution) {
  check(!splits.empty(), "splits must not be empty");
  check(block_size >= kGrowing, "block_size must not be negative");
  for (const double alpha : alphas) check(alpha > 0, "alphas must be positive");
  return {split_list(splits), std::move(alphas), sizes, block_size, caution};
}

NetworkSettings make_settings(std::shared_ptr<const Architecture> architecture,
                              const py::object& weight_init, double weight_scale, Index fan_in,
                              std::uint64_t seed, bool intercept, const std::string& scaling,
                              bool extrapolate, const std::string& loss, double alpha,
                              const std::string& solver, double tol, Index pool_size,
                              Index block_size, const std::string& selection, double score_fraction,
                              const ClassWeights& class_weights, const Stopping& stopping) {
  check(alpha >= 0, "alpha must not be negative");
  check(pool_size >= 1, "pool_size must be at least 1");
  check(block_size >= kGrowing, "block_size must not be negative");
  NetworkSettings settings;
  settings.architecture = std::move(architecture);
  settings.draws = weight_draws(weight_init, weight_scale, fan_in, seed);
  settings.intercept = intercept;
  settings.scaling = scaling_from_name(scaling);
  settings.extrapolate = extrapolate;
  settings.class_weights = class_weights;
  settings.stages.loss = loss_from_name(loss);
  check(settings.stages.loss == Loss::squared || alpha > 0,
        "alpha must be positive unless loss='squared'");
  settings.stages.alpha = alpha;
  settings.stages.solver = solver_from_name(solver);
  settings.stages.tol = tol;
  settings.stages.pool = pool_size;
  settings.stages.block = block_size;
  settings.stages.selection = selection_from_name(selection);
  settings.stages.score_fraction = score_fraction;
  settings.stages.seed = seed;
  settings.stages.stopping = stopping;
  return settings;
}

std::shared_ptr<BroadArchitecture> make_broad(Index windows, Index window_nodes, Index enhancement,
                                              const std::string& feature_activation,
                                              const std::string& enhancement_activation,
                                              bool sparse_features) {
  check(windows >= 1 && window_nodes >= 1, "n_windows and n_feature_nodes must be at least 1");
  check(enhancement >= 0, "n_enhancement must not be negative");
  auto broad = std::make_shared<BroadArchitecture>();
  broad->windows = windows;
  broad->window_nodes = window_nodes;
  broad->enhancement = enhancement;
  broad->feature_activation = activation_from_name(feature_activation);
  broad->enhancement_activation = activation_from_name(enhancement_activation);
  broad->sparse_features = sparse_features;
  return broad;
}

}  // namespace

void register_settings(py::module_& module) {
  module.attr("GROWING") = kGrowing;
  module.attr("ENOUGH_ROWS") = kEnoughRows;
  module.attr("MANY_ROWS") = kManyRows;
  module.def("check_memory", &check_addressable, py::arg("what"), py::arg("bytes"));
  py::class_<Architecture, std::shared_ptr<Architecture>>(module, "Architecture")
      .def_property_readonly("size", &Architecture::size)
      .def_property_readonly("max_units", &Architecture::max_units);
  py::class_<AffineArchitecture, Architecture, std::shared_ptr<AffineArchitecture>>(
      module, "AffineArchitecture")
      .def(py::init([](Index n_hidden, const std::string& activation, bool direct_links) {
             check(n_hidden >= 0, "n_hidden must not be negative");
             return std::make_shared<AffineArchitecture>(n_hidden, activation_from_name(activation),
                                                         direct_links);
           }),
           py::kw_only(), py::arg("n_hidden"), py::arg("activation"), py::arg("direct_links"));
  py::class_<BroadArchitecture, Architecture, std::shared_ptr<BroadArchitecture>>(
      module, "BroadArchitecture")
      .def(py::init(&make_broad), py::kw_only(), py::arg("n_windows"), py::arg("n_feature_nodes"),
           py::arg("n_enhancement"), py::arg("feature_activation"),
           py::arg("enhancement_activation"), py::arg("sparse_features"));

  py::class_<Stopping>(module, "Stopping")
      .def(py::init(&make_stopping), py::kw_only(), py::arg("by"), py::arg("patience"),
           py::arg("validation_rows") = IndexArray(0))
      .def(py::init<>())
      .def_property_readonly("validation_rows", [](const py::object& self) {
        return as_array(self.cast<const Stopping&>().validation_rows, self);
      });

  py::class_<CrossValidation>(module, "CrossValidation")
      .def(py::init(&make_choice), py::kw_only(), py::arg("splits"),
           py::arg("alphas") = std::vector<double>(), py::arg("sizes"), py::arg("block_size"),
           py::arg("caution") = 0.0);

  py::class_<ClassWeights>(module, "ClassWeights")
      .def(py::init([](std::vector<double> given) {
             for (const double weight : given) {
               check(weight >= 0 && std::isfinite(weight),
                     "class weights must be finite and not negative");
             }
             return ClassWeights{std::move(given)};
           }),
           py::arg("given"))
      .def_static("balanced", [] { return ClassWeights{{}, true}; });

  py::class_<NetworkSettings>(module, "NetworkSettings")
      .def(py::init(&make_settings), py::kw_only(), py::keep_alive<1, 3>(), py::arg("architecture"),
           py::arg("weight_init"), py::arg("weight_scale"), py::arg("fan_in"), py::arg("seed"),
           py::arg("intercept"), py::arg("scaling"), py::arg("extrapolate"), py::arg("loss"),
           py::arg("alpha"), py::arg("solver"), py::arg("tol"), py::arg("pool_size"),
           py::arg("block_size"), py::arg("selection"), py::arg("score_fraction"),
           py::arg("class_weights") = ClassWeights(), py::arg("stopping") = Stopping())
      .def_property_readonly("seed", [](const NetworkSettings& s) { return s.stages.seed; })
      .def_property_readonly("max_units",
                             [](const NetworkSettings& s) { return s.architecture->max_units(); });
}

}  // namespace stagenets::python
