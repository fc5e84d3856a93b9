#include "stagenets/target_score.hpp"

#include "bindings.hpp"

namespace stagenets::python {
namespace {

Targets from_labels(const IndexArray& labels, Index n_classes) {
  check(labels.ndim() == 1, "labels must have one dimension");
  check(n_classes >= 1, "n_classes must be at least 1");
  std::vector<Index> classes(labels.data(), labels.data() + labels.size());
  for (const Index label : classes) {
    check(label >= 0 && label < n_classes,
          "labels must be from 0 to n_classes - 1; got " + std::to_string(label));
  }
  return Targets::of_labels(classes, n_classes);
}

Targets from_matrix(Task task, MatrixD values) {
  check(values.cols() >= 1, "targets must have at least one column");
  check(values.allFinite(), "targets must be finite");
  return Targets(task, std::move(values));
}

}  // namespace

void register_targets(py::module_& module) {
  py::enum_<Task>(module, "Task")
      .value("ONE_LABEL", Task::one_label)
      .value("SEVERAL_LABELS", Task::several_labels)
      .value("NUMBERS", Task::numbers);
  py::class_<Targets>(module, "Targets")
      .def_static("labels", &from_labels, py::arg("labels"), py::arg("n_classes"))
      .def_static(
          "indicators",
          [](MatrixD values) { return from_matrix(Task::several_labels, std::move(values)); },
          py::arg("values"))
      .def_static(
          "numbers", [](MatrixD values) { return from_matrix(Task::numbers, std::move(values)); },
          py::arg("values"))
      .def_property_readonly("task", &Targets::task)
      .def_property_readonly("values", &Targets::values,
                             py::return_value_policy::reference_internal)
      .def_property_readonly("deviations",
                             [](const Targets& targets) -> VectorD {
                               const RowBlocks all(targets.rows(), targets.rows());
                               return targets.scaling(nullptr, all).scale.transpose();
                             })
      .def("score", [](const Targets& targets, const MatrixD& scores) {
        check_rows("scores", scores.rows(), targets.rows());
        check(scores.cols() == targets.outputs(), "scores must have one column per output");
        return TargetScore(targets, {}, RowBlocks(targets.rows(), targets.rows())).of(scores);
      });
}

}  // namespace stagenets::python
