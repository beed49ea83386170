#include "core/partition/plan_rows.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/graph/recomputed_name.h"
#include "core/graph/tuple_call.h"
#include "core/partition/partitioned_values.h"
#include "core/partition/plan_state.h"

namespace jointer {
namespace {

// The call that a recomputed call of a flat training step repeats; none if unknown.
NodeId first_run(const Graph& step, const Graph& tagged, const Node& again) {
  if (again.origin) return again.origin;
  std::string_view name = step.text(again.name);
  if (!name.ends_with(kRecomputedSuffix)) return {};
  name.remove_suffix(kRecomputedSuffix.size());
  return tagged.find(name);
}

// The node of the tagged graph that a row of partitioned_values describes: for a recomputed call,
// the call of the forward that it repeats; for a node that applying the tags added, the node that
// it comes from. None if there is no such node.
NodeId stands_for(const Graph& graph, const Graph& tagged, NodeId id) {
  const Node& n = graph.node(id);
  const bool again = n.has(Node::recomputed);
  if (graph.is_pair()) {
    const NodeId first = again ? graph.find(PartId(0), graph.text(n.name)) : NodeId{};
    return first ? first : id;
  }
  const auto is_new = [&](NodeId node) { return node.index() >= tagged.node_count(); };
  // If only the backward needed the original, applying the tags removed it.
  NodeId known = again ? first_run(graph, tagged, n) : id;
  while (known && is_new(known)) known = graph.node(known).origin;
  if (known && tagged.is_live(known)) return known;
  return is_new(id) ? NodeId{} : id;
}

// Joins rows of the same node: saved or offloaded values stay saved or offloaded, and bytes and
// times add up.
std::vector<PlanRow> joined_rows(const Graph& graph, std::vector<PlanRow> rows) {
  std::ranges::stable_sort(rows, {}, [&](const PlanRow& row) { return graph.position(row.node); });
  std::vector<PlanRow> joined;
  joined.reserve(rows.size());
  for (const PlanRow& row : rows) {
    if (joined.empty() || joined.back().node != row.node) {
      joined.push_back(row);
      continue;
    }
    PlanRow& same = joined.back();
    if (same.action == PlanAction::recompute) same.action = row.action;
    same.saved_bytes += row.saved_bytes;
    same.offloaded_bytes += row.offloaded_bytes;
    same.recompute_ns += row.recompute_ns;
  }
  // The time of a call that returns several values counts for its first recomputed element.
  std::unordered_map<NodeId, PlanRow*> calls;
  for (PlanRow& row : joined) {
    if (graph.node(row.node).value.kind != Value::Kind::tensor) calls.emplace(row.node, &row);
    if (row.action != PlanAction::recompute || !is_element(graph, row.node)) continue;
    if (const auto call = calls.find(tuple_call(graph, row.node)); call != calls.end())
      row.recompute_ns += std::exchange(call->second->recompute_ns, 0);
  }
  std::erase_if(joined, [&](const PlanRow& row) {
    return graph.node(row.node).value.kind != Value::Kind::tensor && row.saved_bytes == 0 &&
           row.offloaded_bytes == 0 && row.recompute_ns == 0;
  });
  return joined;
}

}  // namespace

Result<std::vector<PlanRow>> plan_rows(const PlanWhatIf& what_if, const SavePlan& plan) {
  const PlanWhatIf::State& s = what_if.state();
  JOINTER_TRY(const PairOrder order, s.orders.order(plan));
  std::vector<PlanRow> rows;
  for (const PlanMemory::PlanBytes& held : s.memory.plan_bytes(order)) {
    if (!s.orders.has(held.value, PairOrders::is_call)) continue;
    PlanRow row{.node = s.orders.node(held.value), .action = held.action};
    (held.action == PlanAction::offload ? row.offloaded_bytes : row.saved_bytes) = held.bytes;
    rows.push_back(row);
  }
  std::vector<std::uint8_t> runs_first(s.orders.size(), 0);
  for (const Place p : order.forward) runs_first[p] = 1;
  for (const Place p : order.backward) {
    if (!s.orders.has(p, PairOrders::is_call) || !s.orders.has(p, PairOrders::of_forward)) continue;
    const NodeId id = s.orders.node(p);
    if (runs_first[p] == 0 && s.graph.node(id).phase != Phase::forward) continue;
    rows.push_back({.node = id,
                    .action = PlanAction::recompute,
                    .recompute_ns = runs_first[p] != 0 ? s.time.ns(p) : 0});
  }
  return joined_rows(s.graph, std::move(rows));
}

std::vector<PlanRow> plan_rows(const Graph& graph, std::span<const SaveCandidate> decided,
                               const Graph& tagged) {
  std::vector<PlanRow> rows;
  rows.reserve(decided.size());
  for (const SaveCandidate& each : decided) {
    PlanRow row{.node = stands_for(graph, tagged, each.node), .action = each.action};
    if (!row.node) continue;
    if (each.action == PlanAction::save) row.saved_bytes = each.bytes;
    if (each.action == PlanAction::offload) row.offloaded_bytes = each.bytes;
    if (each.action == PlanAction::recompute && runs_again(graph, graph.node(each.node)))
      row.recompute_ns = each.recompute_ns;
    rows.push_back(row);
  }
  return joined_rows(tagged, std::move(rows));
}

}  // namespace jointer
