// Fitted networks: read-only views of the core's arrays, and prediction.
#include <memory>
#include <optional>

#include "bindings.hpp"
#include "gil.hpp"
#include "stagenets/fitted_network.hpp"

namespace stagenets::python {
namespace {

using OptionalVector = std::optional<VectorD>;

NetworkLayer make_layer(MatrixD weights, VectorD biases, const std::string& activation,
                        const OptionalVector& scales, const OptionalVector& offsets,
                        const std::optional<std::vector<Index>>& ends) {
  return {{std::move(weights), std::move(biases), {}, ends.value_or(std::vector<Index>())},
          activation_from_name(activation),
          scales.value_or(VectorD()),
          offsets.value_or(VectorD())};
}

ReadoutPath make_path(MatrixD start, MatrixD directions, MatrixD steps, std::vector<Index> ends) {
  return {std::move(start), std::move(directions), std::move(steps), std::move(ends)};
}

// Bounds are two rows: the lower ones and the upper ones.
InputBounds make_bounds(const std::optional<MatrixD>& bounds) {
  if (!bounds) return {};
  check(bounds->rows() == 2, "bounds must have two rows");
  return {bounds->row(0).transpose(), bounds->row(1).transpose()};
}

py::object bounds_or_none(const InputBounds& bounds) {
  if (bounds.unbounded()) return py::none();
  MatrixD rows(2, bounds.lower.size());
  rows << bounds.lower.transpose(), bounds.upper.transpose();
  return py::cast(std::move(rows));
}

std::shared_ptr<FittedNetwork> make_network(std::vector<NetworkLayer> layers, bool direct_links,
                                            MatrixD readout, ReadoutPath path,
                                            const std::optional<MatrixD>& bounds) {
  return std::make_shared<FittedNetwork>(
      Network{std::move(layers), direct_links, make_bounds(bounds)}, std::move(readout),
      std::move(path));
}

// work(inputs, out, team) fills a row-major array with the given number of columns.
template <class Out, class Given, class Work>
py::array_t<Out> over_rows(const FittedNetwork& fitted, const InputRows<Given>& x, Index columns,
                           int threads, Work&& work) {
  const InputView<Given> view = view_of(x);
  const Network& network = fitted.network();
  check(view.columns == network.inputs(), "X must have the width the network was fitted on (" +
                                              std::to_string(network.inputs()) + "); got " +
                                              std::to_string(view.columns));
  py::array_t<Out> out({view.rows, columns});
  Out* values = out.mutable_data();
  const WithoutGil no_gil;
  const Inputs<Given> inputs(view);
  Team::run(prediction_threads(network, view.rows, threads), check_signals,
            [&](Team& team) { work(inputs, values, team); });
  return out;
}

// work(predictor's type) in the type of the inputs, or in double where the network calls for it.
template <class Given, class Work>
py::array in_type_for(const FittedNetwork& network, Work&& work) {
  if (network.needs_double()) return work(double());
  return work(Given());
}

template <class Given>
py::array scores(const FittedNetwork& network, const InputRows<Given>& x, int threads) {
  return in_type_for<Given>(network, [&](auto zero) -> py::array {
    using Scalar = decltype(zero);
    const auto predictor = network.predictor<Scalar>();
    const auto work = [&](const Inputs<Given>& inputs, Scalar* out, Team& team) {
      predictor->scores(inputs, out, team);
    };
    return over_rows<Scalar>(network, x, predictor->outputs(), threads, work);
  });
}

template <class Given>
py::array path_scores(const FittedNetwork& network, const InputRows<Given>& x, int threads) {
  return in_type_for<Given>(network, [&](auto zero) -> py::array {
    using Scalar = decltype(zero);
    const auto predictor = network.path_predictor<Scalar>();
    const auto work = [&](const Inputs<Given>& inputs, Scalar* out, Team& team) {
      predictor->scores(inputs, out, team);
    };
    return over_rows<Scalar>(network, x, predictor->outputs(), threads, work);
  });
}

// Activations are of the inputs' type whatever they are computed in.
template <class Given>
py::array activations(const FittedNetwork& network, const InputRows<Given>& x, int threads) {
  return in_type_for<Given>(network, [&](auto zero) -> py::array {
    const auto predictor = network.predictor<decltype(zero)>();
    const auto work = [&](const Inputs<Given>& inputs, Given* out, Team& team) {
      predictor->activations(inputs, out, team);
    };
    return over_rows<Given>(network, x, predictor->units(), threads, work);
  });
}

// None for an empty vector.
py::object vector_or_none(const VectorD& values) {
  return values.size() > 0 ? py::cast(values) : py::none();
}

void register_parts(py::module_& module) {
  constexpr auto view = py::return_value_policy::reference_internal;
  py::class_<NetworkLayer>(module, "Layer")
      .def(py::init(&make_layer), py::kw_only(), py::arg("weights"), py::arg("biases"),
           py::arg("activation"), py::arg("scales") = py::none(), py::arg("offsets") = py::none(),
           py::arg("ends") = py::none())
      .def_property_readonly(
          "weights", [](const NetworkLayer& l) -> const MatrixD& { return l.units.weights; }, view)
      .def_property_readonly(
          "biases", [](const NetworkLayer& l) -> const VectorD& { return l.units.biases; }, view)
      .def_property_readonly("activation",
                             [](const NetworkLayer& l) { return name_of(l.activation); })
      .def_property_readonly("scales", [](const NetworkLayer& l) { return vector_or_none(l.gain); })
      .def_property_readonly("offsets",
                             [](const NetworkLayer& l) { return vector_or_none(l.shift); })
      .def_property_readonly("ends", [](const py::object& l) -> py::object {
        const std::vector<Index>& ends = l.cast<const NetworkLayer&>().units.ends;
        if (ends.empty()) return py::none();
        return as_array(ends, l);
      });

  py::class_<ReadoutPath>(module, "ReadoutPath")
      .def(py::init(&make_path), py::kw_only(), py::arg("start"), py::arg("directions"),
           py::arg("steps"), py::arg("ends"))
      .def_property_readonly(
          "start", [](const ReadoutPath& p) -> const MatrixD& { return p.start; }, view)
      .def_property_readonly(
          "directions", [](const ReadoutPath& p) -> const MatrixD& { return p.directions; }, view)
      .def_property_readonly(
          "steps", [](const ReadoutPath& p) -> const MatrixD& { return p.steps; }, view)
      .def_property_readonly("ends", [](const py::object& p) {
        return as_array(p.cast<const ReadoutPath&>().ends, p);
      });
}

}  // namespace

void register_networks(py::module_& module) {
  constexpr auto view = py::return_value_policy::reference_internal;
  register_parts(module);
  py::class_<FittedNetwork, std::shared_ptr<FittedNetwork>>(module, "Network")
      .def(py::init(&make_network), py::kw_only(), py::arg("layers"), py::arg("direct_links"),
           py::arg("readout"), py::arg("path"), py::arg("bounds") = py::none())
      .def_property_readonly("layers",
                             [](const py::object& self) {
                               const auto& network = self.cast<const FittedNetwork&>().network();
                               py::list layers;
                               for (const NetworkLayer& layer : network.layers) {
                                 layers.append(py::cast(layer, view, self));
                               }
                               return layers;
                             })
      .def_property_readonly("direct_links",
                             [](const FittedNetwork& n) { return n.network().direct_links; })
      .def_property_readonly(
          "bounds", [](const FittedNetwork& n) { return bounds_or_none(n.network().bounds); })
      .def_property_readonly("n_inputs",
                             [](const FittedNetwork& n) { return n.network().inputs(); })
      .def_property_readonly("n_units", [](const FittedNetwork& n) { return n.network().units(); })
      .def_property_readonly("readout", &FittedNetwork::readout, view)
      .def_property_readonly("path", &FittedNetwork::path, view)
      .def("scores", &scores<double>, py::arg("x").noconvert(), py::arg("threads"))
      .def("scores", &scores<float>, py::arg("x").noconvert(), py::arg("threads"))
      .def("path_scores", &path_scores<double>, py::arg("x").noconvert(), py::arg("threads"))
      .def("path_scores", &path_scores<float>, py::arg("x").noconvert(), py::arg("threads"))
      .def("activations", &activations<double>, py::arg("x").noconvert(), py::arg("threads"))
      .def("activations", &activations<float>, py::arg("x").noconvert(), py::arg("threads"));
}

}  // namespace stagenets::python
