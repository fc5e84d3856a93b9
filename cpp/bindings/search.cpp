#include "stagenets/search.hpp"

#include "bindings.hpp"
#include "gil.hpp"

namespace stagenets::python {

std::function<void(Index, Index)> progress_of(const py::object& progress) {
  if (progress.is_none()) return nullptr;
  const py::handle borrowed = progress;
  return [borrowed](Index done, Index total) {
    const WithGil gil;
    call_python(borrowed, done, total);
  };
}

namespace {

// judge(split, scores, temperatures) -> float, called by whichever thread has scores to judge. The scores are a
// read-only view that is valid until the call returns.
Judge judge_of(const py::object& judge) {
  if (judge.is_none()) return nullptr;
  const py::handle borrowed = judge;
  return [borrowed](const HeldOut& held_out) {
    const WithGil gil;
    const MatrixD& scores = held_out.scores;
    py::array_t<double> view({scores.rows(), scores.cols()},
                             {sizeof(double), sizeof(double) * scores.rows()}, scores.data(),
                             py::none());
    view.attr("flags").attr("writeable") = false;
    return call_python(borrowed, held_out.split, view, Eigen::RowVectorXd(held_out.temperatures))
        .template cast<double>();
  };
}

// networks × splits × sizes
py::array_t<double> as_array(const SearchResults& results, const SearchSettings& settings) {
  py::array_t<double> table({results.size(), settings.splits.size(), settings.sizes.size()});
  double* next = table.mutable_data();
  for (const auto& network : results) {
    for (const auto& split : network) next = std::copy(split.begin(), split.end(), next);
  }
  return table;
}

template <class Scalar>
py::array_t<double> search_from_python(const InputRows<Scalar>& x, const Targets& targets,
                                       const std::vector<Family>& families,
                                       const std::vector<Index>& sizes,
                                       const std::vector<RowPair>& splits,
                                       const std::optional<VectorD>& weights,
                                       const py::object& judge, bool links, double max_memory,
                                       int threads, const py::object& progress) {
  const InputView<Scalar> view = view_of(x);
  check_rows("targets", targets.rows(), view.rows);
  check(!sizes.empty() && sizes.front() >= 0 && std::is_sorted(sizes.begin(), sizes.end()),
        "sizes must be a rising list of numbers of units");
  check(!families.empty(), "there must be at least one network");
  for (const Family& family : families) {
    check(!family.empty(), "a family must not be empty");
    check_class_weights(family.front().class_weights, targets);
  }
  check_weights(weights, view.rows);
  check(!links || targets.task() != Task::numbers, "links are for labels");
  SearchSettings settings;
  settings.families = families;
  settings.sizes = sizes;
  settings.splits = split_list(splits);
  check(!splits.empty(), "there must be at least one split");
  check_splits(settings.splits, view.rows);
  settings.links = links;
  settings.max_memory = max_memory;
  settings.threads = threads;
  const SearchProgress tell = progress_of(progress);
  const TrainingData<Scalar> data{view, targets, weights ? weights->data() : nullptr};
  const Judge judges = judge_of(judge);
  SearchResults results;
  {
    const WithoutGil no_gil;
    results = search_networks(data, settings, judges, tell, check_signals);
  }
  return as_array(results, settings);
}

}  // namespace

void register_search(py::module_& module) {
  const auto define = [&](auto function) {
    module.def("search_networks", function, py::arg("x").noconvert(), py::arg("targets"),
               py::kw_only(), py::arg("families"), py::arg("sizes"), py::arg("splits"),
               py::arg("weights") = py::none(), py::arg("judge"), py::arg("links"),
               py::arg("max_memory"), py::arg("threads"), py::arg("progress"));
  };
  define(&search_from_python<double>);
  define(&search_from_python<float>);
}

}  // namespace stagenets::python
