#include "residuum/search.hpp"

#include <atomic>
#include <deque>

#include "residuum/scores.hpp"
#include "residuum/stagewise_run.hpp"

namespace residuum {
namespace {

// Some rows of the inputs, column by column: the order that sparse maps read without copying.
template <class Scalar>
std::vector<Scalar> gather_rows(const TrainingData<Scalar>& data, const std::vector<Index>& rows) {
  const Index row_step = data.row_major ? data.columns : 1;
  const Index column_step = data.row_major ? 1 : data.rows;
  std::vector<Scalar> gathered;
  gathered.reserve(rows.size() * static_cast<std::size_t>(data.columns));
  for (Index j = 0; j < data.columns; ++j) {
    for (const Index row : rows) gathered.push_back(data.inputs[row * row_step + j * column_step]);
  }
  return gathered;
}

MatrixD gather_rows(const MatrixD& values, const std::vector<Index>& rows) {
  return MatrixD::NullaryExpr(static_cast<Index>(rows.size()), values.cols(),
                              [&](Index i, Index j) { return values(rows[i], j); });
}

// The training and test part of a split.
template <class Scalar>
struct SplitData {
  SplitData(const TrainingData<Scalar>& data, const Split& split, bool classification)
      : columns(data.columns),
        train_inputs(gather_rows(data, split.train)),
        test_inputs(gather_rows(data, split.test)),
        train_targets(gather_rows(data.targets, split.train)),
        test_targets(gather_rows(data.targets, split.test)),
        means(Eigen::RowVectorXd::Zero(train_targets.cols())) {
    if (classification) {
      for (const Index row : split.train) {
        Index label;
        data.targets.row(row).maxCoeff(&label);
        labels.push_back(label);
      }
    } else {
      means = train_targets.colwise().mean();
      train_targets.rowwise() -= means;
    }
  }

  Index rows() const { return train_targets.rows(); }
  TrainingData<Scalar> training(bool with_labels) const {
    return {train_inputs.data(),
            rows(),
            columns,
            false,
            train_targets,
            with_labels ? labels.data() : nullptr};
  }
  Inputs<Scalar> test() const {
    return Inputs<Scalar>(test_inputs.data(), test_targets.rows(), columns, false);
  }

  Index columns;
  std::vector<Scalar> train_inputs, test_inputs;
  MatrixD train_targets, test_targets;
  Eigen::RowVectorXd means;
  std::vector<Index> labels;
};

// Whether the first h units of a large network are the network of h units.
bool nested(const NetworkSettings& network) {
  if (network.stagewise.selection != Selection::random) return true;
  return network.architecture != Architecture::bls && !network.draws.custom;
}

// The number of path columns that make the network of a size.
Index path_columns(const NetworkFit& fit, Index size) {
  const Index features = fit.network.features ? fit.network.features->nodes.gain.size() : Index{0};
  const Index units = std::min(features + size, fit.fit.units_path.back());
  if (fit.fit.path.column_per_unit) return units;
  const auto& path = fit.fit.units_path;
  const auto at = std::lower_bound(path.begin(), path.end(), units) - path.begin();
  return fit.fit.path.ends[static_cast<std::size_t>(at)];
}

// How the networks along a path do on the test rows: all of them in one pass.
template <class Scalar>
HeldOut follow_path(const NetworkFit& fit, const SplitData<Scalar>& split,
                    const std::vector<Index>& sizes, const SearchSettings& settings, Team& team) {
  using RowMajor = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const ReadoutPath& path = fit.fit.path;
  const Index outputs = path.start.cols();
  MatrixD readouts(path.start.rows(), outputs + path.directions.cols());
  readouts << path.start, path.directions;
  RowMajor values(split.test_targets.rows(), readouts.cols());
  evaluate_network(fit.network, split.test(), readouts, values.data(), team);

  HeldOut held_out;
  MatrixD scores = values.leftCols(outputs).template cast<double>();
  scores.rowwise() += split.means;
  Index done = 0;
  for (const Index size : sizes) {
    const Index end = path_columns(fit, size);
    scores.noalias() += values.middleCols(outputs + done, end - done).template cast<double>() *
                        path.steps.middleRows(done, end - done);
    done = end;
    held_out.quality.push_back(
        prediction_score(split.test_targets, scores, settings.classification));
    if (settings.keep_scores) held_out.scores.push_back(scores);
  }
  return held_out;
}

NetworkSettings at_size(NetworkSettings network, Index size) {
  network.set_size(size);
  return network;
}

// A network by itself: one fit for all sizes, or one for each where that is not the same.
template <class Scalar>
HeldOut search_alone(const NetworkSettings& network, const SplitData<Scalar>& split,
                     const SearchSettings& settings, Team& team, const Team::Poll& poll) {
  const TrainingData<Scalar> data = split.training(settings.temperatures);
  NetworkSettings own = network;
  own.threads = 1;
  own.stagewise.loo_scores = settings.temperatures;
  if (nested(network) && !settings.temperatures) {
    own = at_size(own, settings.sizes.back());
    own.stagewise.path_units = settings.sizes;
    return follow_path(fit_network(data, own, nullptr, poll), split, settings.sizes, settings,
                       team);
  }
  HeldOut all;
  for (const Index size : settings.sizes) {
    const NetworkFit fit = fit_network(data, at_size(own, size), nullptr, poll);
    const HeldOut one = follow_path(fit, split, {size}, settings, team);
    all.quality.push_back(one.quality.front());
    if (settings.keep_scores) all.scores.push_back(one.scores.front());
    if (settings.temperatures) all.temperature.push_back(fit.temperature);
  }
  return all;
}

// Networks of one family on one split, stage by stage together. Pools that depend on nothing chosen so far
// are drawn and evaluated once for all that want them.
template <class Scalar>
class SharedPools {
 public:
  SharedPools(const SplitData<Scalar>& split, const Inputs<Scalar>& inputs,
              std::vector<NetworkSettings> networks, Team& team)
      : split_(split),
        inputs_(inputs),
        networks_(std::move(networks)),
        team_(team),
        blocks_(RowBlocks::for_one_thread(split.rows())) {
    for (const NetworkSettings& network : networks_) {
      members_.emplace_back(network, split.train_targets, inputs, blocks_, team);
      members_.back().units->share_draws_with(*members_.front().units);
    }
  }

  void run() {
    for (Index stage = 0;; ++stage) {
      std::vector<Member*> together;
      bool active = false;
      for (Member& member : members_) {
        if (member.run.finished()) continue;
        active = true;
        if (member.units->pool_is_common()) {
          together.push_back(&member);
        } else {
          advance({&member}, stage);
        }
      }
      if (!active) return;
      if (!together.empty()) advance(together, stage);
    }
  }

  HeldOut held_out(std::size_t network, const SearchSettings& settings) {
    Member& member = members_[network];
    std::vector<Index> units = settings.sizes;
    for (Index& count : units) count += member.units->features();
    return follow_path(
        network_of(member.run.trace(units), *member.units, inputs_, networks_[network]), split_,
        settings.sizes, settings, team_);
  }

 private:
  struct Member {
    Member(const NetworkSettings& network, const MatrixD& targets, const Inputs<Scalar>& inputs,
           const RowBlocks& blocks, Team& team)
        : stages(network.stages()),
          units(make_units(network, inputs, blocks, nullptr, team)),
          design(inputs, network.intercept, network.direct_links(), *units, nullptr, team.size()),
          run(design, blocks, targets, stages, team) {}

    StagewiseSettings stages;
    std::unique_ptr<CandidateSource<Scalar>> units;
    Design<Scalar> design;
    StagewiseRun<Scalar> run;
  };

  // One stage of members that have the same pool: the first one draws it.
  void advance(const std::vector<Member*>& members, Index stage) {
    Member& first = *members.front();
    first.units->draw(stage, first.run.plan(), team_);
    std::vector<const RidgeState<Scalar>*> states;
    for (Member* member : members) states.push_back(&member->run.state());
    const std::vector<Index> rows =
        rows_to_score(split_.rows(), first.stages.score_fraction, first.stages.seed, stage);
    const MatrixD scores = score_pool(first.design, states, rows, team_);
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->run.take(stage, scores.col(static_cast<Index>(i)), nullptr);
    }
  }

  const SplitData<Scalar>& split_;
  const Inputs<Scalar>& inputs_;
  std::vector<NetworkSettings> networks_;
  Team& team_;
  RowBlocks blocks_;
  std::deque<Member> members_;  // members refer to their own parts and must not move
};

// Some networks of a family on one split: what a thread does in one go.
struct Task {
  std::size_t family;
  std::size_t first, count;  // networks of the family
  std::size_t split;
  std::size_t result;  // row of the results that the first network has
};

bool shares_pools(const NetworkSettings& network, const SearchSettings& settings) {
  return network.stagewise.selection != Selection::random && !settings.temperatures;
}

// What a fit in progress holds: Q, the residual and a few d × d matrices.
template <class Scalar>
double bytes_of(const NetworkSettings& network, Index rows, Index inputs, Index outputs,
                Index size) {
  const double width = static_cast<double>(1 + inputs + at_size(network, size).stages().max_units +
                                           2 * network.stages().block + 16);
  return static_cast<double>(rows) * (width + static_cast<double>(outputs)) * sizeof(Scalar) +
         3 * width * width * sizeof(double);
}

struct Plan {
  std::vector<Task> tasks;
  int threads;
};

template <class Scalar>
Plan plan_tasks(const TrainingData<Scalar>& data, const SearchSettings& settings) {
  Index most_rows = 0;
  for (const Split& split : settings.splits) {
    most_rows = std::max(most_rows, static_cast<Index>(split.train.size()));
  }
  double largest = 0;
  for (const Family& family : settings.families) {
    largest = std::max(largest, bytes_of<Scalar>(family.front(), most_rows, data.columns,
                                                 data.targets.cols(), settings.sizes.back()));
  }
  Plan plan;
  const double fits = std::max(1.0, settings.max_memory / largest);
  plan.threads = static_cast<int>(std::min<double>(settings.threads, fits));
  const std::size_t together = static_cast<std::size_t>(fits / plan.threads);
  // Few large tasks share most; but every thread should have some.
  const std::size_t wanted = 2 * static_cast<std::size_t>(plan.threads);
  const std::size_t rounds = settings.families.size() * settings.splits.size();
  const std::size_t pieces = (wanted + rounds - 1) / rounds;
  std::size_t result = 0;
  for (std::size_t f = 0; f < settings.families.size(); ++f) {
    const Family& family = settings.families[f];
    std::size_t count = 1;
    if (shares_pools(family.front(), settings)) {
      count = std::min(together, (family.size() + pieces - 1) / pieces);
    }
    for (std::size_t first = 0; first < family.size(); first += count) {
      for (std::size_t split = 0; split < settings.splits.size(); ++split) {
        plan.tasks.push_back(
            {f, first, std::min(count, family.size() - first), split, result + first});
      }
    }
    result += family.size();
  }
  return plan;
}

}  // namespace

template <class Scalar>
SearchResults search_networks(const TrainingData<Scalar>& data, const SearchSettings& settings,
                              const SearchProgress& progress, const Team::Poll& poll) {
  const Plan plan = plan_tasks(data, settings);
  Index fits = 0;
  for (const Family& family : settings.families) fits += static_cast<Index>(family.size());
  SearchResults results(static_cast<std::size_t>(fits),
                        std::vector<HeldOut>(settings.splits.size()));
  std::vector<SplitData<Scalar>> splits;
  for (const Split& split : settings.splits) {
    splits.emplace_back(data, split, settings.classification);
  }
  const Index total = fits * static_cast<Index>(splits.size());
  std::atomic<Index> done{0};
  const auto poll_and_tell = [&] {
    if (poll) poll();
    if (progress) progress(done, total);
  };

  Team::run(plan.threads, poll_and_tell, [&](Team& all) {
    all.for_each(static_cast<Index>(plan.tasks.size()), [&](Index t, int worker) {
      const Task& task = plan.tasks[static_cast<std::size_t>(t)];
      const SplitData<Scalar>& split = splits[task.split];
      const auto first = settings.families[task.family].begin() + static_cast<Index>(task.first);
      const Team::Poll poll_team = [&all, worker] { all.poll(worker); };
      Team::run(1, poll_team, [&](Team& alone) {
        if (!shares_pools(*first, settings)) {
          results[task.result][task.split] =
              search_alone(*first, split, settings, alone, poll_team);
          return;
        }
        std::vector<NetworkSettings> networks;
        for (std::size_t i = 0; i < task.count; ++i) {
          networks.push_back(at_size(first[static_cast<Index>(i)], settings.sizes.back()));
        }
        const TrainingData<Scalar> rows = split.training(false);
        Inputs<Scalar> inputs(rows.inputs, rows.rows, rows.columns, rows.row_major);
        if (first->standardize) inputs.standardize(nullptr, alone);
        SharedPools<Scalar> shared(split, inputs, std::move(networks), alone);
        shared.run();
        for (std::size_t i = 0; i < task.count; ++i) {
          results[task.result + i][task.split] = shared.held_out(i, settings);
        }
      });
      done += static_cast<Index>(task.count);
    });
  });
  if (progress) progress(total, total);
  return results;
}

template SearchResults search_networks<float>(const TrainingData<float>&, const SearchSettings&,
                                              const SearchProgress&, const Team::Poll&);
template SearchResults search_networks<double>(const TrainingData<double>&, const SearchSettings&,
                                               const SearchProgress&, const Team::Poll&);

}  // namespace residuum
