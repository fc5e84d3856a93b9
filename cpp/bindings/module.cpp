#include "bindings.hpp"

#ifdef STAGENETS_FOURTH_ARCHITECTURE  // in a test: cpp/tests/fourth_architecture
namespace stagenets::python {
void register_threshold_units(py::module_& module);
}
#endif

// Fits and predictions hold no state outside their arguments and results but what has a lock of its own (the teams of
// threads, the buffers of the BLAS), so free-threaded Python need not switch its lock back on for us.
PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  using namespace stagenets::python;
  module.doc() = "The C++ core of stagenets; use the estimators of the package instead.";
  register_blas(module);
  register_draws(module);
  register_targets(module);
  register_settings(module);
  register_networks(module);
  register_fits(module);
  register_paused_fits(module);
  register_readouts(module);
  register_search(module);
  register_given_units(module);
#ifdef STAGENETS_FOURTH_ARCHITECTURE
  register_threshold_units(module);
#endif
}
