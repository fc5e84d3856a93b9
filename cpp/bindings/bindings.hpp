// Declarations shared by the parts of the binding. Bindings convert and check arguments; the core does the arithmetic.
#pragma once

#include <pybind11/eigen.h>
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>

#include "stagenets/input_view.hpp"
#include "stagenets/row_weights.hpp"
#include "stagenets/settings.hpp"
#include "stagenets/targets.hpp"
#include "stagenets/team.hpp"
#include "stagenets/weight_draws.hpp"

namespace stagenets::python {

namespace py = pybind11;

// No conversion: arrays of any other element type are refused.
template <class Scalar>
using InputArray = py::array_t<Scalar, 0>;
using IndexArray = py::array_t<std::int64_t, py::array::c_style>;

void register_blas(py::module_& module);
void register_draws(py::module_& module);
void register_fits(py::module_& module);
void register_given_units(py::module_& module);
void register_paused_fits(py::module_& module);
void register_networks(py::module_& module);
void register_readouts(py::module_& module);
void register_search(py::module_& module);
void register_settings(py::module_& module);
void register_targets(py::module_& module);

void check(bool condition, const std::string& message);

// Lets Ctrl-C end a fit; to be called by the thread that entered from Python, without the GIL.
void check_signals();

// Rows from Python: an array, or a matrix or array of SciPy in compressed sparse rows.
template <class Scalar>
struct InputRows {
  InputArray<Scalar> dense;
  py::array_t<Scalar, py::array::c_style> values;
  py::array_t<std::int32_t, py::array::c_style | py::array::forcecast> columns;
  py::array_t<std::int64_t, py::array::c_style | py::array::forcecast> starts;
  Index n_rows = 0, n_columns = 0;
  bool sparse = false;
};

// A view of a two-dimensional array, which must be contiguous in rows or in columns.
template <class Scalar>
InputView<Scalar> view_of(const InputArray<Scalar>& array) {
  if (array.ndim() != 2) throw py::value_error("X must have two dimensions");
  const bool row_major = (array.flags() & py::array::c_style) != 0;
  if (!row_major && (array.flags() & py::array::f_style) == 0) {
    throw py::value_error("X must be contiguous in rows or in columns");
  }
  return {array.data(), array.shape(0), array.shape(1), row_major};
}

// Checks that the entries of every row are in order and within the matrix.
void check_sparse_rows(Index rows, Index columns, Index entries, const std::int64_t* starts,
                       const std::int32_t* entry_columns);

template <class Scalar>
InputView<Scalar> view_of(const InputRows<Scalar>& rows) {
  if (!rows.sparse) return view_of(rows.dense);
  check(rows.starts.size() == rows.n_rows + 1 && rows.values.size() == rows.columns.size(),
        "X must be a valid matrix in compressed sparse rows");
  check_sparse_rows(rows.n_rows, rows.n_columns, rows.values.size(), rows.starts.data(),
                    rows.columns.data());
  return {nullptr,
          rows.n_rows,
          rows.n_columns,
          false,
          {rows.values.data(), rows.columns.data(), rows.starts.data()}};
}

using RowPair = std::pair<IndexArray, IndexArray>;
std::vector<Index> row_list(const IndexArray& numbers);
std::vector<Split> split_list(const std::vector<RowPair>& pairs);
// Checks that row numbers are below `rows`, and that splits have training and test rows of that kind.
void check_row_numbers(const std::string& name, const std::vector<Index>& numbers, Index rows);
void check_splits(const std::vector<Split>& splits, Index rows);
// Checks that there is one value per row; the message names the argument if there is not.
void check_rows(const std::string& name, Index found, Index rows);
// Checks that weights, if any, are one per row, finite, not negative and not all zero.
void check_weights(const std::optional<VectorD>& weights, Index rows);
// Checks that class weights, if any, suit the targets.
void check_class_weights(const ClassWeights& weights, const Targets& targets);
// Calls a Python function with (done, total), if there is one.
std::function<void(Index, Index)> progress_of(const py::object& progress);

// A read-only view of a vector or matrix that `owner` keeps alive.
template <class Value>
py::array as_array(const std::vector<Value>& values, const py::handle& owner) {
  py::array_t<Value> array(static_cast<py::ssize_t>(values.size()), values.data(), owner);
  array.attr("flags").attr("writeable") = false;
  return array;
}

// The draws requested by a Python caller: the name of a family, or (stage, count, inputs) -> (weights, biases).
WeightDraws weight_draws(const py::object& weight_init, double scale, Index fan_in,
                         std::uint64_t seed);

}  // namespace stagenets::python

namespace pybind11::detail {

// Arrays are not converted, so that the type of their elements decides which overload is called. Column numbers and
// starts of sparse rows may be of either type that SciPy uses.
template <class Scalar>
struct type_caster<stagenets::python::InputRows<Scalar>> {
  using Rows = stagenets::python::InputRows<Scalar>;
  PYBIND11_TYPE_CASTER(Rows, const_name("rows"));

  bool load(handle source, bool) {
    if (array_t<Scalar, 0>::check_(source)) {
      value.dense = reinterpret_borrow<array_t<Scalar, 0>>(source);
      return true;
    }
    if (!hasattr(source, "indptr") || !array_t<Scalar, 0>::check_(source.attr("data")))
      return false;
    value.sparse = true;
    value.values = decltype(value.values)(object(source.attr("data")));
    value.columns = decltype(value.columns)(object(source.attr("indices")));
    value.starts = decltype(value.starts)(object(source.attr("indptr")));
    const auto [rows, columns] = source.attr("shape").cast<std::pair<ssize_t, ssize_t>>();
    value.n_rows = rows;
    value.n_columns = columns;
    return true;
  }
};

}  // namespace pybind11::detail
