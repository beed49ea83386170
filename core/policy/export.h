#pragma once

// Exports a save plan for other programs: as an operator set or as selectors for torchtitan, or
// as a recipe. Operators and selectors cannot express every plan, so each export reports the
// differences. The algorithms are at the top of operator_list.cpp and selector_list.cpp.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/cost/estimator.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"
#include "core/partition/partition.h"
#include "core/partition/save_plan.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/simulation.h"

namespace jointer {

enum class PolicyFormat : std::uint8_t {
  torchtitan,  // Python: an operator set to paste into _get_default_save_ops
  selectors,   // `FQN_PATTERN::operator | ...`: full_recompute_save_ops of the policy `full`
  recipe,      // the tags of individual nodes (docs/recipe.md)
};
std::string_view to_string(PolicyFormat format);
// Returns nullopt if no format has that name.
std::optional<PolicyFormat> parse_policy_format(std::string_view name);

// The effect of a plan on the graph.
struct PlanEffect {
  std::size_t activations = 0;  // number of saved activations
  std::int64_t peak_bytes = 0;
  std::int64_t step_ns = 0;  // 0: unknown
};

// The difference between a plan and the plan that a text produces.
struct TextEffect {
  PlanEffect of_plan, of_text;
  bool saves_others = false;  // the text and the plan save different values
};

struct PolicyExport {
  std::string text;  // ends with a newline
  // False if the text produces no plan, or a plan that differs from the exported one. True if this
  // was not checked.
  bool gives_plan = true;
  std::optional<TextEffect> effect = std::nullopt;  // set if the text produces a different plan
  // The differences between the plan and the text, one sentence each. If there are none, importing
  // the text (import.h) tags the graph so that the partitioner (in a flat training step,
  // apply_step_tags) saves what the plan saves, with the same peak. If the results were compared
  // and differ, the first sentence says how. Python text also has the differences as comments at
  // the end.
  std::vector<std::string> differences;
};

// Options for checking the text by reading it back.
struct ReadBack {
  Partitioner partitioner = Partitioner::min_cut;  // partitions the graph that the text tags
  MemoryOptions memory = {};
  // The peak of a flat training step under the plan. If not set, the results for a flat training
  // step are not compared.
  std::optional<std::int64_t> step_peak = std::nullopt;
  // The costs of the joint graph's nodes, indexed by id; must outlive the call. If given, the
  // effects have step times, and an operator set is also chosen by its step time. A different step
  // time alone is not a difference.
  std::span<const NodeCost> costs = {};
  SimulationOptions simulation = {};
  TransferCosts transfers = {};
};

// Exports a plan. `joint`: the graph of the plan (Partition::joint). `opened`: the graph as opened,
// with its original tags, to which the text will be applied. Both have the same ids. Error (usage):
// the graph is a pair; for a recipe, also same as tag_as_planned.
Result<PolicyExport> export_plan(const Graph& joint, const SavePlan& plan, PolicyFormat format,
                                 const Graph& opened, const ReadBack& read_back = {});

// Tags the graph according to the plan: MUST_SAVE for saved values and, in a joint graph, the
// values that they are views of; MUST_CPU_OFFLOAD for offloaded values; MUST_RECOMPUTE for all
// other calls that are recomputed. Removes all other tags. All tags are in one region, so that
// torch changes none of them. Error (usage): the graph is a pair; for a flat training step, also
// same as PairOrders::order.
Result<Edit> tag_as_planned(const Graph& joint, const SavePlan& plan);

}  // namespace jointer
