#pragma once

// Limits and the trade-off between peak memory and step time, as every program asks for them. What
// is searched, who judges it and where a search begins is at the top of trade_off.cpp.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/cost/estimator.h"
#include "core/cost/node_flops.h"
#include "core/graph/graph.h"
#include "core/partition/pareto.h"
#include "core/partition/plan_what_if.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/simulation.h"

namespace jointer {

struct TradeOffOptions {
  // Whether tags are ignored, the solver and its rounding; budgets are min_cut's.
  PartitionOptions partition;
  // The plan that is there: its name, what it comes to, and whose pair that is.
  ParetoPoint now;
  // Of the graph as it was opened: presets heed it (core/policy/with_fsdp.h).
  MemoryPolicy fsdp = MemoryPolicy::none;
  // Somebody laid down a policy: limits keep to it, and do not begin with upstream's presets.
  bool has_policy = false;
  std::size_t most_budgets = ParetoRequest().most_budgets;
  // As ParetoRequest's.
  std::function<bool(const ParetoPoint&)> found;
};

class TradeOff {
 public:
  struct Estimates {
    std::span<const NodeCost> costs;  // one a node, by id; so are `flops`
    std::span<const Flops> flops;
    MemoryOptions memory;
    SimulationOptions simulation;
    TransferCosts transfers;
  };

  // `graph`: with the tags that count. Error (usage): as partition.
  static Result<std::unique_ptr<TradeOff>> make(const Graph& graph, const Estimates& estimates,
                                                TradeOffOptions options);
  TradeOff(const TradeOff&) = delete;
  TradeOff& operator=(const TradeOff&) = delete;

  // Another plan takes the place of the one that is there.
  void set_now(ParetoPoint now);

  // The points that no other is better than in both: budgets, presets, and the plan that is there.
  [[nodiscard]] Result<std::vector<ParetoPoint>> curve() const;
  // Upstream's presets with their figures: those that fit the graph.
  [[nodiscard]] const std::vector<ParetoPoint>& presets() const { return presets_; }

  [[nodiscard]] Result<Fit> fastest_within(std::int64_t peak_bytes) const;
  // At most so many percent slower than the plan that is there.
  [[nodiscard]] Result<Fit> smallest_within(double percent) const;
  [[nodiscard]] std::int64_t longest_step(double percent) const;

  // min_cut's plan at budget 1, and what every point but the plan that is there is judged by.
  [[nodiscard]] const Partition& partition() const { return partition_; }
  [[nodiscard]] const PlanWhatIf& what_if() const { return *what_if_; }

 private:
  TradeOff(Partition partition, TradeOffOptions options)
      : options_(std::move(options)), partition_(std::move(partition)) {}
  void find_presets(const Graph& graph);
  [[nodiscard]] ParetoRequest request(bool with_presets) const;

  TradeOffOptions options_;
  Partition partition_;
  std::unique_ptr<PlanWhatIf> what_if_;
  std::vector<ParetoPoint> presets_;
};

}  // namespace jointer
