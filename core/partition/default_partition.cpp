// Chooses the values to save as torch._functorch.partitioners.default_partition does: the forward
// stays as captured and saves the values that the backward reads. Values chosen here that the
// backward does not read are dropped later (saved_values.cpp).
//
// The forward is everything up to the last node that is tagged as forward or is an input, except
// tangents; the graph's output reads its values after the forward. In program order:
//  - sizes are saved as symbols; subgraphs, assertions on sizes (since torch 2.13, also on tensors)
//    and profiler marks are not saved;
//  - a value whose readers are all getitem counts as a tuple and is not saved; its elements are
//    considered instead;
//  - values tagged MUST_SAVE (or MUST_CPU_OFFLOAD, which torch ignores) are saved, whether or not
//    they are read;
//  - impure calls other than waits are saved; they are an error if anything is tagged for
//    recomputation;
//  - if only the sizes of a value are read after the forward, those sizes are saved;
//  - any other value that is read after the forward is saved, unless it is tagged for
//    recomputation.
//
// Deviation: a call that does not return a single tensor and is not read as a tuple is skipped;
// torch fails.
//
// Cost: linear in the edges.

#include "core/partition/default_partition.h"

#include <algorithm>

#include "core/graph/torch_version.h"
#include "core/graph/users.h"
#include "core/partition/dead_code.h"
#include "core/partition/recompute_tags.h"

namespace jointer {
namespace {

bool is_skipped(const Graph& graph, const Node& node) {
  if (node.kind == NodeKind::get_attr) return node.value.kind == Value::Kind::none;
  const std::string_view target = graph.target(node);
  if (target.starts_with("aten._assert_async."))
    return torch_version_of(graph) >= TorchVersion{2, 13};
  return target == "aten._assert_scalar.default" ||
         target.starts_with("profiler._record_function_");
}

bool is_tuple(const Graph& graph, std::span<const NodeId> users) {
  return !users.empty() && std::ranges::all_of(users, [&](NodeId user) {
    const Node& node = graph.node(user);
    return node.kind == NodeKind::call && graph.op(node).is_getitem;
  });
}

void keep_first(std::vector<NodeId>& ids, std::size_t nodes) {
  std::vector<bool> seen(nodes, false);
  std::erase_if(ids, [&](NodeId id) {
    const bool again = seen[id.index()];
    seen[id.index()] = true;
    return again;
  });
}

}  // namespace

Result<DefaultChoice> choose_default(const Graph& joint) {
  const NodePlaces places(joint);
  const Users users(joint);
  const auto order = joint.order();
  std::size_t end = 0;
  bool any_tags = false;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Node& node = joint.node(order[i]);
    any_tags = any_tags || must_recompute(node);
    if (places.is_forward(node) || places.is_primal(node) || places.is_forward_seed(node))
      end = i + 1;
  }
  const auto is_forward = [&](NodeId id) {
    const Node& node = joint.node(id);
    return joint.position(id) < end && !places.is_tangent(node) && node.kind != NodeKind::output;
  };

  DefaultChoice choice;
  for (const NodeId id : order.first(end)) {
    const Node& node = joint.node(id);
    if (!is_forward(id) || is_skipped(joint, node)) continue;
    if (is_symbol(joint, node)) {
      choice.symbols.push_back(id);
      continue;
    }
    if (is_tuple(joint, users.of(id))) continue;
    if (is_tagged_to_save(node)) {
      choice.values.push_back(id);
      continue;
    }
    if (is_impure(joint, node) && !joint.is_wait(node)) {
      if (any_tags)
        return fail(Error::Kind::usage,
                    "{} ({}) has side effects, and the graph's policy tags could make it run "
                    "twice; use the min-cut partitioner",
                    joint.name(id), joint.target(node));
      choice.values.push_back(id);
      continue;
    }
    if (node.kind == NodeKind::call && node.value.kind != Value::Kind::tensor) continue;
    std::vector<NodeId> later;
    for (const NodeId user : users.of(id))
      if (!is_forward(user)) later.push_back(user);
    if (std::ranges::all_of(later, [&](NodeId user) { return is_symbol(joint, joint.node(user)); }))
      choice.symbols.insert(choice.symbols.end(), later.begin(), later.end());
    else if (!must_recompute(node))
      choice.values.push_back(id);
  }
  keep_first(choice.values, joint.node_count());
  keep_first(choice.symbols, joint.node_count());
  return choice;
}

}  // namespace jointer
