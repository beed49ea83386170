#include "app/cli/commands/sac_answer.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/graph/tuple_call.h"
#include "core/partition/captured_figures.h"
#include "core/partition/partitioned_values.h"
#include "core/schedule/caching_allocator.h"
#include "core/schedule/memory_timeline.h"

namespace jointer::cli {
namespace {

class OperatorRows {
 public:
  explicit OperatorRows(const Graph& graph) : graph_(graph) {}

  // Adds a value. An element of a call's tuple counts toward the call's operator. `storage_bytes`:
  // the bytes that a saved value occupies.
  void add(NodeId id, PlanAction action, std::int64_t recompute_ns, std::int64_t storage_bytes) {
    const std::string target(graph_.target(graph_.node(tuple_call(graph_, id))));
    OperatorRow& row = rows_.try_emplace(target).first->second;
    row.target = target;
    switch (action) {
      case PlanAction::save:
        ++row.saved;
        row.saved_bytes += graph_.output_bytes(graph_.node(id));
        row.storage_bytes += storage_bytes;
        break;
      case PlanAction::offload:
        ++row.offloaded;
        row.offloaded_bytes += graph_.output_bytes(graph_.node(id));
        break;
      case PlanAction::recompute:
        ++row.recomputed;
        row.recompute_ns += recompute_ns;
        break;
    }
  }

  std::vector<OperatorRow> sorted() {
    std::vector<OperatorRow> rows;
    for (auto& [target, row] : rows_) rows.push_back(std::move(row));
    std::ranges::stable_sort(rows, std::ranges::greater(), [](const OperatorRow& row) {
      return std::tuple(row.storage_bytes + row.offloaded_bytes, row.saved_bytes, row.recompute_ns);
    });
    return rows;
  }

 private:
  const Graph& graph_;
  std::map<std::string, OperatorRow> rows_;
};

}  // namespace

std::string OperatorRow::policy() const {
  const int kinds = (saved > 0 ? 1 : 0) + (recomputed > 0 ? 1 : 0) + (offloaded > 0 ? 1 : 0);
  if (kinds != 1) return "mixed";
  return std::string(to_string(saved > 0        ? PlanAction::save
                               : recomputed > 0 ? PlanAction::recompute
                                                : PlanAction::offload));
}

std::int64_t SacAnswer::saved_bytes() const {
  std::int64_t sum = 0;
  for (const SavedValue& value : saved) sum += value.bytes;
  return sum;
}

std::size_t SacAnswer::offloaded_count() const {
  return static_cast<std::size_t>(
      std::ranges::count(saved, PlanAction::offload, &SavedValue::action));
}

Result<SacAnswer> describe_plan(const Graph& joint, const SavePlan& plan,
                                const std::vector<PlanReason>& reasons, const PlanWhatIf& what_if) {
  SacAnswer answer;
  JOINTER_TRY(const PlanWhatIf::Outcome outcome, what_if.evaluate(plan));
  answer.figures = outcome.figures;
  JOINTER_TRY(answer.reserved_bytes, what_if.reserved_bytes(plan));
  answer.saved_symbols = plan.saved_symbols.size();
  JOINTER_TRY(const std::vector<SaveCandidate> candidates, what_if.candidates(plan));
  OperatorRows rows(joint);
  std::map<NodeId, std::int64_t> storage_bytes;
  for (const SaveCandidate& each : candidates) {
    if (each.action == PlanAction::recompute) continue;
    rows.add(each.node, each.action, 0, each.bytes);
    if (each.action == PlanAction::save) storage_bytes.emplace(each.node, each.bytes);
  }
  for (const NodeId id : plan.saved) {
    const Node& n = joint.node(id);
    const bool is_offloaded = std::ranges::binary_search(plan.offloaded, id);
    SavedValue value{.node = id,
                     .bytes = joint.output_bytes(n),
                     .storage_bytes = n.kind == NodeKind::call && storage_bytes.contains(id)
                                          ? storage_bytes.at(id)
                                          : 0,
                     .action = is_offloaded ? PlanAction::offload : PlanAction::save,
                     .reason = reasons.empty() ? std::string() : reasons[id.index()].text};
    (n.kind == NodeKind::call ? answer.saved : answer.saved_inputs).push_back(std::move(value));
  }
  for (const PlanWhatIf::Outcome::Recomputed& each : outcome.recomputed)
    rows.add(each.node, PlanAction::recompute, each.ns, 0);
  answer.operators = rows.sorted();
  return answer;
}

SacAnswer describe_captured(const Graph& graph, std::span<const NodeCost> costs,
                            std::span<const SaveCandidate> decided, const MemoryOptions& memory) {
  SacAnswer answer;
  answer.figures = captured_figures(graph, costs, decided, memory);
  answer.reserved_bytes = reserved_peak_bytes(graph, memory);
  // For a pair, the index of each value among the forward's saved outputs.
  std::map<NodeId, std::size_t> place;
  if (graph.is_pair())
    for (const OutputEntry& entry : graph.part(PartId(0)).outputs) {
      if (entry.role != Role::saved || !entry.node) continue;
      place.emplace(entry.node, place.size());
      const Node& n = graph.node(entry.node);
      if (n.value.kind == Value::Kind::symbol)
        ++answer.saved_symbols;
      else if (n.kind != NodeKind::call)
        answer.saved_inputs.push_back(
            {.node = entry.node, .bytes = graph.output_bytes(n), .reason = {}});
    }
  OperatorRows rows(graph);
  for (const SaveCandidate& each : decided) {
    const Node& n = graph.node(each.node);
    if (each.action == PlanAction::recompute && !runs_again(graph, n)) continue;
    if (each.action != PlanAction::recompute)
      answer.saved.push_back({.node = each.node,
                              .bytes = graph.output_bytes(n),
                              .storage_bytes = each.action == PlanAction::save ? each.bytes : 0,
                              .action = each.action,
                              .reason = {}});
    rows.add(each.node, each.action, each.recompute_ns, each.bytes);
  }
  // Values that the forward returns for the backward are saved, regardless of the phase in which
  // they were captured.
  std::set<NodeId> listed;
  for (const SavedValue& value : answer.saved) listed.insert(value.node);
  for (const auto& [id, position] : place) {
    const Node& n = graph.node(id);
    const bool to_host{ended_transfer(graph, n)};
    if (n.kind != NodeKind::call || n.value.kind != Value::Kind::tensor || to_host ||
        listed.contains(id))
      continue;
    answer.saved.push_back({.node = id, .bytes = graph.output_bytes(n), .reason = {}});
    rows.add(id, PlanAction::save, 0, 0);
  }
  const auto place_of = [&](const SavedValue& value) {
    const auto found = place.find(value.node);
    return found == place.end() ? place.size() : found->second;
  };
  std::ranges::stable_sort(answer.saved, {}, place_of);
  answer.operators = rows.sorted();
  return answer;
}

}  // namespace jointer::cli
