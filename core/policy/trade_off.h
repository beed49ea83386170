#pragma once

// Finds plans within limits, and the trade-off between peak memory and step time. The search space,
// the evaluation and the starting points are described at the top of trade_off.cpp.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/cost/estimator.h"
#include "core/cost/node_flops.h"
#include "core/graph/graph.h"
#include "core/partition/hidden_shares.h"
#include "core/partition/order_bound.h"
#include "core/partition/pareto.h"
#include "core/partition/plan_what_if.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/simulation.h"

namespace jointer {

struct TradeOffOptions {
  // Options for tags, the solver and its rounding. Budgets are always solved by min_cut_partition.
  // Searches use the watcher on any thread; each search makes one call at a time.
  PartitionOptions partition;
  // The current plan, in its own order: its name, its estimates, and the partitioner of its pair.
  ParetoPoint now;
  // The step time to which percentages refer; 0: that of `now`.
  std::int64_t reference_ns = 0;
  // The fsdp_policy (core/policy/with_fsdp.h) of the graph as opened, which presets respect.
  MemoryPolicy fsdp = MemoryPolicy::none;
  // True if the user has set a policy. All searches then respect it, and those within a limit do
  // not start from upstream's presets.
  bool has_policy = false;
  bool offload = true;                              // plans may offload values
  LimitedMemory memory = LimitedMemory::allocated;  // the memory to which limits apply
  // Plans that earlier searches of the same graph found; the result is at least as good as these.
  std::vector<ParetoPoint> known = {};
  std::size_t max_budgets = ParetoRequest().max_budgets;
  std::size_t effort = ParetoRequest().effort;
  // See ParetoRequest.
  std::function<bool(const ParetoPoint&)> found;
};

class TradeOff {
 public:
  struct Estimates {
    std::span<const NodeCost> costs;  // indexed by node id, as are `flops`
    std::span<const Flops> flops;
    MemoryOptions memory;
    SimulationOptions simulation;
    TransferCosts transfers;
  };

  // `graph`: a joint graph or a flat training step, with the tags in effect. The spans in
  // `estimates` must outlive this object. Errors: same as partition.
  static Result<std::unique_ptr<TradeOff>> make(const Graph& graph, const Estimates& estimates,
                                                TradeOffOptions options);
  TradeOff(const TradeOff&) = delete;
  TradeOff& operator=(const TradeOff&) = delete;

  // Replaces the current plan.
  void set_now(ParetoPoint now);

  // In the functions below, `hidden` is the fraction of the collectives' time that an order found
  // later is expected to hide, by process group (ordered_search.cpp). It affects the choice of
  // plans; the estimates of the resulting points do not hide it, except those of Fit::found.
  // Thread-safe if the watcher is and `found` is not set.

  // The best plans found, from the lowest peak to the shortest step. Includes budgets, presets and
  // the current plan, except those that another plan improves on and, if TradeOffOptions::offload
  // is false, those that offload values without a tag or a policy that requires it.
  [[nodiscard]] Result<ParetoCurve> curve(const HiddenShares& hidden = {}) const;
  // Upstream's presets that fit the graph, with their estimates.
  [[nodiscard]] const std::vector<ParetoPoint>& presets() const { return presets_; }
  // Plans that earlier searches found, with their estimates.
  [[nodiscard]] const std::vector<ParetoPoint>& known() const { return options_.known; }

  // The fastest plan found with a peak of at most `peak_bytes`.
  [[nodiscard]] Result<Fit> fastest_within(std::int64_t peak_bytes,
                                           const HiddenShares& hidden = {}) const;
  // The plan with more of its values saved, or offloaded instead of recomputed, as long as that
  // makes the step shorter and the peak at most `bytes` higher. Keeps the plan if nothing helps or
  // the user has cancelled. Error (usage): the plan is not legal.
  [[nodiscard]] Result<ParetoPoint> with_more_saved(const SavePlan& plan, std::int64_t bytes,
                                                    const HiddenShares& hidden) const;
  // The plan with the lowest peak found whose step takes at most longest_step(percent).
  [[nodiscard]] Result<Fit> smallest_within(double percent) const;
  // The reference step time (see TradeOffOptions::reference_ns) plus `percent` percent.
  [[nodiscard]] std::int64_t longest_step(double percent) const;
  // The plan with the lowest peak found whose step takes at most `step_ns`, not counting the
  // fraction `hidden` of the collectives' time.
  [[nodiscard]] Result<Fit> smallest_within_step(std::int64_t step_ns,
                                                 const HiddenShares& hidden) const;
  // Lower bounds for any order of the graphs; weaker ones, possibly 0, if the watcher reports that
  // the user has cancelled. The result refers to this object. May run at the same time as a search
  // if the watcher's `is_cancelled` is thread-safe.
  [[nodiscard]] Result<OrderBound> order_bound() const;

  // The graph that results from a plan: the pair of a joint graph, or the flat training step with
  // the plan applied. Error (usage): same as emit_pair and step_of_plan.
  [[nodiscard]] Result<Graph> graph_of(const SavePlan& plan) const;
  // The partition with this plan and its reasons. `found_by`: see search_reasons. Error (usage):
  // same as emit_pair.
  [[nodiscard]] Result<Partition> partition_by(const SavePlan& plan,
                                               const std::string& found_by) const;
  // The partition that min_cut_partition makes at budget 1; for a flat training step, the graph and
  // the plan with which this object was made. All points except a current plan of another
  // partitioner are evaluated on its graph.
  [[nodiscard]] const Partition& partition() const { return partition_; }
  [[nodiscard]] const PlanWhatIf& what_if() const { return *what_if_; }
  // The memory to which limits apply.
  [[nodiscard]] LimitedMemory memory() const { return options_.memory; }
  // The user's policies, which the search respects, indexed by node id; may be empty.
  [[nodiscard]] const std::vector<MemoryPolicy>& policies() const { return policies_; }

 private:
  TradeOff(Partition partition, const Estimates& estimates, TradeOffOptions options)
      : options_(std::move(options)), estimates_(estimates), partition_(std::move(partition)) {}
  static Result<Partition> partition_of(const Graph& graph, const TradeOffOptions& options);
  void find_presets(const Graph& graph);
  [[nodiscard]] ParetoRequest request(bool with_presets, const HiddenShares& hidden) const;
  [[nodiscard]] std::unique_ptr<PlanWhatIf> what_if_for(std::span<const NodeCost> costs) const;
  template <class Search>
  auto with_hidden(const HiddenShares& hidden, const Search& search) const;
  Result<void> restore_figures(ParetoPoint& point) const;

  TradeOffOptions options_;
  Estimates estimates_;
  Partition partition_;
  std::unique_ptr<PlanWhatIf> what_if_;
  std::vector<ParetoPoint> presets_;
  std::vector<MemoryPolicy> policies_;  // the user's
};

}  // namespace jointer
