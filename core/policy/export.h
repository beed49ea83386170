#pragma once

// A save plan as other programs take it: torchtitan's set of operators, its selectors, or a recipe.
// A list of operators cannot say every plan: what it leaves out is said with it. How the lists are
// found is at the top of operator_list.cpp and selector_list.cpp.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"
#include "core/partition/partition.h"
#include "core/partition/save_plan.h"
#include "core/schedule/memory_timeline.h"

namespace jointer {

enum class PolicyFormat : std::uint8_t {
  torchtitan,  // Python: a set of operators to paste where _get_default_save_ops makes its own
  selectors,   // `FQN_PATTERN::operator | ...`: full_recompute_save_ops of the policy `full`
  recipe,      // the tags of single nodes (docs/recipe.md)
};
std::string_view to_string(PolicyFormat format);
// Nothing if there is no format of that name.
std::optional<PolicyFormat> parse_policy_format(std::string_view name);

struct PolicyExport {
  std::string text;  // ends with a newline
  // What the plan keeps or makes again and the text does not say, a sentence each: where this is
  // empty, the text read back (import.h) tags the graph so that the partitioner keeps what the plan
  // keeps, and the peak is the plan's. Else the first one says what is solved under the text
  // instead. In Python they stand as comments at the end of the text too.
  std::vector<std::string> misfits;
};

// How the text is tried.
struct ReadBack {
  Partitioner partitioner = Partitioner::min_cut;  // that solves again, under the text
  MemoryOptions memory = {};
};

// `joint`: the graph that the plan is of (Partition::joint). `opened`: the graph as it was opened,
// with the tags that it had then, which the text is for; the two share their ids. Error (usage): it
// is a pair.
Result<PolicyExport> export_plan(const Graph& joint, const SavePlan& plan, PolicyFormat format,
                                 const Graph& opened, const ReadBack& read_back = {});

// The plan as tags: what it saves, and what that is a view of, is MUST_SAVE, what goes to the host
// MUST_CPU_OFFLOAD, and every other call that runs again in the backward MUST_RECOMPUTE; every
// other tag goes. All are of one region, so that torch changes none of them.
Result<Edit> tag_as_planned(const Graph& joint, const SavePlan& plan);

}  // namespace jointer
