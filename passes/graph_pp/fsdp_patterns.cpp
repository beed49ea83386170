// Follows chains of FSDP's collectives:
//
//   shard -> ... -> all_gather -> wait -> view* -> compute
//   wait -> split -> getitems -> cat -> view* -> compute
//   gradient -> cast -> reduce_scatter -> wait -> returned
//   gradient -> cast -> all_reduce -> wait -> reduce_scatter -> wait -> returned
//
// A chain continues while a node has one reader that reads nothing else; a split whose parts are
// all read by one cat counts as one node. Cost: linear in the length of the chain.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/fsdp_patterns.py.

#include "passes/graph_pp/fsdp_patterns.h"

#include <algorithm>
#include <span>
#include <string>

#include "core/base/counted.h"
#include "core/graph/is_call_of.h"
#include "core/ops/collective_targets.h"

namespace jointer {
namespace {

bool is_gather(const Graph& graph, NodeId id) {
  return is_call_of(graph, id, kAllGatherTarget);
}

// The node's only reader, if it reads nothing else; otherwise none.
NodeId next_in_chain(const Graph& graph, const Users& users, NodeId id) {
  const auto readers = users.of(id);
  return readers.size() == 1 && graph.inputs(readers[0]).size() <= 1 ? readers[0] : NodeId{};
}

NodeId last_gather(const Graph& graph, const Users& users, NodeId id) {
  NodeId last;
  for (; id; id = next_in_chain(graph, users, id))
    if (is_gather(graph, id)) last = id;
  return last;
}

// The cat that is the only reader of all parts of a split; none if there is no such cat.
NodeId cat_of_split(const Graph& graph, const Users& users, NodeId split) {
  const auto parts = users.of(split);
  if (!is_call_of(graph, split, "aten.split.Tensor") || parts.empty()) return {};
  NodeId cat;
  for (const NodeId part : parts) {
    const auto readers = users.of(part);
    if (!graph.op(graph.node(part)).is_getitem || readers.size() != 1) return {};
    if (cat && cat != readers[0]) return {};
    cat = readers[0];
  }
  return is_call_of(graph, cat, "aten.cat.default") ? cat : NodeId{};
}

NodeId end_of_chain(const Graph& graph, const Users& users, NodeId id) {
  for (;;) {
    NodeId next;
    if (users.of(id).size() == 1)
      next = next_in_chain(graph, users, id);
    else
      next = cat_of_split(graph, users, id);
    if (!next || graph.node(next).kind == NodeKind::output) return id;
    id = next;
  }
}

// The names as ": a, b"; empty if there are no nodes.
std::string names_of(const Graph& graph, std::span<const NodeId> nodes) {
  std::string names;
  for (const NodeId id : nodes)
    names += fmt::format("{}{}", names.empty() ? ": " : ", ", graph.name(id));
  return names;
}

Result<NodeId> unshard_output(const Graph& graph, const Users& users, NodeId gather) {
  const auto readers = users.of(gather);
  if (readers.size() != 1 || !is_call_of(graph, readers[0], kWaitTarget))
    return fail(Error::Kind::usage,
                "the FSDP all-gather {} must be read only by its wait, but has {}{}",
                graph.name(gather), counted(readers.size(), "reader"), names_of(graph, readers));
  NodeId id = end_of_chain(graph, users, readers[0]);
  while (graph.node(id).kind == NodeKind::call && graph.op(graph.node(id)).is_view &&
         graph.inputs(id).size() == 1)
    id = graph.inputs(id).front();
  return id;
}

bool reduces(const Graph& graph, NodeId id) {
  return is_call_of(graph, id, kReduceScatterTarget) || is_call_of(graph, id, kAllReduceTarget);
}

}  // namespace

Result<std::vector<NodeId>> find_unshard_outputs(const Graph& graph, const Users& users,
                                                 NodeId parameter) {
  std::vector<NodeId> found;
  if (const NodeId gather = last_gather(graph, users, parameter)) {
    JOINTER_TRY(const NodeId output, unshard_output(graph, users, gather));
    found.push_back(output);
    return found;
  }
  for (const NodeId user : users.of(parameter)) {
    if (graph.inputs(user).size() > 1) continue;
    const NodeId gather = last_gather(graph, users, user);
    if (!gather) continue;
    JOINTER_TRY(const NodeId output, unshard_output(graph, users, gather));
    if (std::ranges::find(found, output) == found.end()) found.push_back(output);
  }
  return found;
}

NodeId find_reduce_input(const Graph& graph, const Users& users, NodeId gradient) {
  NodeId found;
  NodeId id = gradient;
  while (id && graph.inputs(id).size() == 1) {
    const NodeId input = graph.inputs(id).front();
    if (users.of(input).size() > 1) break;
    if (reduces(graph, id)) found = input;
    id = input;
  }
  return found;
}

}  // namespace jointer
