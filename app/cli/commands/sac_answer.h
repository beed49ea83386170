#pragma once

// The output of `jointer sac`: the saved and recomputed values, their cost, and the reasons.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/commands/options.h"
#include "app/cli/commands/plan_comparison.h"
#include "app/cli/commands/sac_target.h"
#include "app/cli/commands/sac_why.h"
#include "core/partition/pareto.h"
#include "core/partition/partition.h"
#include "core/partition/plan_what_if.h"
#include "core/policy/export.h"

namespace jointer::cli {

struct SavedValue {
  NodeId node;
  std::int64_t bytes = 0;  // of the node's tensors; views count in full, as in torch
  // The device memory that the value occupies; each storage counts once, for its first value. 0 for
  // an offloaded value.
  std::int64_t storage_bytes = 0;
  PlanAction action = PlanAction::save;
  std::string reason;
};

// The values of one operator that are saved or offloaded, and its calls that run twice. The sums
// over all rows are the totals of the plan.
struct OperatorRow {
  std::string target;
  std::size_t saved = 0, recomputed = 0, offloaded = 0;  // saved: on the device
  std::int64_t saved_bytes = 0, offloaded_bytes = 0;
  std::int64_t storage_bytes = 0;  // of saved values; each storage counts once, for its first value
  std::int64_t recompute_ns = 0;   // of recomputed values

  [[nodiscard]] std::string policy() const;  // save, recompute, offload, mixed
};

struct LimitAnswer {
  std::string kind;    // peak (bytes) or step (nanoseconds)
  std::string memory;  // the limited memory: allocated or reserved
  std::int64_t asked = 0, reached = 0;
  bool met = true;
  // A lower bound on the step time of any plan with the peak that was reached; 0 if not computed.
  std::int64_t bound_ns = 0;
  // True if the bound holds for any order; false if it holds only for the plans' own orders.
  bool is_of_any_order = false;
};

// The passes that reorder a plan's graph, and the graph's estimates without them.
struct OrderAnswer {
  std::string passes;
  Figures without;
};

struct SacAnswer {
  // Activations and graph inputs, in the order of the forward's outputs; for a flat training step,
  // in program order, and without inputs.
  std::vector<SavedValue> saved, saved_inputs;
  std::size_t saved_symbols = 0;
  std::vector<OperatorRow> operators;  // most storage first
  PlanFigures figures;                 // after reordering
  std::int64_t reserved_bytes = 0;     // by torch's caching allocator
  std::optional<OrderAnswer> order;
  ParetoCurve pareto;
  std::optional<LimitAnswer> limit;
  std::optional<TargetAnswer> target;
  std::vector<WhyAnswer> why;
  std::optional<PolicyExport> exported;
  std::optional<PlanComparison> against;  // another plan, compared with this one
  std::vector<std::string> notes;

  [[nodiscard]] std::int64_t saved_bytes() const;
  [[nodiscard]] std::size_t offloaded_count() const;
};

// Describes a plan. `reasons`: indexed by node, or empty. Error: `what_if` cannot evaluate the
// plan.
Result<SacAnswer> describe_plan(const Graph& joint, const SavePlan& plan,
                                const std::vector<PlanReason>& reasons, const PlanWhatIf& what_if);

// Describes the values that a pair's forward saves for backward, or that a flat training step's
// backward reads from its forward. `decided`: the graph's partitioned_values.
SacAnswer describe_captured(const Graph& graph, std::span<const NodeCost> costs,
                            std::span<const SaveCandidate> decided, const MemoryOptions& memory);

Json to_json(const SacAnswer& answer, const Graph& graph);
void print_tables(const SacAnswer& answer, const Graph& graph, std::size_t top);

}  // namespace jointer::cli
