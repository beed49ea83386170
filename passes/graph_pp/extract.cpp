// Extracts part of a graph as a separate graph, as torch._functorch.partitioners does when it
// ignores partitioner tags. Starting from the inputs and constants, in program order, a node is
// reachable if everything that it reads is reachable. Reachable calls that no output depends on are
// dropped unless they are impure. Calls that draw random numbers count as impure, even attention
// without dropout.
//
// Cost: linear in the number of edges.
//
// Source: torch 2.15, _extract_graph_with_inputs_outputs with ignore_must_be_in_fw_bw. Deviation: a
// control_deps call is treated like any other node: it is unreachable if one of its arguments is
// unreachable.

#include "passes/graph_pp/extract.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "core/base/counted.h"
#include "core/base/json_text.h"
#include "core/graph/derive.h"
#include "core/ops/collective_targets.h"
#include "core/partition/dead_code.h"
#include "core/partition/half.h"

namespace jointer {
namespace {

bool may_drop(const Graph& graph, const Node& node, Waits waits) {
  if (node.kind != NodeKind::call) return true;
  if (waits == Waits::leave && graph.target(node) == kWaitTarget) return true;
  return !is_impure(graph, node) && !graph.op(node).has(OperatorTag::random);
}

}  // namespace

Result<Extraction> extract(const Graph& graph, PartId part, std::vector<NodeId> inputs,
                           std::vector<NodeId> outputs, Waits waits) {
  std::vector<bool> is_within(graph.node_count(), false), is_needed(graph.node_count(), false);
  for (const NodeId id : inputs) is_within[id.index()] = true;
  std::vector<NodeId> reached;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.part != part || is_within[id.index()] || node.kind == NodeKind::placeholder ||
        node.kind == NodeKind::output)
      continue;
    if (!std::ranges::all_of(graph.inputs(id),
                             [&](NodeId input) { return is_within[input.index()]; }))
      continue;
    is_within[id.index()] = true;
    reached.push_back(id);
  }
  for (const NodeId id : outputs) {
    if (!id) continue;
    if (!is_within[id.index()]) {
      const NodeId missing = missing_ancestor(graph, id, is_within);
      if (missing == id)
        return fail(Error::Kind::usage, "{} is returned, but is not an input of the stage",
                    graph.name(id));
      return fail(Error::Kind::usage,
                  "{} cannot be returned: it depends on {}, which is not an input of the stage",
                  graph.name(id), graph.name(missing));
    }
    is_needed[id.index()] = true;
  }
  Extraction made{.inputs = std::move(inputs), .calls = {}, .outputs = std::move(outputs)};
  for (std::size_t i = reached.size(); i-- > 0;) {
    const NodeId id = reached[i];
    if (!is_needed[id.index()] && may_drop(graph, graph.node(id), waits)) continue;
    made.calls.push_back(id);
    for (const NodeId input : graph.inputs(id)) is_needed[input.index()] = true;
  }
  std::ranges::reverse(made.calls);
  return made;
}

void drop_dead_calls(Graph& graph) {
  graph.erase(find_dead(graph, [&](const Node& n) { return !may_drop(graph, n, Waits::stay); }));
}

Result<std::vector<NodeId>> returned_nodes(const Graph& graph, PartId part) {
  const NodeId output = output_node(graph, part);
  if (!output)
    return fail(Error::Kind::usage, "the {} graph has no output node",
                to_string(graph.part(part).kind));
  std::vector<NodeId> nodes;
  for (const Argument& each : output_arguments(graph, output)) {
    if (each.kind != Argument::Kind::node && each.kind != Argument::Kind::none)
      return fail(Error::Kind::usage,
                  "{} returns a constant at index {}, but a stage may return only nodes and None",
                  graph.name(output), nodes.size());
    nodes.push_back(each.kind == Argument::Kind::node ? each.node() : NodeId{});
  }
  return nodes;
}

Result<ReturnedGradients> returned_gradients(const Graph& graph, PartId part,
                                             std::size_t parameter_gradients) {
  JOINTER_TRY(const std::vector<NodeId> returned, returned_nodes(graph, part));
  if (parameter_gradients > returned.size())
    return fail(Error::Kind::usage, "parameter_gradients={}: the backward has only {}",
                parameter_gradients, counted(returned.size(), "output"));
  const auto middle = returned.begin() + static_cast<std::ptrdiff_t>(parameter_gradients);
  return ReturnedGradients{{returned.begin(), middle}, {middle, returned.end()}};
}

std::vector<NodeId> placeholders(const Graph& graph, PartId part) {
  std::vector<NodeId> found;
  for (const NodeId id : graph.order())
    if (graph.node(id).part == part && graph.node(id).kind == NodeKind::placeholder)
      found.push_back(id);
  return found;
}

std::vector<NodeId> write_extraction(const Graph& graph, PartId part, const Extraction& extraction,
                                     Graph& to, CaptureKind kind, std::string name,
                                     std::string_view descriptions,
                                     std::span<const Renaming> renamed) {
  PartCopy copy(graph, to, kind, std::move(name), part);
  std::vector<NodeId> copies(graph.node_count());
  for (const NodeId id : extraction.inputs) {
    const auto other = std::ranges::find(renamed, id, &Renaming::node);
    copies[id.index()] = other == renamed.end() ? copy.copy_as_placeholder(id)
                                                : copy.copy_as_placeholder(id, other->name);
  }
  for (const NodeId id : extraction.calls) copies[id.index()] = copy.copy(id);
  std::vector<NodeId> returned;
  for (const NodeId id : extraction.outputs) returned.push_back(id ? copies[id.index()] : NodeId{});
  copy.add_output(output_node(graph, part), returned, descriptions);
  copy.finish_constants();
  return copies;
}

std::vector<std::string> output_descriptions(const Graph& graph, PartId part) {
  std::vector<std::string> found;
  const StringId desc = graph.node(output_node(graph, part)).desc;
  if (!desc) return found;
  const auto json = parse_json(graph.text(desc), "desc");
  if (!json || !json->is_array()) return found;
  for (const OrderedJson& each : *json) found.push_back(write_json(each));
  return found;
}

std::string join_descriptions(std::span<const std::string> given, std::size_t count) {
  if (given.empty()) return {};
  std::string joined = "[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) joined += ",";
    joined += i < given.size() ? given[i] : "null";
  }
  return joined + "]";
}

std::vector<NodeId> unique_in_order(std::span<const NodeId> nodes) {
  std::vector<NodeId> once;
  std::unordered_set<std::uint32_t> seen;
  for (const NodeId id : nodes)
    if (seen.insert(id.value()).second) once.push_back(id);
  return once;
}

Result<PartId> part_of_kind(const Graph& graph, CaptureKind kind) {
  for (std::size_t i = 0; i < graph.part_count(); ++i)
    if (graph.part(PartId(i)).kind == kind) return PartId(i);
  const CaptureKind is = graph.part(PartId(0)).kind;
  return fail(Error::Kind::usage, "the graph is of kind {} and has no {}; {}", to_string(is),
              to_string(kind),
              is == CaptureKind::joint ? "run partition_joint_graph first"
                                       : "open a forward/backward pair");
}

}  // namespace jointer
