#include "bindings.hpp"

PYBIND11_MODULE(_core, module) {
  using namespace residuum::python;
  module.doc() = "The C++ core of residuum; use the estimators of the package instead.";
  register_blas(module);
  register_draws(module);
  register_fits(module);
  register_networks(module);
  register_search(module);
}
