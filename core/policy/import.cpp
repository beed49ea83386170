// Which kind of text it is, by what only that kind has: a recipe's `format`, the partitioner's own
// words, `::` without Python's; anything else is Python that names operators.

#include "core/policy/import.h"

#include <algorithm>
#include <unordered_set>

#include "core/base/units.h"
#include "core/edit/recipe.h"
#include "core/edit/refuse.h"
#include "core/edit/replay.h"
#include "core/edit/select.h"
#include "core/policy/export.h"
#include "core/policy/save_ops.h"
#include "core/policy/tag_edit.h"
#include "core/policy/tagged.h"

namespace jointer {
namespace {

constexpr std::size_t kTorchsOwn =
    11;  // the first of titan_save_ops: torch's compute-intensive ones

std::string counted(std::size_t count) {
  return format_count(static_cast<std::int64_t>(count));
}

// Selectors that select something; a note of each of the others.
std::vector<std::string> selecting(const Graph& graph, std::vector<std::string> selectors,
                                   std::vector<std::string>& notes) {
  std::erase_if(selectors, [&](const std::string& selector) {
    if (select(graph, selector)) return false;
    notes.push_back(fmt::format("No call of this graph is {}.", selector));
    return true;
  });
  return selectors;
}

// The edit, and the tags of FSDP after it.
Result<ImportedPolicy> with_fsdp(const Graph& graph, PolicySource source, Result<Edit> edit,
                                 std::vector<std::string> notes) {
  if (!edit) return tl::unexpected(std::move(edit).error());
  ImportedPolicy imported{.source = source, .edits = {}, .notes = std::move(notes)};
  Graph tagged = graph;
  JOINTER_CHECK(apply(tagged, *edit));
  imported.edits.push_back(*std::move(edit));
  if (auto again = fsdp_tags_again(graph, tagged)) imported.edits.push_back(*std::move(again));
  return imported;
}

Result<ImportedPolicy> import_operators(const Graph& graph, std::string_view text) {
  JOINTER_TRY(OperatorListText list, read_operator_list(text));
  std::vector<std::string> notes;
  const bool names_any = !list.options.save.empty() || !list.options.every_nth.empty();
  SacOptions& options = list.options;
  options.save = selecting(graph, std::move(options.save), notes);
  if (list.names_torchs_list) {
    notes.emplace_back("torch's own compute-intensive operators are saved too, as of torch 2.11.");
    for (const std::string_view op : titan_save_ops().first(kTorchsOwn))
      if (select(graph, op)) options.save.emplace_back(op);
  }
  std::erase_if(options.every_nth, [&](const EveryNth& rule) {
    if (select(graph, rule.op)) return false;
    notes.push_back(fmt::format("No call of this graph is {}.", rule.op));
    return true;
  });
  if (names_any && options.save.empty() && options.every_nth.empty())
    return refuse("no call of this graph is of an operator that the list names");
  return with_fsdp(graph, PolicySource::operator_list, apply_sac(graph, options), std::move(notes));
}

Result<ImportedPolicy> import_selectors(const Graph& graph, std::string_view text) {
  JOINTER_TRY(std::vector<std::string> selectors, read_selectors(text));
  std::vector<std::string> notes;
  selectors = selecting(graph, std::move(selectors), notes);
  if (selectors.empty()) return refuse("the selectors select nothing in this graph");
  return with_fsdp(graph, PolicySource::selectors, tag_with_memory_policy(graph, "full", selectors),
                   std::move(notes));
}

Result<ImportedPolicy> import_recipe(const Graph& graph, std::string_view text) {
  JOINTER_TRY(const Recipe recipe, read_recipe(text));
  Graph after = graph;
  JOINTER_TRY(Replay done, replay(after, recipe));
  return ImportedPolicy{.source = PolicySource::recipe, .edits = std::move(done.done), .notes = {}};
}

// How many of a partitioning's values are nodes of the graph.
std::size_t found_in(const Graph& graph, const PartitionerLog& log) {
  return static_cast<std::size_t>(
      std::count_if(log.saved.begin(), log.saved.end(),
                    [&](const PartitionerLog::Value& value) { return graph.find(value.node); }));
}

// What it saved, with a note of what differs.
SavePlan plan_of(const Graph& graph, const PartitionerLog& log, std::vector<std::string>& notes) {
  SavePlan plan;
  std::unordered_set<NodeId> seen;
  std::size_t missing = 0, other_size = 0;
  std::string first_missing, first_other;
  for (const PartitionerLog::Value& value : log.saved) {
    const NodeId id = graph.find(value.node);
    if (!id) {
      if (missing++ == 0) first_missing = value.node;
      continue;
    }
    if (!seen.insert(id).second) continue;
    const Node& n = graph.node(id);
    if (const Tensor* t = graph.single_tensor(n);
        value.bytes >= 0 && t != nullptr && graph.bytes(*t) != value.bytes && other_size++ == 0)
      first_other = fmt::format("{} takes {} here and {} in the log", value.node,
                                format_bytes(graph.bytes(*t)), format_bytes(value.bytes));
    (n.value.kind == Value::Kind::symbol ? plan.saved_symbols : plan.saved).push_back(id);
  }
  if (missing > 0)
    notes.push_back(
        fmt::format("{} of the {} values that the log saves are not in this graph, {} "
                    "first.",
                    counted(missing), counted(log.saved.size()), first_missing));
  if (other_size > 0)
    notes.push_back(fmt::format("{} values are of another size in the log: {}.",
                                counted(other_size), first_other));
  return plan;
}

Result<ImportedPolicy> import_log(const Graph& graph, std::string_view text) {
  JOINTER_TRY(const std::vector<PartitionerLog> logs, read_partitioner_log(text));
  // Of several graphs' the one that is most about this, of one graph's the last.
  const auto best = std::max_element(
      logs.rbegin(), logs.rend(), [&](const PartitionerLog& a, const PartitionerLog& b) {
        return found_in(graph, a) * b.saved.size() < found_in(graph, b) * a.saved.size();
      });
  if (found_in(graph, *best) == 0)
    return refuse(
        "the log is about another graph: none of the values that it saves is in this one");
  ImportedPolicy imported{.source = PolicySource::partitioner_log, .edits = {}, .notes = {}};
  if (logs.size() > 1)
    imported.notes.push_back(fmt::format("The log holds {} partitionings; number {} is taken.",
                                         counted(logs.size()),
                                         counted(static_cast<std::size_t>(logs.rend() - best))));
  const SavePlan plan = plan_of(graph, *best, imported.notes);
  JOINTER_TRY(Edit edit, tag_as_planned(graph, plan));
  edit.title = "Saved as torch's partitioner logged: " + edit.title;
  imported.edits.push_back(std::move(edit));
  return imported;
}

PolicySource source_of(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (has("\"jointer-recipe\"")) return PolicySource::recipe;
  if (has("Theoretical Per Activation Storage Sizes") || has("Min Cut Solution Saved Values") ||
      has("Ops banned from re-materialization"))
    return PolicySource::partitioner_log;
  if (has("::") && !has("torch.ops") && !has("torch._higher_order_ops"))
    return PolicySource::selectors;
  return PolicySource::operator_list;
}

}  // namespace

std::string_view to_string(PolicySource source) {
  switch (source) {
    case PolicySource::operator_list:
      return "operator list";
    case PolicySource::selectors:
      return "selectors";
    case PolicySource::recipe:
      return "recipe";
    case PolicySource::partitioner_log:
      break;
  }
  return "partitioner log";
}

Result<ImportedPolicy> import_policy(const Graph& graph, std::string_view text) {
  JOINTER_CHECK(check_taggable(graph));
  switch (source_of(text)) {
    case PolicySource::operator_list:
      return import_operators(graph, text);
    case PolicySource::selectors:
      return import_selectors(graph, text);
    case PolicySource::recipe:
      return import_recipe(graph, text);
    case PolicySource::partitioner_log:
      break;
  }
  return import_log(graph, text);
}

}  // namespace jointer
