#include "stagenets/search.hpp"

#include <atomic>
#include <deque>
#include <limits>

#include "stagenets/scores.hpp"
#include "stagenets/split_data.hpp"
#include "stagenets/stagewise_run.hpp"

namespace stagenets {
namespace {

using Quality = std::vector<double>;  // at every size

// Whether the first h units of a large network are the network of h units.
bool nested(const NetworkSettings& network) {
  if (!network.stages.one_shot()) return true;
  return network.architecture->one_shots_are_nested() && !network.draws.custom;
}

// Which of several labels a row has depends on the link; which one it has does not.
bool needs_links(const SearchSettings& search, const Targets& targets) {
  return search.links || targets.task() == Task::several_labels;
}

Wanted wanted_by(const SearchSettings& search, const Targets& targets) {
  Wanted wanted;
  wanted.path_links = needs_links(search, targets);
  wanted.sizes = search.sizes;
  wanted.only_sizes = true;
  wanted.alphas = search.alphas;
  wanted.tolerance = search.tolerance;
  return wanted;
}

// One-shot networks of a family by themselves: one fit for all sizes, or one for each size if that is not equivalent.
// By squared error, they share even that, since they differ only in the penalty.
template <class Scalar>
std::vector<Quality> judge_one_shots(const Family& family, const SplitData<Scalar>& split,
                                     const SearchSettings& search, const Judge& judge, Team& team,
                                     const Team::Poll& poll) {
  const NetworkSettings& first = family.front();
  const TrainingData<Scalar> data = split.training();
  const Index features = first.architecture->max_units() - first.architecture->size();
  const bool squared = first.stages.loss == Loss::squared;
  Wanted wanted = wanted_by(search, data.targets);
  wanted.only_sizes = squared;  // a finished fit by another loss describes all its stages
  const auto judge_fit = [&](const NetworkFit& fit, const std::vector<Index>& sizes) {
    std::vector<Link> links;
    for (std::size_t i = 0; wanted.path_links && i < sizes.size(); ++i) {
      const std::vector<Index>& path = fit.history.units_path;
      const Index units = std::min(features + sizes[i], path.back());
      const auto at = std::lower_bound(path.begin(), path.end(), units) - path.begin();
      links.push_back(fit.path_links[static_cast<std::size_t>(at)]);
    }
    return split.judge_path(fit, sizes, links, judge, team);
  };
  std::vector<double> alphas;
  for (const NetworkSettings& network : family) alphas.push_back(network.stages.alpha);
  const auto fit_all = [&](Index size, const TakeNetwork& take) {
    if (squared) {
      return fit_one_shot_networks(data, first.with_size(size), alphas, wanted, poll, take);
    }
    for (const NetworkSettings& network : family) {
      take(fit_network(data, network.with_size(size), wanted, nullptr, 1, poll));
    }
  };
  std::vector<Quality> all(family.size());
  const auto judge_all = [&](const std::vector<Index>& sizes) {
    auto quality = all.begin();
    fit_all(sizes.back(), [&](const NetworkFit& fit) {
      const Quality found = judge_fit(fit, sizes);
      quality->insert(quality->end(), found.begin(), found.end());
      ++quality;
    });
  };
  if (nested(first)) {
    judge_all(search.sizes);
    return all;
  }
  wanted.sizes.clear();
  for (const Index size : search.sizes) judge_all({size});
  return all;
}

// Networks of one family on one split, which go through their stages together. Pools that do not depend on the units
// chosen so far are drawn and evaluated once for all networks that need them.
template <class Scalar>
class SharedPools {
 public:
  SharedPools(const SplitData<Scalar>& split, std::vector<NetworkSettings> networks,
              const SearchSettings& search, Team& team)
      : split_(split),
        search_(search),
        networks_(std::move(networks)),
        data_(split.training()),
        wanted_(wanted_by(search, data_.targets)),
        input_blocks_(RowBlocks::for_one_thread(data_.inputs.rows)),
        blocks_(RowBlocks::for_one_thread(data_.design_rows())),
        weights_(row_weights_of(data_, networks_.front(), blocks_)),
        scaling_(data_.targets.scaling(weights_.root_data(), blocks_,
                                       center_for(networks_.front().stages.loss))),
        targets_(data_.targets.scaled(scaling_)),
        inputs_(data_.inputs),
        team_(team) {
    inputs_.learn_scales(networks_.front().scaling, weights_.input_root_data(), team);
    if (networks_.front().extrapolate) inputs_.extrapolate();
    for (const NetworkSettings& network : networks_) {
      members_.emplace_back(network, *this);
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

  // By its own penalty, or by each of those asked for.
  std::vector<Quality> judge(std::size_t network, const Judge& judge) {
    Member& member = members_[network];
    std::vector<Index> units = search_.sizes;
    for (Index& count : units) count += member.units->features();
    const auto judge_trace = [&](StagewiseFit trace) {
      const NetworkFit fit =
          network_of(std::move(trace), *member.units, inputs_, networks_[network], scaling_);
      return split_.judge_path(fit, search_.sizes, fit.path_links, judge, team_);
    };
    if (search_.alphas.empty()) return {judge_trace(member.run.trace(units))};
    std::vector<Quality> all;
    for (std::size_t i = 0; i < search_.alphas.size(); ++i) {
      std::optional<StagewiseFit> trace = member.run.trace_by(i, units);
      all.push_back(trace ? judge_trace(std::move(*trace))
                          : Quality(units.size(), -std::numeric_limits<double>::infinity()));
    }
    return all;
  }

 private:
  struct Member {
    Member(const NetworkSettings& network, SharedPools& shared)
        : stages(network.stages),
          units(network.architecture->units(TrainingRows<Scalar>{
              shared.inputs_, shared.input_blocks_, shared.weights_.input_root_data(),
              network.draws, network.stages, shared.team_, shared.data_.graph != nullptr})),
          design(shared.inputs_, network.intercept, network.architecture->links_inputs(), *units,
                 shared.weights_, shared.team_.size()),
          run(design, shared.blocks_, shared.targets_, stages, shared.wanted_, shared.team_) {}

    const StagewiseSettings& stages;
    std::unique_ptr<NetworkUnits<Scalar>> units;
    Design<Scalar> design;
    StagewiseRun<Scalar> run;
  };

  // One stage of members that share a pool: the first one draws it.
  void advance(const std::vector<Member*>& members, Index stage) {
    Member& first = *members.front();
    first.units->draw(stage, first.run.plan(), team_);
    std::vector<ScoredProblem<Scalar>> problems;
    for (Member* member : members) {
      problems.push_back({member->run.state(), member->run.considered()});
    }
    const ScoredRows rows = rows_to_score(blocks_.number(data_.design_rows()),
                                          first.stages.score_fraction, first.stages.seed, stage);
    std::vector<RankedPool> pools = rank_head(first.design, problems, rows, team_);
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->run.end_stage(stage, std::move(pools[i]), nullptr);
    }
  }

  const SplitData<Scalar>& split_;
  const SearchSettings& search_;
  const std::vector<NetworkSettings> networks_;
  const TrainingData<Scalar> data_;
  const Wanted wanted_;
  const RowBlocks input_blocks_, blocks_;  // of the inputs, and of the design
  const RowWeights weights_;
  const TargetScaling scaling_;
  const Targets targets_;
  Inputs<Scalar> inputs_;
  Team& team_;
  std::deque<Member> members_;  // members refer to their own parts and must not move
};

// Some networks of a family on one split: the unit of work of a thread.
struct Job {
  std::size_t family;
  std::size_t first, count;  // networks of the family
  std::size_t split;
  std::size_t result;  // row of the first network in the results
};

// Bytes that a job holds: for each network in progress, and shared by all of them.
struct JobBytes {
  double network = 0, common = 0;
};

template <class Scalar>
JobBytes bytes_of(const NetworkSettings& network, const Split& split,
                  const TrainingData<Scalar>& data, const SearchSettings& search) {
  const double inputs = static_cast<double>(data.inputs.columns);
  const double outputs = static_cast<double>(data.targets.outputs());
  const double stored =
      static_cast<double>(data.inputs.stored()) / static_cast<double>(data.inputs.rows);
  const double row_bytes =
      stored * (data.inputs.is_sparse() ? sizeof(Scalar) + sizeof(std::int32_t) : sizeof(Scalar));
  const Index unlabelled = data.inputs.rows - data.targets.rows();
  const double gathered = static_cast<double>(split.train.size()) + static_cast<double>(unlabelled);
  const double train = static_cast<double>(split.train.size()) +
                       static_cast<double>(data.graph ? data.graph->size() : 0);
  const double test = static_cast<double>(split.test.size());
  const Index most = network.architecture->with_size(search.sizes.back())->max_units();
  const double units = static_cast<double>(most);
  const double pool = static_cast<double>(network.stages.pool);
  const double terms = static_cast<double>(network.draws.most_terms());
  // With more inputs than rows, it is the rows that count, unless the primal form is asked for.
  const bool primal =
      network.stages.loss == Loss::squared && network.stages.solver == Solver::primal;
  const double fixed = primal ? 1 + inputs : std::min(1 + inputs, train);
  const double width =
      fixed + units + 2 * static_cast<double>(network.stages.largest_block(most)) + 16;
  const bool links = needs_links(search, data.targets);
  // The wide form has a triangle over the rows instead of Q and L, and paths of the height of all inputs.
  const bool sparse_links =
      data.inputs.is_sparse() && network.architecture->links_inputs() && !data.graph;
  const bool wide = starts_wide(sparse_links, 1 + data.inputs.columns,
                                static_cast<Index>(split.train.size()), network.stages);
  const double own = wide ? units : width;
  const double squares = wide ? train * train : 2 * width * width;
  const double path = wide ? 2 * (inputs + units) * units : 4 * width * width;
  JobBytes bytes;
  // Q, residual and leverages; L and matrices of its size; weights of the units.
  bytes.network = train * ((own + outputs) * sizeof(Scalar) + (links ? 8 : 0)) + squares * 8 +
                  terms * inputs * (2 * units + pool) * 8;
  // Gathered rows and targets, predictions of the test rows (and a copy for the judge), the path of one network.
  // In float64, pools are first evaluated on a single-precision copy of dense rows.
  const bool screened = sizeof(Scalar) == sizeof(double) && !data.inputs.is_sparse();
  const double copy = screened ? inputs * sizeof(float) : 0.0;
  bytes.common = gathered * (row_bytes + copy) + train * 3 * outputs * 8 +
                 test * ((outputs + own) * sizeof(Scalar) + row_bytes + 3 * outputs * 8) +
                 path * 8 + (links ? 2 * std::min(train, 4096.0) * own * 8 : 0);
  return bytes;
}

struct Plan {
  std::vector<Job> jobs;
  int threads;   // that take jobs
  int helpers;   // of each of these, where memory allows few jobs at a time
  double bytes;  // that a network by itself takes
};

template <class Scalar>
Plan plan_jobs(const TrainingData<Scalar>& data, const SearchSettings& search) {
  JobBytes largest;
  for (const Family& family : search.families) {
    for (const Split& split : search.splits) {
      const JobBytes bytes = bytes_of(family.front(), split, data, search);
      largest.network = std::max(largest.network, bytes.network);
      largest.common = std::max(largest.common, bytes.common);
    }
  }
  Plan plan;
  const double alone = largest.common + largest.network;
  plan.bytes = alone;
  plan.threads = static_cast<int>(
      std::clamp(search.max_memory / alone, 1.0, static_cast<double>(search.threads)));
  plan.helpers = search.threads / plan.threads - 1;
  const double share = search.max_memory / plan.threads - largest.common;
  const std::size_t together = static_cast<std::size_t>(std::max(1.0, share / largest.network));
  // Few large jobs share the most work, but every thread should have some jobs.
  const std::size_t wanted = 2 * static_cast<std::size_t>(plan.threads);
  const std::size_t rounds = search.families.size() * search.splits.size();
  const std::size_t pieces = (wanted + rounds - 1) / rounds;
  std::size_t result = 0;
  for (std::size_t f = 0; f < search.families.size(); ++f) {
    const Family& family = search.families[f];
    const std::size_t piece = (family.size() + pieces - 1) / pieces;
    const StagewiseSettings& stages = family.front().stages;
    // One-shot networks are fitted one after another; by other losses they share nothing.
    const std::size_t count = !stages.one_shot()             ? std::min(together, piece)
                              : stages.loss == Loss::squared ? piece
                                                             : 1;
    for (std::size_t first = 0; first < family.size(); first += count) {
      for (std::size_t split = 0; split < search.splits.size(); ++split) {
        plan.jobs.push_back(
            {f, first, std::min(count, family.size() - first), split, result + first});
      }
    }
    result += family.size();
  }
  return plan;
}

}  // namespace

template <class Scalar>
SearchResults search_networks(const TrainingData<Scalar>& data, const SearchSettings& search,
                              const Judge& judge, const SearchProgress& progress,
                              const Team::Poll& poll) {
  const Plan plan = plan_jobs(data, search);
  Index fits = 0;
  for (const Family& family : search.families) fits += static_cast<Index>(family.size());
  const std::size_t penalties = std::max<std::size_t>(1, search.alphas.size());
  SearchResults results(static_cast<std::size_t>(fits) * penalties,
                        std::vector<Quality>(search.splits.size()));
  const Index total = fits * static_cast<Index>(search.splits.size());
  std::atomic<Index> done{0};
  const auto poll_and_tell = [&] {
    if (poll) poll();
    if (progress) progress(done, total);
  };
  const auto run_job = [&](const Job& job, Team& team, const Team::Poll& poll_team) {
    const SplitData<Scalar> split(data, search.splits[job.split], job.split, search.measure);
    const auto first = search.families[job.family].begin() + static_cast<Index>(job.first);
    Family networks(first, first + static_cast<Index>(job.count));
    if (first->stages.one_shot()) {
      std::vector<Quality> found = judge_one_shots(networks, split, search, judge, team, poll_team);
      for (std::size_t i = 0; i < job.count; ++i) {
        results[job.result + i][job.split] = std::move(found[i]);
      }
      return;
    }
    for (NetworkSettings& network : networks) network = network.with_size(search.sizes.back());
    SharedPools<Scalar> shared(split, std::move(networks), search, team);
    shared.run();
    for (std::size_t i = 0; i < job.count; ++i) {
      std::vector<Quality> found = shared.judge(i, judge);
      for (std::size_t a = 0; a < penalties; ++a) {
        results[(job.result + i) * penalties + a][job.split] = std::move(found[a]);
      }
    }
  };

  const auto run_all = [&](Team& all) {
    all.for_each(static_cast<Index>(plan.jobs.size()), [&](Index t, int worker) {
      const Job& job = plan.jobs[static_cast<std::size_t>(t)];
      const Team::Poll poll_team = [&all, worker] { all.poll(worker); };
      Team::run(1 + plan.helpers, poll_team, [&](Team& own) { run_job(job, own, poll_team); });
      done += static_cast<Index>(job.count);
    });
  };
  with_memory("a search", plan.bytes, [&] { Team::run(plan.threads, poll_and_tell, run_all); });
  if (progress) progress(total, total);
  return results;
}

template SearchResults search_networks<float>(const TrainingData<float>&, const SearchSettings&,
                                              const Judge&, const SearchProgress&,
                                              const Team::Poll&);
template SearchResults search_networks<double>(const TrainingData<double>&, const SearchSettings&,
                                               const Judge&, const SearchProgress&,
                                               const Team::Poll&);

}  // namespace stagenets
