#include "tests/support/random_edits.h"

#include <algorithm>
#include <array>

#include "core/edit/call_builder.h"
#include "core/edit/collective_call.h"
#include "core/edit/merge.h"
#include "core/edit/moves.h"
#include "core/edit/replace.h"
#include "core/graph/module_tree.h"
#include "core/graph/users.h"

namespace jointer::test {
namespace {

std::optional<Edit> if_made(Result<Edit> edit) {
  return edit ? std::optional(*std::move(edit)) : std::nullopt;
}

}  // namespace

std::optional<Edit> RandomEdits::next(const Graph& graph) {
  switch (below(20)) {
    case 0:
    case 1:
      return tag(graph);
    case 2:
    case 3:
      return insert_copy(graph);
    case 4:
      return remove(graph);
    case 5:
      return replace(graph);
    case 6:
    case 7:
      return merge(graph);
    case 8:
      return split(graph);
    case 9:
    case 10:
      return move_with_dependents(graph);
    default:
      return move(graph);
  }
}

std::optional<Edit> RandomEdits::move(const Graph& graph) {
  const auto order = graph.order();
  const std::size_t at = below(order.size());
  std::vector<NodeId> nodes{order[at]};
  for (std::size_t i = below(4); i > 0; --i) {
    const NodeId more = order[std::min(at + below(6), order.size() - 1)];
    if (std::find(nodes.begin(), nodes.end(), more) == nodes.end()) nodes.push_back(more);
  }
  // Mostly in program order, otherwise readers would precede what they read.
  if (!options_.illegal || below(8) > 0)
    std::sort(nodes.begin(), nodes.end(),
              [&](NodeId a, NodeId b) { return graph.position(a) < graph.position(b); });
  const std::size_t low = at > options_.reach ? at - options_.reach : 0;
  const std::size_t high = std::min(at + options_.reach, order.size() - 1);
  return if_made(move_edit(graph, nodes, order[low + below(high - low + 1)]));
}

std::optional<Edit> RandomEdits::move_with_dependents(const Graph& graph) {
  const NodeId node = any_node(graph);
  const bool earlier = below(2) == 0;
  const Carried carried = carry(graph, node, earlier ? Direction::earlier : Direction::later);
  const std::size_t at = graph.position(node), far = below(options_.reach) + 1;
  const std::size_t to =
      earlier ? (at > far ? at - far : 0) : std::min(at + far, graph.order().size() - 1);
  auto edit = move_edit(graph, carried.block, graph.order()[to]);
  if (edit && !carried.sentence.empty()) edit->notes.push_back(carried.sentence);
  return if_made(std::move(edit));
}

std::optional<Edit> RandomEdits::tag(const Graph& graph) {
  constexpr std::array kPolicies{MemoryPolicy::none, MemoryPolicy::must_save,
                                 MemoryPolicy::prefer_recompute, MemoryPolicy::must_cpu_offload};
  const NodeId id = any_node(graph);
  std::string select = edit_name(graph, id);
  if (const std::size_t kind = below(4); kind == 1) {
    select = graph.target(graph.node(id));
  } else if (kind == 2) {
    const ModuleTree modules(graph);
    select = fmt::format("{}::{}", modules.module(modules.of(id)).path,
                         graph.op(graph.node(id)).packet());
  }
  SetPolicy set{.select = std::move(select), .policy = kPolicies[below(kPolicies.size())]};
  if (below(4) == 0) {
    // Several by name, in any order.
    set.select.clear();
    for (std::size_t count = below(4) + 1; count > 0; --count)
      set.nodes.push_back(edit_name(graph, any_node(graph)));
  }
  if (below(2) == 0)
    set.region = below(3) == 0 ? RegionChange{.kind = RegionChange::Kind::remove, .id = 0}
                               : RegionChange{.kind = RegionChange::Kind::set,
                                              .id = static_cast<std::int64_t>(below(3))};
  return Edit{.title = "tag", .by = {}, .changes = {std::move(set)}, .notes = {}};
}

// Inserts a copy of a node's result, and makes one of its readers read it.
std::optional<Edit> RandomEdits::insert_copy(const Graph& graph) {
  const NodeId id = any_node(graph);
  const Tensor* t = graph.single_tensor(graph.node(id));
  const auto users = Users(graph);
  const auto readers = users.of(id);
  if (t == nullptr || readers.empty() || !is_dense(graph, *t)) return std::nullopt;
  std::vector<std::int64_t> shape;
  for (const Dim& size : graph.shape(*t)) {
    if (size.expression) return std::nullopt;
    shape.push_back(size.value);
  }
  const NodeId reader = readers[below(readers.size())];
  const Node& r = graph.node(reader);
  // A wait must read its collective, and a write must go to the original.
  if (graph.is_wait(r) || graph.is_collective_start(graph.node(id)) || r.kind != NodeKind::call ||
      graph.op(r).mutates || graph.op(r).is_view)
    return std::nullopt;
  CallBuilder calls(graph, r.part);
  const std::string name =
      calls.insert("aten.clone.default", {CallBuilder::node(graph.name(id))},
                   tensor_like(graph, id, shape), reader, edit_name(graph, reader));
  ReplaceCall replace{.node = edit_name(graph, reader), .target = {}, .args = {}, .kwargs = {}};
  replace.inputs.emplace_back(graph.name(id), name);
  calls.add(std::move(replace));
  return Edit{.title = "copy", .by = "random", .changes = calls.take(), .notes = {}};
}

std::optional<Edit> RandomEdits::remove(const Graph& graph) {
  const NodeId id = any_node(graph);
  const Node& n = graph.node(id);
  const bool is_read = !Users(graph).of(id).empty();
  if (!options_.illegal && (is_read || n.kind != NodeKind::call)) return std::nullopt;
  if (options_.same_outputs && n.kind == NodeKind::call && graph.op(n).mutates) return std::nullopt;
  return Edit{.title = "remove",
              .by = {},
              .changes = {RemoveNode{.node = edit_name(graph, id)}},
              .notes = {}};
}

std::optional<Edit> RandomEdits::replace(const Graph& graph) {
  if (options_.same_outputs) return std::nullopt;
  constexpr std::array kTargets{"aten.relu.default",      "aten.silu.default", "aten.mul.Tensor",
                                "aten.view_copy.default", "aten.add.Tensor",   "aten.clone.default",
                                "aten.mm.default",        "aten.tanh.default"};
  return if_made(replace_call(graph, any_node(graph), kTargets[below(kTargets.size())]));
}

std::optional<Edit> RandomEdits::merge(const Graph& graph) {
  std::vector<NodeId> starts;
  for (const NodeId id : graph.order())
    if (graph.is_collective_start(graph.node(id))) starts.push_back(id);
  if (starts.size() < 2) return std::nullopt;
  const std::size_t first = below(starts.size());
  std::vector<NodeId> some{starts[first]};
  for (std::size_t i = first + 1; i < starts.size() && some.size() < 2 + below(3); ++i)
    if (graph.target(graph.node(starts[i])) == graph.target(graph.node(starts[first])) &&
        (options_.illegal || graph.node(starts[i]).group == graph.node(starts[first]).group))
      some.push_back(starts[i]);
  return if_made(merge_collectives(graph, some));
}

std::optional<Edit> RandomEdits::split(const Graph& graph) {
  std::vector<NodeId> starts;
  for (const NodeId id : graph.order())
    if (graph.is_collective_start(graph.node(id))) starts.push_back(id);
  for (std::size_t tries = 0; tries < 4 && !starts.empty(); ++tries)
    if (auto edit = split_collective(graph, starts[below(starts.size())])) return *edit;
  return std::nullopt;
}

}  // namespace jointer::test
