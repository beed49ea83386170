#include "passes/bucketing/overlap_graph.h"

#include <algorithm>
#include <unordered_map>

#include "core/cost/torch_nccl.h"
#include "core/cost/torch_nccl_2_15.h"
#include "core/graph/group_argument.h"
#include "core/graph/torch_version.h"
#include "core/ops/collective_targets.h"
#include "core/ops/flops.h"
#include "passes/bucketing/fsdp_collectives.h"

namespace jointer {
namespace {

using Edges = std::vector<std::pair<Place, Place>>;

// True if the operator has the tag `pointwise` in torch, or is a view other than getitem that is
// not tagged silent_alias.
bool is_cheap_operator(const OperatorInfo& op) {
  if (op.has(OperatorTag::pointwise)) return true;
  return op.is_view && !op.has(OperatorTag::silent_alias) && !op.is_getitem;
}

// True for collectives that torch's scheduler can separate from their waits: an all_reduce,
// all_gather, reduce_scatter or all_to_all of one tensor, with a separate wait_tensor.
bool is_schedulable(const Graph& graph, const Node& start) {
  if (!graph.is_collective_start(start)) return false;
  const OperatorInfo& op = graph.op(start);
  return op.space() == "_c10d_functional" && op.collective != CollectiveKind::broadcast &&
         !op.is_coalesced && graph.single_tensor(start) != nullptr;
}

std::int64_t held_bytes(const Graph& graph, const Node& start) {
  const std::int64_t bytes = graph.op(start).is_coalesced
                                 ? torch_collective_bytes_2_15(graph, start)
                                 : torch_collective_bytes(graph, start);
  return graph.target(start) == kAllReduceTarget ? bytes / 2 : bytes;
}

// Numbers strings in order of first appearance.
class Numbering {
 public:
  std::uint32_t of(const std::string& text) {
    return known_.try_emplace(text, static_cast<std::uint32_t>(known_.size())).first->second;
  }
  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  std::unordered_map<std::string, std::uint32_t> known_;
};

}  // namespace

OverlapGraph::OverlapGraph(const Graph& of, PartId part, const Dependencies& dependencies,
                           std::span<const NodeCost> costs, const BucketRules& rules)
    : graph(&of), place_of(of.node_count(), kNoPlace) {
  for (const NodeId id : of.order()) {
    if (of.node(id).part != part) continue;
    place_of[id.index()] = static_cast<Place>(nodes.size());
    nodes.push_back(id);
  }
  while (leading < size() && of.node(nodes[leading]).kind != NodeKind::call) ++leading;
  find_edges(dependencies);
  ns.assign(size(), 0);
  is_compute.assign(size(), false);
  is_cheap.assign(size(), false);
  is_communication.assign(size(), false);
  const TorchVersion torch = torch_version_of(of);
  for (Place p = 0; p < size(); ++p) {
    const Node& n = of.node(nodes[p]);
    if (n.kind != NodeKind::call) continue;
    const OperatorInfo& op = of.op(n);
    is_compute[p] = is_in_torch_registry(op.packet(), torch);
    is_cheap[p] = is_cheap_operator(op);
    is_communication[p] =
        op.name.find("c10") != std::string::npos || op.name.find("_dtensor") != std::string::npos;
    if (const NodeCost& cost = costs[nodes[p].index()]; cost.lane == NodeCost::Lane::compute)
      ns[p] = cost.ns;
    if (is_compute[p]) compute.push_back(p);
  }
  find_collectives(costs, rules);
  find_uses();
}

void OverlapGraph::find_edges(const Dependencies& dependencies) {
  Edges edges;
  for (Place p = 0; p < size(); ++p)
    for (const Dependency& d : dependencies.before(nodes[p]))
      edges.emplace_back(p, place_of[d.node.index()]);
  add_wall_edges(edges);
  inputs = PlaceLists::of_pairs(edges, size());
  for (auto& [of, member] : edges) std::swap(of, member);
  users = PlaceLists::of_pairs(edges, size());
}

// Placeholders, constants and outputs after the first call keep their order, and nothing moves
// across a placeholder or an output.
void OverlapGraph::add_wall_edges(Edges& edges) const {
  std::vector<bool> is_read(size(), false);  // a node depends on it
  for (const auto& edge : edges) is_read[edge.second] = true;
  Place last_fixed = kNoPlace, last_wall = kNoPlace;
  Edges added;
  for (auto p = static_cast<Place>(leading); p < size(); ++p) {
    const Node& n = graph->node(nodes[p]);
    if (last_wall != kNoPlace) added.emplace_back(p, last_wall);
    if (n.kind == NodeKind::call) continue;
    if (last_fixed != kNoPlace && last_fixed != last_wall) added.emplace_back(p, last_fixed);
    last_fixed = p;
    if (!is_wall(n)) continue;
    const bool ends = p + 1 == size();
    const Place from = last_wall == kNoPlace ? static_cast<Place>(leading) : last_wall + 1;
    for (Place q = from; q < p; ++q)
      if ((!ends || !is_read[q]) && q != last_fixed) added.emplace_back(p, q);
    last_wall = p;
  }
  if (added.empty()) return;
  edges.insert(edges.end(), added.begin(), added.end());
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

bool OverlapGraph::is_output(Place p) const {
  return graph->node(nodes[p]).kind == NodeKind::output;
}

// True if the start has one reader besides outputs.
bool OverlapGraph::is_for_one_wait(Place start) const {
  const auto readers = users.of(start);
  return std::ranges::count_if(readers, [&](Place p) { return !is_output(p); }) == 1;
}

// The start that belongs to a wait; kNoPlace if the scheduler cannot separate the two.
Place OverlapGraph::start_waited_for(Place wait, const BucketRules& rules) const {
  if (!graph->is_wait(graph->node(nodes[wait])) || inputs.of(wait).size() != 1) return kNoPlace;
  const Place input = inputs.of(wait).front();
  const Node& n = graph->node(nodes[input]);
  if (is_schedulable(*graph, n)) return is_for_one_wait(input) ? input : kNoPlace;
  if (!rules.takes_buckets || n.kind != NodeKind::call || !graph->op(n).is_getitem ||
      inputs.of(input).size() != 1)
    return kNoPlace;
  const Place start = inputs.of(input).front();
  const Node& list = graph->node(nodes[start]);
  if (!graph->is_collective_start(list) || !graph->op(list).is_coalesced) return kNoPlace;
  for (const Place element : users.of(start)) {
    const auto readers = users.of(element);
    if (!graph->op(graph->node(nodes[element])).is_getitem || readers.size() != 1 ||
        !graph->is_wait(graph->node(nodes[readers.front()])) ||
        inputs.of(readers.front()).size() != 1)
      return kNoPlace;
  }
  return start;
}

void OverlapGraph::find_collectives(std::span<const NodeCost> costs, const BucketRules& rules) {
  start_of.assign(size(), -1);
  wait_of.assign(size(), -1);
  Numbering group_numbers, keys, torch_keys;
  std::vector<bool> known;  // by group: gathers_parameters is set
  for (Place wait = 0; wait < size(); ++wait) {
    const Place start = start_waited_for(wait, rules);
    if (start == kNoPlace) continue;
    if (start_of[start] >= 0) {
      wait_of[wait] = start_of[start];
      continue;
    }
    const Node& s = graph->node(nodes[start]);
    const std::string group(text_argument(*graph, s, "group_name"));
    if (group.empty()) continue;
    OverlapCollective c{.start = start, .wait = wait};
    c.group = group_numbers.of(group);
    if (c.group == groups.size())
      groups.emplace_back(s.group ? std::string(graph->group_label(s.group)) : group);
    const std::string key = bucket_key(*graph, s, rules);
    c.schedule_key = key.empty() ? kNever : keys.of(key);
    const auto readers = users.of(start);
    const bool is_saved = std::ranges::any_of(readers, [&](Place p) { return is_output(p); });
    c.key = is_saved ? kNever : c.schedule_key;
    const bool gathers = graph->op(s).collective == CollectiveKind::all_gather;
    known.resize(groups.size());
    gathers_parameters.resize(groups.size());
    if (gathers && !known[c.group]) {
      known[c.group] = true;
      gathers_parameters[c.group] = depends_on_one_placeholder(*graph, nodes[start]);
    }
    c.torch_key = key.empty() ? kNever : torch_keys.of(gathers ? key : key.substr(key.find(' ')));
    c.bytes = held_bytes(*graph, s);
    c.ns = costs[nodes[start].index()].ns;
    start_of[start] = wait_of[wait] = static_cast<std::int32_t>(collectives.size());
    collectives.push_back(c);
  }
}

void OverlapGraph::find_uses() {
  first_compute.assign(size(), kNever);
  feeds_reduce_scatter.assign(size(), false);
  for (std::size_t i = 0; i < compute.size(); ++i)
    first_compute[compute[i]] = static_cast<std::uint32_t>(i);
  for (std::size_t i = size(); i-- > 0;) {
    const auto p = static_cast<Place>(i);
    const Node& n = graph->node(nodes[p]);
    bool feeds = n.kind == NodeKind::call && graph->target(n) == kReduceScatterTarget;
    std::uint32_t first = first_compute[p];
    for (const Place user : users.of(p)) {
      feeds = feeds || feeds_reduce_scatter[user];
      // A compute node is its own first compute node, regardless of its users.
      if (!is_compute[p]) first = std::min(first, first_compute[user]);
    }
    first_compute[p] = first;
    feeds_reduce_scatter[p] = feeds;
  }
}

}  // namespace jointer
