// Reads a policy that another program wrote and converts it to tags on a graph.

#include "core/policy/import.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/edit/recipe.h"
#include "core/edit/refuse.h"
#include "core/edit/replay.h"
#include "core/edit/select.h"
#include "core/partition/joint_parts.h"
#include "core/policy/decider.h"
#include "core/policy/export.h"
#include "core/policy/save_ops.h"
#include "core/policy/tag_edit.h"
#include "core/policy/with_fsdp.h"

namespace jointer {
namespace {

// The number of torch's own compute-intensive operators, which come first in titan_save_ops.
constexpr std::size_t kTorchsOwn = 11;

// Removes selectors that select nothing, with a note for each.
std::vector<std::string> selecting(const Graph& graph, std::vector<std::string> selectors,
                                   std::vector<std::string>& notes) {
  std::erase_if(selectors, [&](const std::string& selector) {
    if (select(graph, selector)) return false;
    notes.push_back(fmt::format("No call in this graph matches {}.", selector));
    return true;
  });
  return selectors;
}

// For example, "operator set, 14 operators".
std::string what_is_read(PolicySource source, std::size_t count, std::string_view things) {
  if (count == 0) return fmt::format("{}, no {}", to_string(source), things);
  if (count == 1 && things.ends_with('s')) things.remove_suffix(1);
  return fmt::format("{}, {} {}", to_string(source), format_count(count), things);
}

Result<ImportedPolicy> imported(PolicySource source, std::string what, Result<Edit> edit,
                                std::vector<std::string> notes) {
  if (!edit) return tl::unexpected(std::move(edit).error());
  return ImportedPolicy{.source = source,
                        .what = std::move(what),
                        .edits = {*std::move(edit)},
                        .notes = std::move(notes)};
}

Result<ImportedPolicy> import_operators(const Graph& graph, std::string_view text,
                                        MemoryPolicy fsdp) {
  JOINTER_TRY(OperatorSetText list, read_operator_set(text));
  std::vector<std::string> notes;
  const std::string what =
      what_is_read(PolicySource::operator_set,
                   list.options.save.size() + list.options.every_nth.size(), "operators");
  const bool names_any = !list.options.save.empty() || !list.options.every_nth.empty();
  SacOptions& options = list.options;
  options.save = selecting(graph, std::move(options.save), notes);
  if (list.names_torchs_list) {
    notes.emplace_back(
        "torch's own compute-intensive operators are saved too, as listed in torch 2.11.");
    for (const std::string_view op : titan_save_ops().first(kTorchsOwn))
      if (select(graph, op)) options.save.emplace_back(op);
  }
  std::erase_if(options.every_nth, [&](const EveryNth& rule) {
    if (select(graph, rule.op)) return false;
    notes.push_back(fmt::format("No call in this graph matches {}.", rule.op));
    return true;
  });
  if (names_any && options.save.empty() && options.every_nth.empty())
    return refuse("no call in this graph matches any operator of the set");
  return imported(PolicySource::operator_set, what, apply_sac_with_fsdp(graph, options, fsdp),
                  std::move(notes));
}

Result<ImportedPolicy> import_selectors(const Graph& graph, std::string_view text,
                                        MemoryPolicy fsdp) {
  JOINTER_TRY(std::vector<std::string> selectors, read_selectors(text));
  std::vector<std::string> notes;
  const std::size_t named = selectors.size();
  selectors = selecting(graph, std::move(selectors), notes);
  if (selectors.empty() && named > 0)
    return refuse("no call in this graph matches any of the selectors");
  return imported(PolicySource::selectors,
                  what_is_read(PolicySource::selectors, named, "selectors"),
                  memory_policy_with_fsdp(graph, "full", selectors, fsdp), std::move(notes));
}

Result<ImportedPolicy> import_recipe(const Graph& graph, std::string_view text) {
  JOINTER_TRY(const Recipe recipe, read_recipe(text));
  Graph after = graph;
  JOINTER_TRY(Replay done, replay(after, recipe));
  return ImportedPolicy{.source = PolicySource::recipe,
                        .what = what_is_read(PolicySource::recipe, done.done.size(), "edits"),
                        .edits = std::move(done.done),
                        .notes = {}};
}

// The number of the log's saved values that are nodes of the graph.
std::size_t found_in(const Graph& graph, const PartitionerLog& log) {
  return static_cast<std::size_t>(
      std::count_if(log.saved.begin(), log.saved.end(),
                    [&](const PartitionerLog::Value& value) { return graph.find(value.node); }));
}

// The plan that the log describes. Adds notes about saved values that are missing from the graph or
// have a different size there.
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
      first_other = fmt::format("{} has {} here and {} in the log", value.node,
                                format_bytes(graph.bytes(*t)), format_bytes(value.bytes));
    (is_symbol(graph, n) ? plan.saved_symbols : plan.saved).push_back(id);
  }
  if (missing > 0)
    notes.push_back(fmt::format("{} of the {} that the log saves {}.", format_count(missing),
                                counted(log.saved.size(), "value"),
                                missing == 1
                                    ? "is not in this graph: " + first_missing
                                    : "are not in this graph, the first of them " + first_missing));
  if (other_size > 0)
    notes.push_back(fmt::format(
        "{} of a different size in the log: {}.",
        other_size == 1 ? std::string("1 value is") : format_count(other_size) + " values are",
        first_other));
  return plan;
}

Result<ImportedPolicy> import_log(const Graph& graph, std::string_view text) {
  JOINTER_TRY(const std::vector<PartitionerLog> logs, read_partitioner_log(text));
  // If the log covers several graphs, use the partitioning with the largest share of its values in
  // this graph and, among equals, the last. One that saves nothing has no share.
  const auto size = [](const PartitionerLog& log) {
    return std::max<std::size_t>(log.saved.size(), 1);
  };
  const auto best = std::max_element(
      logs.rbegin(), logs.rend(), [&](const PartitionerLog& a, const PartitionerLog& b) {
        return found_in(graph, a) * size(b) < found_in(graph, b) * size(a);
      });
  if (found_in(graph, *best) == 0)
    return refuse("the log is for another graph: none of its saved values is in this graph");
  ImportedPolicy read{
      .source = PolicySource::partitioner_log,
      .what = what_is_read(PolicySource::partitioner_log, best->saved.size(), "saved values"),
      .edits = {},
      .notes = {}};
  if (logs.size() > 1)
    read.notes.push_back(fmt::format("The log contains {} partitionings; number {} is used.",
                                     format_count(logs.size()), format_count(logs.rend() - best)));
  const SavePlan plan = plan_of(graph, *best, read.notes);
  JOINTER_TRY(Edit edit, tag_as_planned(graph, plan));
  edit.title = "Saved as torch's partitioner logged: " + edit.title;
  edit.by = kImport;
  read.edits.push_back(std::move(edit));
  return read;
}

}  // namespace

std::string_view to_string(PolicySource source) {
  static constexpr std::array<std::string_view, 4> kNames{"operator set", "selectors", "recipe",
                                                          "partitioner log"};
  return kNames[static_cast<std::size_t>(source)];
}

Result<ImportedPolicy> import_policy(const Graph& graph, std::string_view text) {
  return import_policy(graph, text, fsdp_policy(graph));
}

Result<ImportedPolicy> import_policy(const Graph& graph, std::string_view text, MemoryPolicy fsdp) {
  JOINTER_CHECK(check_taggable(graph));
  JOINTER_TRY(const PolicySource source, policy_source(text));
  switch (source) {
    case PolicySource::operator_set:
      return import_operators(graph, text, fsdp);
    case PolicySource::selectors:
      return import_selectors(graph, text, fsdp);
    case PolicySource::recipe:
      return import_recipe(graph, text);
    case PolicySource::partitioner_log:
      break;
  }
  return import_log(graph, text);
}

}  // namespace jointer
