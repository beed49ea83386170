// Builds the network of torch._functorch.partitioners.solve_min_cut and reads the saved values off
// its minimum cut.
//
// Each node becomes two vertices, an entry and an exit, joined by an arc whose capacity is the cost
// of saving the node's value. An infinite arc leads from its exit to the entry of each reader.
// Infinite arcs also lead
//  - from the source to the entry of a node that may not be recomputed (ban_rules.cpp);
//  - from the entry of a node that is tagged for recomputation, or depends on a tangent, to the
//    sink: it runs in the backward, and no other arcs leave it;
//  - from the exit of the backward's other outputs to the sink.
// The values whose arcs are cut are saved: the forward is on the source's side, the backward on the
// sink's. Among several minimum cuts, the one nearest to the sink is chosen: it saves the values
// that are computed last.
//
// The capacity of a value is zero for a parameter, a buffer or an opaque object other than a
// device; one for a symbolic integer or boolean, four for a symbolic float; infinite for a device
// and for anything else that is not a tensor, such as a tuple. For other tensors, it is the
// tensor's bytes, times 1.1 for each edge on the shortest path to a node outside the forward (at
// least one, at most a hundred), rounded down. It is twice that for a node, other than an input,
// whose readers all fuse with it, so that no kernel would write it to memory.
//
// Deviation: torch counts a tensor with unbacked symbols in its shape as 4096 elements. Here
// symbols have the values that the graph assumes.
//
// Cost: linear in the edges, except for bans and flow.

#include "core/partition/min_cut.h"

#include <algorithm>
#include <cmath>

#include "core/base/checked.h"
#include "core/partition/recompute_tags.h"

namespace jointer {
namespace {

constexpr double kPerEdge = 1.1;
constexpr std::uint32_t kMaxEdges = 100;

FlowNetwork::Vertex entry(NodeId id) {
  return 2 + 2 * id.value();
}
FlowNetwork::Vertex exit_of(NodeId id) {
  return entry(id) + 1;
}

}  // namespace

MinCut::MinCut(const Graph& joint, const JointParts& parts, std::vector<TagSource> tags)
    : joint_(joint),
      parts_(parts),
      tags_(std::move(tags)),
      users_(joint),
      fusion_(joint),
      bytes_(joint.node_count(), 0),
      distance_(joint.node_count(), 0) {
  const auto order = joint.order();
  for (std::size_t i = order.size(); i-- > 0;) {
    const NodeId id = order[i];
    const Node& node = joint.node(id);
    bytes_[id.index()] = is_symbol(joint, node) ? 1 : joint.output_bytes(node);
    std::uint32_t& distance = distance_[id.index()];
    if (node.kind == NodeKind::output) distance = kFar;
    if (!parts.is_forward(id)) continue;
    distance = kFar;
    for (const NodeId user : users_.of(id))
      distance = std::min(distance, distance_[user.index()] + 1);
  }
}

std::int64_t MinCut::capacity(NodeId id) const {
  const Node& node = joint_.node(id);
  if (is_symbol(joint_, node)) return is_symbolic_float(joint_, node) ? 4 : 1;
  if (node.value.kind == Value::Kind::opaque)
    return is_device(joint_, node) ? FlowNetwork::kInfinite : 0;
  if (node.value.kind != Value::Kind::tensor) return FlowNetwork::kInfinite;
  if (parts_.is_static[id.index()]) return 0;
  const std::uint32_t edges = std::clamp(distance_[id.index()], 1U, kMaxEdges);
  const double weighted =
      static_cast<double>(bytes_[id.index()]) * std::pow(kPerEdge, static_cast<double>(edges));
  if (weighted >= static_cast<double>(FlowNetwork::kInfinite / 4))
    return FlowNetwork::kInfinite / 4;
  const auto capacity = static_cast<std::int64_t>(weighted);
  const bool is_written =
      node.kind == NodeKind::placeholder ||
      !std::ranges::all_of(users_.of(id), [&](NodeId user) { return fusion_.fuse(id, user); });
  return is_written ? capacity : 2 * capacity;
}

FlowNetwork MinCut::network(const Bans& bans) const {
  FlowNetwork network(2 + 2 * joint_.node_count());
  network.reserve(4 * joint_.order().size());
  for (const NodeId id : bans.banned)
    network.add(FlowNetwork::kSource, entry(id), FlowNetwork::kInfinite);
  for (const NodeId id : joint_.order()) {
    const Node& node = joint_.node(id);
    if (node.kind == NodeKind::output) continue;
    if (parts_.depends_on_tangent[id.index()] || must_recompute(node)) {
      network.add(entry(id), FlowNetwork::kSink, FlowNetwork::kInfinite);
      continue;
    }
    if (parts_.feeds_gradient[id.index()])
      network.add(exit_of(id), FlowNetwork::kSink, FlowNetwork::kInfinite);
    network.add(entry(id), exit_of(id), capacity(id));
    for (const NodeId user : users_.of(id))
      if (joint_.node(user).kind != NodeKind::output)
        network.add(exit_of(id), entry(user), FlowNetwork::kInfinite);
  }
  return network;
}

Error MinCut::conflict(const FlowNetwork& network) const {
  // The first and the last node on the path: a value that is not recomputed, and one that the
  // backward computes (the path ends where it is entered) or reads.
  const std::vector<FlowNetwork::Vertex> path = network.infinite_path();
  const auto at = [&](FlowNetwork::Vertex vertex) { return NodeId((vertex - 2) / 2); };
  const FlowNetwork::Vertex last = path[path.size() - 2];
  const NodeId from = at(path[1]), to = at(last);
  const std::string_view use = last == entry(to) ? "computes" : "reads";
  const auto with_tag = [&](NodeId id) {
    const MemoryPolicy tag = joint_.node(id).policy;
    return tag == MemoryPolicy::none
               ? std::string(joint_.name(id))
               : fmt::format("{} (tagged {})", joint_.name(id), to_string(tag));
  };
  if (from == to)
    return {Error::Kind::usage,
            fmt::format("{} is not recomputed and cannot be saved, but the backward {} it; change "
                        "its tag",
                        with_tag(from), use)};
  return {Error::Kind::usage,
          fmt::format("{} is not recomputed, the backward {} {}, and no value from the one to the "
                      "other can be saved; change the tag of one of the two, or of a value between "
                      "them",
                      with_tag(from), use, with_tag(to))};
}

Result<CutSolution> MinCut::solve(const BanOptions& options, const std::vector<bool>& allowed,
                                  const Watcher& watcher) const {
  CutSolution solution;
  JOINTER_CHECK(watcher.at(0));
  solution.bans = find_bans({joint_, parts_, users_, fusion_, bytes_, tags_}, options, allowed);
  JOINTER_CHECK(watcher.at(0.3));
  const FlowNetwork network = this->network(solution.bans);
  JOINTER_CHECK(watcher.at(0.5));
  JOINTER_TRY(const FlowNetwork::Cut cut, network.minimum_cut());
  if (cut.capacity == FlowNetwork::kInfinite) return tl::unexpected(conflict(network));
  JOINTER_CHECK(watcher.at(0.9));
  solution.capacity = cut.capacity;
  for (const NodeId id : joint_.order())
    if (!cut.sink_side[entry(id)] && cut.sink_side[exit_of(id)]) solution.saved.push_back(id);
  return solution;
}

}  // namespace jointer
