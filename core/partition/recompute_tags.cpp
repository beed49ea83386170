// Settles the tags as torch._functorch.partitioners does before it chooses what to save, by
// applying cleanup_recompute_tags, force_save_collectives, force_save_effectful_ops and
// force_save_bw_mutation_src in this order.
//
//  0. Calls that would give a different result if recomputed (unrepeatable.cpp) are saved. Before
//     that, for min_cut: if an element of a tuple is tagged for recomputation but the call that
//     returns the tuple is not, the call gets the element's tag, since a tuple cannot be saved. If
//     the call was tagged to be saved, its untagged elements get that tag instead.
//  1. A node tagged for recomputation is saved if another such node that reads it belongs to a
//     later region (a greater ac_graph_id). For default_partition, a node outside all regions is
//     saved too if a node tagged for recomputation reads it, unless it is an element of a region's
//     tuple.
//  2. Functional collectives and their waits are saved unless they are tagged for recomputation;
//     since torch 2.15, the elements of a collective's tuple are saved instead of the tuple.
//  3. The results of with_effects calls in the forward are saved unless the call is tagged for
//     recomputation.
//  4. If the forward and the backward both copy into the same input, the value that the forward
//     copies is saved. Such copies are at the end of the graph.
//
// The order in which nodes are visited matters, since later checks see changed tags. torch's rule
// for nodes with a backward hook is omitted, since captures do not record hooks.
//
// Deviation: if (0) moves a tag from an element to its call, torch's cut has no solution if it may
// not recompute the call; otherwise it finds the same solution as here.
//
// Cost: linear in the edges.

#include "core/partition/recompute_tags.h"

#include <algorithm>
#include <unordered_set>

#include "core/graph/torch_version.h"
#include "core/graph/tuple_call.h"
#include "core/graph/users.h"
#include "core/partition/joint_parts.h"
#include "core/partition/unrepeatable.h"

namespace jointer {
namespace {

class Settler {
 public:
  explicit Settler(Graph& graph)
      : graph_(graph),
        by_element_(torch_version_of(graph) >= TorchVersion{2, 15}),
        users_(graph),
        sources_(graph.node_count(), TagSource::graph) {}

  std::vector<TagSource> run(Partitioner partitioner) {
    if (partitioner == Partitioner::min_cut) tag_tuples();
    save_what_would_differ();
    const auto order = graph_.order();
    if (std::ranges::any_of(order, [&](NodeId id) { return must_recompute(graph_.node(id)); }))
      save_boundaries(partitioner);
    save_collectives();
    save_effects();
    save_written_twice();
    return std::move(sources_);
  }

 private:
  void save(NodeId id, TagSource source) {
    Node& node = graph_.node(id);
    if (is_tagged_to_save(node)) return;
    node.policy = MemoryPolicy::must_save;
    sources_[id.index()] = source;
  }

  void tag_elements(NodeId tuple, MemoryPolicy policy) {
    for (const NodeId user : users_.of(tuple)) {
      if (!is_element(graph_, user)) continue;
      if (graph_.node(user).value.kind == Value::Kind::tensor &&
          graph_.node(user).policy == MemoryPolicy::none)
        graph_.node(user).policy = policy;
      tag_elements(user, policy);
    }
  }

  void tag_tuples() {
    for (const NodeId id : graph_.order()) {
      const Node& element = graph_.node(id);
      if (!is_element(graph_, id) || !must_recompute(element)) continue;
      const NodeId call = tuple_call(graph_, id);
      Node& maker = graph_.node(call);
      if (maker.kind != NodeKind::call || must_recompute(maker)) continue;
      if (is_tagged_to_save(maker)) tag_elements(call, maker.policy);
      maker.policy = element.policy;
      if (!element.has(Node::has_ac_graph_id) || maker.has(Node::has_ac_graph_id)) continue;
      maker.ac_graph_id = element.ac_graph_id;
      maker.set(Node::has_ac_graph_id);
    }
  }

  void save_what_would_differ() {
    const std::vector<bool> differs = find_unrepeatable(graph_, NodePlaces(graph_));
    for (std::size_t i = 0; i < differs.size(); ++i)
      if (differs[i]) save(NodeId(i), TagSource::written);
  }

  [[nodiscard]] bool is_read_by_recomputed(NodeId id) const {
    return std::ranges::any_of(users_.of(id),
                               [&](NodeId user) { return must_recompute(graph_.node(user)); });
  }

  [[nodiscard]] bool is_read_by_later_region(NodeId id) const {
    const Node& node = graph_.node(id);
    return node.has(Node::has_ac_graph_id) && std::ranges::any_of(users_.of(id), [&](NodeId user) {
             const Node& reader = graph_.node(user);
             return must_recompute(reader) && reader.has(Node::has_ac_graph_id) &&
                    reader.ac_graph_id > node.ac_graph_id;
           });
  }

  // True if the node is an element of a tuple that a recomputed region returns.
  [[nodiscard]] bool is_of_regions_tuple(const Node& node) const {
    if (node.kind != NodeKind::call || !graph_.op(node).is_getitem || node.input_count == 0)
      return false;
    return graph_.node(graph_.inputs(node).front()).has(Node::has_ac_graph_id);
  }

  void save_boundaries(Partitioner partitioner) {
    for (const NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (must_recompute(node)) {
        if (is_read_by_later_region(id)) save(id, TagSource::boundary);
      } else if (partitioner == Partitioner::default_partition &&
                 !node.has(Node::has_ac_graph_id) && is_read_by_recomputed(id) &&
                 !is_of_regions_tuple(node)) {
        save(id, TagSource::region_input);
      }
    }
  }

  void save_collectives() {
    for (const NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (node.kind == NodeKind::call && graph_.op(node).space() == "_c10d_functional" &&
          !must_recompute(node))
        save_collective(id);
    }
  }

  void save_collective(NodeId id) {
    bool is_taken_apart = false;
    if (by_element_)
      for (const NodeId user : users_.of(id))
        if (is_element(graph_, user)) {
          is_taken_apart = true;
          save_collective(user);
        }
    if (is_taken_apart || (by_element_ && graph_.node(id).value.kind == Value::Kind::list)) return;
    save(id, TagSource::collective);
  }

  void save_returned(NodeId id) {
    for (const NodeId user : users_.of(id)) {
      const Node& node = graph_.node(user);
      if (node.kind != NodeKind::call || !graph_.op(node).is_getitem) continue;
      save_returned(user);
      if (node.value.kind != Value::Kind::list) save(user, TagSource::effect);
    }
  }

  void save_effects() {
    for (const NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (node.kind == NodeKind::call && graph_.target(node) == "with_effects" &&
          !must_recompute(node) && graph_.text(node.partitioner_tag) != "is_backward")
        save_returned(id);
    }
  }

  void save_written_twice() {
    std::unordered_set<NodeId> written_in_backward;
    const auto order = graph_.order();
    for (std::size_t i = order.size(); i-- > 0;) {
      const Node& node = graph_.node(order[i]);
      if (node.kind == NodeKind::output) continue;
      const auto args = graph_.args(node);
      if (node.kind != NodeKind::call || graph_.target(node) != "aten.copy_.default" ||
          args.size() < 2 || args[0].kind != Argument::Kind::node)
        return;
      const std::string_view tag = graph_.text(node.partitioner_tag);
      if (tag == "must_be_in_backward") written_in_backward.insert(args[0].node());
      if (tag == "must_be_in_forward" && written_in_backward.contains(args[0].node()) &&
          args[1].kind == Argument::Kind::node)
        save(args[1].node(), TagSource::mutation);
    }
  }

  Graph& graph_;
  const bool by_element_;  // save the elements of a collective's tuple, as torch does since 2.15
  Users users_;
  std::vector<TagSource> sources_;
};

}  // namespace

std::vector<TagSource> settle_tags(Graph& graph, Partitioner partitioner) {
  return Settler(graph).run(partitioner);
}

}  // namespace jointer
