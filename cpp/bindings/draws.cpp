#include <optional>

#include "bindings.hpp"
#include "gil.hpp"
#include "stagenets/kernels.hpp"
#include "stagenets/sizes.hpp"

namespace stagenets::python {

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
    const WithGil gil;
    const py::tuple drawn = call_python(custom, stage, count, inputs);
    return UnitWeights{cast_or_stop<MatrixD>(drawn[0]), cast_or_stop<VectorD>(drawn[1])};
  };
  return draws;
}

namespace {

py::tuple draw_candidates(std::uint64_t seed, Index stage, Index pool_size, Index n_features,
                          const std::optional<InputArray<double>>& x,
                          const std::optional<VectorD>& weights, const py::object& weight_init,
                          double weight_scale, Index fan_in) {
  UnitWeights units;
  const WeightDraws draws = weight_draws(weight_init, weight_scale, fan_in, seed);
  TrainingValues values;
  if (x) {
    const InputView<double> view = view_of(*x);
    check(view.columns == n_features, "X must have n_features columns");
    check_weights(weights, view.rows);
    const VectorD roots = weights ? VectorD(weights->cwiseSqrt()) : VectorD();
    values = TrainingValues(view, view.rows, n_features, weights ? roots.data() : nullptr,
                            RowBlocks(view.rows, view.rows));
  }
  with_memory("a pool", pool_bytes(pool_size, n_features), [&] {
    const WithoutGil no_gil;
    Team::run(1, check_signals, [&](Team& team) {
      draws.draw(Stream::hidden, stage, pool_size, n_features, values, team, units);
    });
  });
  std::vector<Index> ends;
  for (Index j = 0; j < units.count(); ++j) ends.push_back(units.end_of_terms(j));
  const py::object weights_drawn = py::cast(std::move(units.weights));
  if (!draws.has_leaves()) return py::make_tuple(weights_drawn, units.biases);
  return py::make_tuple(weights_drawn, units.biases, py::array(py::cast(ends)));
}

}  // namespace

void register_draws(py::module_& module) {
  module.def("draw_candidates", &draw_candidates, py::arg("seed"), py::arg("stage"),
             py::arg("pool_size"), py::arg("n_features"), py::kw_only(),
             py::arg("x").noconvert() = py::none(), py::arg("weights") = py::none(),
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

}  // namespace stagenets::python
