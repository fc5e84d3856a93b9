#include "bindings.hpp"
#include "residuum/network.hpp"
#include "residuum/network_fit.hpp"

namespace residuum::python {
namespace {

// weights, biases, gain, shift, activation
using FeatureTuple = std::tuple<MatrixD, VectorD, VectorD, VectorD, std::string>;

Network make_network(const MatrixD& hidden_weights, const VectorD& hidden_biases,
                     const std::string& activation, bool direct_links,
                     const std::optional<FeatureTuple>& features) {
  Network network;
  network.hidden = {hidden_weights, hidden_biases};
  network.activation = activation_from_name(activation);
  network.direct_links = direct_links;
  if (features) {
    const auto& [weights, biases, gain, shift, feature_activation] = *features;
    network.features = Network::Features{{{weights, biases}, gain, shift},
                                         activation_from_name(feature_activation)};
  }
  const bool consistent =
      hidden_weights.cols() == hidden_biases.size() &&
      (!features || (network.features->nodes.units.weights.cols() == hidden_weights.rows() &&
                     network.features->nodes.units.biases.size() == hidden_weights.rows() &&
                     network.features->nodes.gain.size() == hidden_weights.rows() &&
                     network.features->nodes.shift.size() == hidden_weights.rows()));
  if (!consistent) throw py::value_error("the network's weights have sizes that do not match");
  return network;
}

template <class Scalar, class Work>
py::array_t<Scalar> over_rows(const Network& network, const InputArray<Scalar>& x, Index columns,
                              int threads, Work&& work) {
  const ArrayView<Scalar> view(x);
  const Index expected = network.features ? network.features->nodes.units.weights.rows()
                                          : network.hidden.weights.rows();
  if (view.columns != expected)
    throw py::value_error("X has not the width the network was fitted on");
  py::array_t<Scalar> out({view.rows, columns});
  Scalar* values = out.mutable_data();
  const double operations = 2.0 * static_cast<double>(view.rows) *
                            static_cast<double>(view.columns + 10) *
                            static_cast<double>(network.hidden.biases.size() + 1);
  const py::gil_scoped_release no_gil;
  const Inputs<Scalar> inputs(view.data, view.rows, view.columns, view.row_major);
  Team::run(threads_worth(operations, threads), check_signals,
            [&](Team& team) { work(inputs, values, team); });
  return out;
}

template <class Scalar>
py::array_t<Scalar> evaluate(const Network& network, const InputArray<Scalar>& x,
                             const MatrixD& readout, int threads) {
  if (readout.rows() != network.readout_rows()) {
    throw py::value_error("the readout has not the height of the network's design");
  }
  return over_rows<Scalar>(network, x, readout.cols(), threads,
                           [&](const Inputs<Scalar>& inputs, Scalar* out, Team& team) {
                             evaluate_network(network, inputs, readout, out, team);
                           });
}

template <class Scalar>
py::array_t<Scalar> transform(const Network& network, const InputArray<Scalar>& x, int threads) {
  const Index features = network.features ? network.features->nodes.gain.size() : 0;
  return over_rows<Scalar>(network, x, features + network.hidden.biases.size(), threads,
                           [&](const Inputs<Scalar>& inputs, Scalar* out, Team& team) {
                             hidden_activations(network, inputs, out, team);
                           });
}

}  // namespace

void register_networks(py::module_& module) {
  py::class_<Network>(module, "Network")
      .def(py::init(&make_network), py::kw_only(), py::arg("hidden_weights"),
           py::arg("hidden_biases"), py::arg("activation"), py::arg("direct_links"),
           py::arg("features"))
      .def("evaluate", &evaluate<double>, py::arg("x").noconvert(), py::arg("readout"),
           py::arg("threads"))
      .def("evaluate", &evaluate<float>, py::arg("x").noconvert(), py::arg("readout"),
           py::arg("threads"))
      .def("transform", &transform<double>, py::arg("x").noconvert(), py::arg("threads"))
      .def("transform", &transform<float>, py::arg("x").noconvert(), py::arg("threads"));
}

}  // namespace residuum::python
