#include "bindings.hpp"

#ifdef STAGENETS_FOURTH_ARCHITECTURE  // in a test: cpp/tests/fourth_architecture
namespace stagenets::python {
void register_threshold_units(py::module_& module);
}
#endif

PYBIND11_MODULE(_core, module) {
  using namespace stagenets::python;
  module.doc() = "The C++ core of stagenets; use the estimators of the package instead.";
  register_blas(module);
  register_draws(module);
  register_targets(module);
  register_settings(module);
  register_networks(module);
  register_fits(module);
  register_search(module);
  register_given_units(module);
#ifdef STAGENETS_FOURTH_ARCHITECTURE
  register_threshold_units(module);
#endif
}
