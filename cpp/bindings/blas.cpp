// Takes BLAS and LAPACK from SciPy: its Cython modules export function pointers in capsules whose
// names are the C signatures.
#include "stagenets/blas.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "gil.hpp"
#include "stagenets/blas_buffers.hpp"
#include "stagenets/kernels.hpp"
#include "stagenets/team.hpp"

namespace stagenets::python {
namespace {

// Whether a signature has exactly this many `int *` arguments, which a build with 64-bit integers does not.
bool signature_fits(const std::string& signature, int integers) {
  int found = 0;
  std::size_t start = signature.find('(');
  while (start != std::string::npos) {
    const std::size_t end = signature.find_first_of(",)", start + 1);
    std::string argument = signature.substr(start + 1, end - start - 1);
    argument.erase(0, argument.find_first_not_of(' '));
    found += argument == "int *" ? 1 : 0;
    start = end == std::string::npos || signature[end] == ')' ? std::string::npos : end;
  }
  return found == integers;
}

template <class Function>
void load(const py::dict& functions, const std::string& name, int integers, Function*& target) {
  if (!functions.contains(name.c_str())) {
    throw py::import_error("stagenets needs '" + name +
                           "' from scipy.linalg, which this SciPy lacks");
  }
  const py::capsule capsule = functions[name.c_str()];
  const std::string signature = capsule.name() ? capsule.name() : "";
  if (!signature_fits(signature, integers)) {
    throw py::import_error("stagenets needs a SciPy whose BLAS takes 32-bit integers; its '" +
                           name + "' has the signature '" + signature + "'");
  }
  target = reinterpret_cast<Function*>(capsule.get_pointer());
}

template <class Scalar>
void install(const py::dict& blas_functions, const py::dict& lapack_functions, char prefix) {
  blas::Table<Scalar>& table = blas::table<Scalar>();
  const std::string type(1, prefix);
  load(blas_functions, type + "gemm", 6, table.gemm);
  load(blas_functions, type + "syrk", 4, table.syrk);
  load(blas_functions, type + "trsm", 4, table.trsm);
  load(blas_functions, type + "trsv", 3, table.trsv);
  load(lapack_functions, type + "potrf", 3, table.potrf);
}

std::vector<std::string> names_of_kernels() {
  std::vector<std::string> names;
  for (int i = 0; const Kernels<double>* variant = available_kernels<double>(i); ++i) {
    names.push_back(variant->name);
  }
  return names;
}

// For whoever wants to compare them, or the bits of a lesser CPU.
void use_kernels_of_environment() {
  const char* name = std::getenv("STAGENETS_KERNELS");
  if (!name || !*name || use_kernels(name)) return;
  std::string accepted;
  for (const std::string& variant : names_of_kernels()) accepted += variant + ", ";
  throw py::import_error("the environment variable STAGENETS_KERNELS must be one of " + accepted +
                         "which this CPU can run, or empty; got " + name);
}

}  // namespace

void check_signals() {
  const WithGil gil;
  if (call_or_stop(PyErr_CheckSignals) != 0) throw py::error_already_set();
}

void register_blas(py::module_& module) {
  const auto functions = [](const char* name) -> py::dict {
    return py::module_::import(name).attr("__pyx_capi__");
  };
  const py::dict blas_functions = functions("scipy.linalg.cython_blas");
  const py::dict lapack_functions = functions("scipy.linalg.cython_lapack");
  install<float>(blas_functions, lapack_functions, 's');
  install<double>(blas_functions, lapack_functions, 'd');

  module.def("blas_signature_fits", &signature_fits, py::arg("signature"), py::arg("integers"));
  module.def(
      "use_blas_buffers",
      [](std::uintptr_t take, std::uintptr_t give_back) {
        use_blas_buffers(reinterpret_cast<void* (*)(int)>(take),
                         reinterpret_cast<void (*)(void*)>(give_back));
      },
      py::arg("take"), py::arg("give_back"));
  module.def(
      "call_in_helpers",
      [](std::uintptr_t address, int argument) {
        call_in_helpers(reinterpret_cast<void (*)(int)>(address), argument);
      },
      py::arg("address"), py::arg("argument"));
  // The last thing the interpreter does, before the system takes down the BLAS.
  Py_AtExit(stop_all_teams);
  module.def("kernel_name", [] { return std::string(kernels<double>().name); });
  module.def("available_kernels", &names_of_kernels);
  use_kernels_of_environment();
}

}  // namespace stagenets::python
