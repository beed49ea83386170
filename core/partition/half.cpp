// Extracts one half of a joint graph, as torch._functorch.partitioners does.
//
// Starting from the half's inputs and from constants, in program order, a node is within reach if
// everything that it reads is. Nodes that must be in the other half are out of reach; so are nodes
// that would run on the wrong side of a write (write_order.cpp). Calls within reach that nothing
// needs are dropped, unless they are impure (half_order.h).
//
// An output that is out of reach may be provided by another node that is within reach:
//  - the result of a copy_ that must run in the backward, by the tensor that it copies into;
//  - an element of a higher-order operator's result, or a view or reshape of that element, by the
//    operator's input under the key of the element.
//
// Cost: linear in the edges.

#include "core/partition/half.h"

#include "core/partition/half_order.h"
#include "core/partition/write_order.h"

namespace jointer {
namespace {

// The input that a higher-order operator received under the key that the getitem `id` reads; none
// for other nodes.
NodeId input_behind(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.kind != NodeKind::call || !graph.op(node).is_getitem) return {};
  const auto args = graph.args(node);
  if (args.size() != 2 || args[0].kind != Argument::Kind::node ||
      args[1].kind != Argument::Kind::string)
    return {};
  const Node& call = graph.node(args[0].node());
  const Argument* given = graph.member(call.kwargs, "kwargs");
  const Argument* input =
      given == nullptr ? nullptr : graph.member(*given, graph.text(args[1].text()));
  return input != nullptr && input->kind == Argument::Kind::node ? input->node() : NodeId{};
}

}  // namespace

NodeId find_substitute(const Graph& graph, const NodePlaces& places, NodeId output,
                       const std::vector<bool>& is_within) {
  const Node& node = graph.node(output);
  const auto within = [&](NodeId id) { return id && is_within[id.index()] ? id : NodeId{}; };
  const auto args = graph.args(node);
  const NodeId first =
      !args.empty() && args.front().kind == Argument::Kind::node ? args.front().node() : NodeId{};
  const std::string_view target = graph.target(node);
  if (target == "aten.copy_.default" && places.must_be_backward(node))
    if (const NodeId id = within(first)) return id;
  if (first && (target == "aten.view.default" || target == "aten.reshape.default"))
    if (const NodeId id = within(input_behind(graph, first))) return id;
  return within(input_behind(graph, output));
}

NodeId missing_ancestor(const Graph& graph, NodeId id, const std::vector<bool>& is_within) {
  return find_missing(GraphNodes(graph), id, is_within);
}

Result<Half> extract_half(const Graph& joint, const NodePlaces& places, HalfKind kind,
                          std::span<const NodeId> inputs, std::span<const NodeId> outputs) {
  const GraphNodes nodes(joint);
  std::vector<bool> is_within(joint.node_count(), false);
  for (const NodeId id : inputs) is_within[id.index()] = true;
  Half half;
  half.reached = find_available(nodes, is_within, [&](NodeId id) {
    const Node& node = joint.node(id);
    if (node.kind == NodeKind::placeholder || node.kind == NodeKind::output) return false;
    return kind == HalfKind::forward ? !places.must_be_backward(node) && !places.is_late(id)
                                     : !places.must_be_forward(node) && !places.overtaken_by(id);
  });

  std::vector<bool> is_needed(joint.node_count(), false);
  for (const NodeId output : outputs) {
    NodeId given = output;
    if (output && !is_within[output.index()]) {
      given = find_substitute(joint, places, output, is_within);
      if (!given) {
        const NodeId missing = missing_ancestor(joint, output, is_within);
        if (const NodeId write = places.overtaken_by(missing); write && kind == HalfKind::backward)
          return fail(Error::Kind::usage, "{}", overtaken(joint, missing, write));
        const bool is_forward = kind == HalfKind::forward;
        const std::string_view where = is_forward ? "forward" : "backward";
        const std::string why =
            joint.node(missing).kind == NodeKind::placeholder
                ? fmt::format("is not an input of the {}", where)
                : fmt::format("can run only in the {}", is_forward ? "backward" : "forward");
        if (missing == output)
          return fail(Error::Kind::usage, "the {} returns {}, which {}", where, joint.name(output),
                      why);
        return fail(Error::Kind::usage, "the {0} returns {1}, which depends on {2}, but {2} {3}",
                    where, joint.name(output), joint.name(missing), why);
      }
    }
    half.outputs.push_back(given);
    if (given) is_needed[given.index()] = true;
  }
  half.calls = find_needed(nodes, half.reached, is_needed);
  return half;
}

}  // namespace jointer
