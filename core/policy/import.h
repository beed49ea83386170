#pragma once

// Reads policies that other programs wrote and converts them to tags on a graph. The text is
// untrusted: it is parsed, never run.

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
  operator_set,     // Python that names operators, such as _get_default_save_ops
  selectors,        // `FQN_PATTERN::operator | ...`
  recipe,           // a recipe (docs/recipe.md)
  partitioner_log,  // output of torch's partitioner under AOT_PARTITIONER_DEBUG=1
};
std::string_view to_string(PolicySource source);

// Detects the kind of policy in a text. A text without the features of another kind counts as an
// operator set. Error (input): the text is empty, or has a known format that is not a policy; the
// message names it.
Result<PolicySource> policy_source(std::string_view text);

struct ImportedPolicy {
  PolicySource source = PolicySource::operator_set;
  std::string what;                // description of the text: "operator set, 14 operators"
  std::vector<Edit> edits;         // to apply in this order
  std::vector<std::string> notes;  // sentences about skipped parts and differences
};

// Reads a policy. An operator or selector that matches no call in the graph causes a note, not an
// error. `fsdp`: the fsdp_policy of the graph as opened; by default, that of `graph`. Error
// (input): the text is not a policy, or is damaged. Error (usage): the graph is a pair, nothing in
// the policy matches it, or the recipe does not fit it.
Result<ImportedPolicy> import_policy(const Graph& graph, std::string_view text, MemoryPolicy fsdp);
Result<ImportedPolicy> import_policy(const Graph& graph, std::string_view text);

// --- Readers of the individual formats ---

// The text that is exported if no selectors are needed. Exported files contain it, so it must not
// change.
inline constexpr std::string_view kNoSelectors =
    "# No selector is needed: the policy `full` saves this by itself.";

// The operators that a Python text names, such as `torch.ops.aten.mm.default`,
// `torch.ops.higher_order.flex_attention`, `(torch.ops, "deepep.dispatch.default")` or plain
// `aten.mm`, and the every-nth rules that export.h writes. Comments and triple-quoted strings are
// ignored. Error (input): the text names no operator, neither SAVE_OPS nor torch's own list occurs
// in it, and it has no rules; an operator follows `::`; or a rule is damaged.
struct OperatorSetText {
  SacOptions options;              // with only the text's rules, and for the whole forward
  bool names_torchs_list = false;  // the text includes torch's own compute-intensive operators
};
Result<OperatorSetText> read_operator_set(std::string_view text);

// The selectors in the form that select() expects; empty if the text is kNoSelectors. Error
// (input): a selector has no `::` or no operator, or contains a character that selectors cannot
// have.
Result<std::vector<std::string>> read_selectors(std::string_view text);

// One partitioning in a log.
struct PartitionerLog {
  struct Value {
    std::string node;
    std::int64_t bytes = -1;  // -1 if not in the log
  };
  std::vector<Value> saved;
  // Operators that the partitioner was not allowed to recompute, such as "aten.mm". Only logger
  // output contains them.
  std::vector<std::string> banned_operators;
  // The values that the knapsack decided about, in the order of the payload.
  std::vector<std::string> candidates;
  std::vector<std::size_t> knapsack_saved, knapsack_recomputed;  // indices into `candidates`
  std::vector<std::int64_t> candidate_bytes;
};
// Reads the partitionings in a log or in a `min_cut_information` payload, in the order of the text.
// Error (input): the text contains no partitioning, or a damaged one (for invalid JSON, the message
// gives the byte offset in the payload).
Result<std::vector<PartitionerLog>> read_partitioner_log(std::string_view text);

}  // namespace jointer
