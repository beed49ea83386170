#pragma once

// What other programs say of saving and recomputing, read as tags of a graph. Texts are foreign:
// nothing in them is run.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"
#include "core/policy/tagging.h"

namespace jointer {

enum class PolicySource : std::uint8_t {
  operator_list,    // Python that names operators, such as _get_default_save_ops
  selectors,        // `FQN_PATTERN::operator | ...`
  recipe,           // docs/recipe.md
  partitioner_log,  // what torch's partitioner says under AOT_PARTITIONER_DEBUG=1
};
std::string_view to_string(PolicySource source);

// What a text is taken for, by the text itself. Error (input): it is none of them, and what it is
// instead where that is known.
Result<PolicySource> policy_source(std::string_view text);

struct ImportedPolicy {
  PolicySource source = PolicySource::operator_list;
  std::string what;                // what was read: "operator list, 14 operators"
  std::vector<Edit> edits;         // to be applied in this order
  std::vector<std::string> notes;  // what was left out, and why: a sentence each
};

// An operator that no call of the graph calls is a note, not an error. `fsdp`: fsdp_policy of the
// graph as it was opened; without it, of this one. Error (input): it is none of them, or damaged;
// (usage): nothing of it is about this graph.
Result<ImportedPolicy> import_policy(const Graph& graph, std::string_view text, MemoryPolicy fsdp);
Result<ImportedPolicy> import_policy(const Graph& graph, std::string_view text);

// --- The single readers ---

// What stands where the policy `full` needs no selector.
inline constexpr std::string_view kNoSelectors =
    "# No selector is needed: the policy `full` saves this by itself.";

// Operators named in Python: `torch.ops.aten.mm.default`, `torch.ops.higher_order.flex_attention`,
// `(torch.ops, "deepep.dispatch.default")`, bare `aten.mm`; and the rules that export.h writes.
// Comments and texts of several lines are passed over. Error (input): it names no operator.
struct OperatorListText {
  SacOptions options;              // every_nth: only what the text says; of the whole forward
  bool names_torchs_list = false;  // it adds torch's own compute-intensive operators
};
Result<OperatorListText> read_operator_list(std::string_view text);

// The selectors, as select() takes them; none where the text is kNoSelectors. Error (input): one
// has no `::`, or no operator.
Result<std::vector<std::string>> read_selectors(std::string_view text);

// One partitioning of a log.
struct PartitionerLog {
  struct Value {
    std::string node;
    std::int64_t bytes = -1;  // -1 where the log does not say
  };
  std::vector<Value> saved;
  // Operators that the partitioner may not make again: "aten.mm". Printed logs only.
  std::vector<std::string> banned_operators;
  // Values that the knapsack decided about, as the payload has them.
  std::vector<std::string> candidates;
  std::vector<std::size_t> knapsack_saved, knapsack_recomputed;  // indices of them
  std::vector<std::int64_t> candidate_bytes;
  std::vector<double> candidate_runtimes;
};
// Of a log's lines or of a payload `min_cut_information`, in the order in which they come. Error
// (input): there is none, or its JSON is damaged (with the byte).
Result<std::vector<PartitionerLog>> read_partitioner_log(std::string_view text);

}  // namespace jointer
