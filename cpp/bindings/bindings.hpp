// What the parts of the binding share. Bindings convert and check arguments; arithmetic lives in the
// core.
#pragma once

#include <pybind11/eigen.h>
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "residuum/inputs.hpp"
#include "residuum/weight_draws.hpp"

namespace residuum::python {

namespace py = pybind11;

// No conversion: what does not have this element type already is refused.
template <class Scalar>
using InputArray = py::array_t<Scalar, 0>;

void register_blas(py::module_& module);
void register_draws(py::module_& module);
void register_fits(py::module_& module);
void register_networks(py::module_& module);
void register_search(py::module_& module);

// Lets Ctrl-C end a fit; to be called by the thread that entered from Python, without the GIL.
void check_signals();

// A view of a two-dimensional array, which must be contiguous one way or the other.
template <class Scalar>
struct ArrayView {
  const Scalar* data;
  Index rows, columns;
  bool row_major;

  explicit ArrayView(const InputArray<Scalar>& array) {
    if (array.ndim() != 2) throw py::value_error("X must have two dimensions");
    row_major = (array.flags() & py::array::c_style) != 0;
    if (!row_major && (array.flags() & py::array::f_style) == 0) {
      throw py::value_error("X must be contiguous in rows or in columns");
    }
    data = array.data();
    rows = array.shape(0);
    columns = array.shape(1);
  }
};

// The draws a Python caller asked for: a family by name, or (stage, count, inputs) -> (weights, biases).
WeightDraws weight_draws(const py::object& weight_init, double scale, Index fan_in,
                         std::uint64_t seed);

}  // namespace residuum::python
