#pragma once

// Finds plans for `jointer sac` within a limit, or by a list of changes.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/cli/commands/sac_command.h"
#include "core/partition/partition.h"
#include "core/policy/decider.h"

namespace jointer::cli {

// The name of the current plan among the points of a trade-off.
inline constexpr const char* kThisPlan = "this plan";

// A plan, the object that evaluates it, and the reasons for its decisions.
struct Solved {
  Partition partition;
  const PlanWhatIf* what_if = nullptr;
  Partitioner partitioner = Partitioner::min_cut;
  Decider decider = Decider::partitioner;  // decides about values without a tag
  std::map<NodeId, Decider> changed_by;    // those whose decision was changed afterwards
  std::optional<double> budget;            // torch's budget that resulted in the plan
  std::string found_as;                    // "the preset full"; empty if the plan was searched
  std::vector<MemoryPolicy> policies;  // in effect, indexed by node; may be empty after a search
  std::span<const NodeCost> costs;
  TransferCosts transfers;
  std::string order;  // the passes that reorder the plan's graph; may be empty
  // The plan of the pair that was opened, with its estimates; std::nullopt without a pair, or
  // if a partitioner decides from scratch. A plan found for a limit is never worse than this one,
  // unless --no-offload rules this one out.
  std::optional<ParetoPoint> own = std::nullopt;
  bool is_own = false;  // true if the plan is `own`

  // True if the result is the pair as it was opened.
  [[nodiscard]] bool is_as_opened() const { return is_own && order.empty(); }
};

// `has_target`: true if the best plan is compared with a list of changes. --no-offload then applies
// only to the list.
TradeOffOptions trade_off_options(const SacCommand& options, ParetoPoint now, MemoryPolicy fsdp,
                                  bool has_target);
// Changes the plan to meet the limit in the options: the budget's peak, or the slowdown.
// Error (usage): the search fails.
Result<LimitAnswer> meet_limit(const SacCommand& options, const Budget& budget,
                               const TradeOff& trade_off, Solved& solved);
// Replaces the plan. `why` becomes the reason for each call whose decision changes, and `by` the one
// who decided. Error (usage): one of the plans is not legal.
Result<void> replace_plan(Solved& solved, const SavePlan& plan, const std::string& why, Decider by);
// Changes the plan by the shortest list of changes found that meets a target, and finds an order
// for it unless the options exclude orders. Error (usage): find_changes or emit_pair fails.
Result<TargetAnswer> meet_target(const SacCommand& options, PlanTarget target, Solved& solved);
// Adds the best plan for the target without the target's conditions. `partitioner`: that of the
// list's pair. Returns how well the list meets the limit.
Result<LimitAnswer> compare_with_best(const SacCommand& options, const TradeOff& trade_off,
                                      Partitioner partitioner, TargetAnswer& answer);
// Returns the trade-off. Includes reordered plans unless the options exclude them.
Result<ParetoCurve> curve_of(const SacCommand& options, const TradeOff& trade_off);
// The plan and its estimates, for comparison with other plans. Error: same as PlanWhatIf::figures.
Result<ParetoPoint> point_of(const Solved& solved);

}  // namespace jointer::cli
