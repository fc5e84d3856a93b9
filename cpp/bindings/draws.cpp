#include "bindings.hpp"
#include "residuum/kernels.hpp"

namespace residuum::python {

WeightDraws weight_draws(const py::object& weight_init, double scale, Index fan_in,
                         std::uint64_t seed) {
  WeightDraws draws;
  draws.scale = scale;
  draws.fan_in = fan_in;
  draws.seed = seed;
  if (py::isinstance<py::str>(weight_init)) {
    draws.family = weight_family_from_name(weight_init.cast<std::string>());
    return draws;
  }
  // The handle is borrowed: the caller holds weight_init for as long as the fit runs, and copies of
  // the function may be made and dropped without the GIL.
  const py::handle custom = weight_init;
  draws.custom = [custom](Index stage, Index count, Index inputs) {
    const py::gil_scoped_acquire gil;
    const py::tuple drawn = custom(stage, count, inputs);
    return UnitWeights{drawn[0].cast<MatrixD>(), drawn[1].cast<VectorD>()};
  };
  return draws;
}

void register_draws(py::module_& module) {
  module.def(
      "draw_candidates",
      [](std::uint64_t seed, Index stage, Index pool_size, Index n_features,
         const py::object& weight_init, double weight_scale, Index fan_in) {
        UnitWeights units;
        const WeightDraws draws = weight_draws(weight_init, weight_scale, fan_in, seed);
        Team::run(1, nullptr, [&](Team& team) {
          draws.draw(Stream::hidden, stage, pool_size, n_features, team, units);
        });
        return py::make_tuple(units.weights, units.biases);
      },
      py::arg("seed"), py::arg("stage"), py::arg("pool_size"), py::arg("n_features"), py::kw_only(),
      py::arg("weight_init"), py::arg("weight_scale"), py::arg("fan_in"));

  const auto activate = [](auto values, const std::string& name) {
    using Scalar = typename decltype(values)::value_type;
    py::array_t<Scalar> result(values.size());
    std::copy_n(values.data(), values.size(), result.mutable_data());
    kernels<Scalar>().activate(activation_from_name(name), result.mutable_data(), values.size(), 0);
    return result;
  };
  using Doubles = py::array_t<double, py::array::c_style>;
  using Floats = py::array_t<float, py::array::c_style>;
  module.def(
      "activate",
      [activate](const Doubles& values, const std::string& name) { return activate(values, name); },
      py::arg("values").noconvert(), py::arg("name"));
  module.def(
      "activate",
      [activate](const Floats& values, const std::string& name) { return activate(values, name); },
      py::arg("values").noconvert(), py::arg("name"));
}

}  // namespace residuum::python
