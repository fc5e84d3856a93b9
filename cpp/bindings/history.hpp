// The history of a fit, as seen from Python.
#pragma once

#include "bindings.hpp"
#include "stagenets/stagewise.hpp"

namespace stagenets::python {

// A read-only view, of shape (entries, N), of a vector of arrays that `owner` keeps alive.
template <class Value, std::size_t N>
py::array as_table(const std::vector<std::array<Value, N>>& rows, const py::handle& owner) {
  const py::ssize_t count = static_cast<py::ssize_t>(rows.size());
  const Value* values = count > 0 ? rows.front().data() : nullptr;
  py::array_t<Value> table({count, static_cast<py::ssize_t>(N)}, values, owner);
  table.attr("flags").attr("writeable") = false;
  return table;
}

// Calls a Python function (stage, units, max_units, objective, residual_energy, validation_score) -> whether to
// continue, if there is one.
Observer observer_of(const py::object& callback);

}  // namespace stagenets::python
