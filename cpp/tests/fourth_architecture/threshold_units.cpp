// A fourth architecture, to show what one takes: this file, threshold_network.py and a line of registration in each
// language. Its units are σ(s (x_j − t)): one input each, a steep slope, the threshold at a training value of the input.
#include <cmath>

#include "../../bindings/bindings.hpp"
#include "stagenets/architecture.hpp"
#include "stagenets/layer.hpp"
#include "stagenets/philox.hpp"

namespace stagenets {
namespace {

struct ThresholdArchitecture final : Architecture {
  explicit ThresholdArchitecture(Index units_wanted) : hidden(units_wanted) {}

  Index size() const override { return hidden; }
  std::shared_ptr<const Architecture> with_size(Index units) const override {
    return std::make_shared<ThresholdArchitecture>(units);
  }
  Index max_units() const override { return hidden; }
  bool links_inputs() const override { return true; }
  bool one_shots_are_nested() const override { return true; }
  std::unique_ptr<NetworkUnits<float>> units(const TrainingRows<float>& rows) const override;
  std::unique_ptr<NetworkUnits<double>> units(const TrainingRows<double>& rows) const override;

  Index hidden;
};

template <class Scalar>
class ThresholdUnits final : public NetworkUnits<Scalar> {
 public:
  ThresholdUnits(Index units, const TrainingRows<Scalar>& rows)
      : units_(units), inputs_(rows.inputs), stages_(rows.stages) {}

  Index max_units() const override { return units_; }
  StagePlan plan() const override {
    return plan_stage(stages_, units_ - list_.count(), list_.count());
  }
  void draw(Index stage, const StagePlan& plan, Team&) override {
    const Index p = inputs_.columns();
    pool_units_ = {MatrixD::Zero(p, plan.pool), VectorD(plan.pool), {}};
    for (Index j = 0; j < plan.pool; ++j) draw_one(stage, j);
    pool_.assign(pool_units_, inputs_);
  }
  void share_draws_with(const CandidateSource<Scalar>&) override {}
  bool pool_is_common() const override { return false; }
  void select(const std::vector<Index>& candidates) override {
    selected_units_ = pick(pool_units_, candidates);
    selected_.assign(selected_units_, inputs_);
  }
  void keep_selected() override { list_.append(selected_units_); }
  void gather_kept() override { kept_.assign(list_.joined(inputs_.columns()), inputs_); }
  Index count(Units units) const override { return layer(units).units(); }
  void evaluate(Units units, RowRange range, Scalar* out, Index leading, double* square_norms,
                Scratch<Scalar>& scratch) const override {
    const InputBlock<Scalar> x = inputs_.load(range, scratch.inputs);
    layer(units).evaluate(x, range.count, out, leading, square_norms);
  }
  Network network(Index count) const override {
    const UnitWeights kept = first_units(list_.joined(inputs_.columns()), count);
    return {{{inputs_.for_raw_inputs(kept), Activation::sigmoid, {}, {}}}, true};
  }

 private:
  void draw_one(Index stage, Index j) {
    PhiloxStream words(
        Philox(stages_.seed, static_cast<std::uint64_t>(j), static_cast<std::uint64_t>(stage), 0));
    const auto below = [&](Index count) {
      return static_cast<Index>(words.uniform() * static_cast<double>(count));
    };
    const Index input = below(inputs_.columns()), row = below(inputs_.rows());
    double threshold;
    inputs_.copy_columns({row, 1, nullptr}, input, 1, &threshold, 1);
    const double slope = 4 * std::pow(10.0, words.uniform()) * (words.uniform() < 0.5 ? -1 : 1);
    pool_units_.weights(input, j) = slope;
    pool_units_.biases[j] = -slope * threshold;
  }
  const Layer<Scalar>& layer(Units units) const {
    return units == Units::pool ? pool_ : units == Units::selected ? selected_ : kept_;
  }

  Index units_;
  const Inputs<Scalar>& inputs_;
  const StagewiseSettings& stages_;
  UnitWeights pool_units_, selected_units_;
  UnitList list_;
  Layer<Scalar> pool_, selected_, kept_;
};

std::unique_ptr<NetworkUnits<float>> ThresholdArchitecture::units(
    const TrainingRows<float>& rows) const {
  return std::make_unique<ThresholdUnits<float>>(hidden, rows);
}
std::unique_ptr<NetworkUnits<double>> ThresholdArchitecture::units(
    const TrainingRows<double>& rows) const {
  return std::make_unique<ThresholdUnits<double>>(hidden, rows);
}

}  // namespace

namespace python {

void register_threshold_units(py::module_& module) {
  py::class_<ThresholdArchitecture, Architecture, std::shared_ptr<ThresholdArchitecture>>(
      module, "ThresholdArchitecture")
      .def(py::init<Index>(), py::kw_only(), py::arg("n_hidden"));
}

}  // namespace python
}  // namespace stagenets
