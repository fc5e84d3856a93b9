#include "residuum/search.hpp"

#include "bindings.hpp"

namespace residuum::python {
namespace {

using Rows = py::array_t<std::int64_t, py::array::c_style>;

std::vector<Index> row_list(const Rows& rows) { return {rows.data(), rows.data() + rows.size()}; }

// A dict of arrays: quality (networks × splits × sizes) and, if asked for, temperature likewise and
// scores, a list of lists of arrays (sizes × test rows × outputs).
py::dict as_dict(const SearchResults& results, const SearchSettings& settings) {
  const py::ssize_t networks = static_cast<py::ssize_t>(results.size());
  const py::ssize_t splits = static_cast<py::ssize_t>(settings.splits.size());
  const py::ssize_t sizes = static_cast<py::ssize_t>(settings.sizes.size());
  const auto table = [&](std::vector<double> HeldOut::* member) {
    py::array_t<double> values({networks, splits, sizes});
    double* next = values.mutable_data();
    for (const auto& row : results) {
      for (const HeldOut& held_out : row) {
        next = std::copy((held_out.*member).begin(), (held_out.*member).end(), next);
      }
    }
    return values;
  };
  py::dict result;
  result["quality"] = table(&HeldOut::quality);
  if (settings.temperatures) result["temperature"] = table(&HeldOut::temperature);
  if (settings.keep_scores) {
    py::list scores;
    for (const auto& row : results) {
      py::list of_network;
      for (const HeldOut& held_out : row) of_network.append(py::cast(held_out.scores));
      scores.append(of_network);
    }
    result["scores"] = scores;
  }
  return result;
}

template <class Scalar>
py::dict search_from_python(const InputArray<Scalar>& x, const MatrixD& targets,
                            const std::vector<Family>& families, const std::vector<Index>& sizes,
                            const std::vector<std::pair<Rows, Rows>>& splits, bool classification,
                            bool keep_scores, bool temperatures, double max_memory, int threads,
                            const py::object& progress) {
  const ArrayView<Scalar> view(x);
  SearchSettings settings;
  settings.families = families;
  settings.sizes = sizes;
  for (const auto& [train, test] : splits) {
    settings.splits.push_back({row_list(train), row_list(test)});
  }
  settings.classification = classification;
  settings.keep_scores = keep_scores;
  settings.temperatures = temperatures;
  settings.max_memory = max_memory;
  settings.threads = threads;
  const TrainingData<Scalar> data{view.data, view.rows, view.columns, view.row_major, targets};
  SearchProgress tell;
  if (!progress.is_none()) {
    const py::handle borrowed = progress;
    tell = [borrowed](Index done, Index total) {
      const py::gil_scoped_acquire gil;
      borrowed(done, total);
    };
  }
  SearchResults results;
  {
    const py::gil_scoped_release no_gil;
    results = search_networks(data, settings, tell, check_signals);
  }
  return as_dict(results, settings);
}

}  // namespace

void register_search(py::module_& module) {
  const auto define = [&](auto function) {
    module.def("search_networks", function, py::arg("x").noconvert(), py::arg("targets"),
               py::kw_only(), py::arg("families"), py::arg("sizes"), py::arg("splits"),
               py::arg("classification"), py::arg("keep_scores"), py::arg("temperatures"),
               py::arg("max_memory"), py::arg("threads"), py::arg("progress"));
  };
  define(&search_from_python<double>);
  define(&search_from_python<float>);
}

}  // namespace residuum::python
