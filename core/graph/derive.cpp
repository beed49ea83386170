#include "core/graph/derive.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/graph/derive_parameters.h"
#include "core/graph/recomputed_name.h"

namespace jointer {
namespace {

using Json = nlohmann::json;

Json parse_json(std::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

std::string text_member(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

// Returns the innermost descriptor; null if there is none. The descriptor of a component of a
// tensor subclass wraps that of the whole tensor.
const Json* base_descriptor(const Json& descriptor) {
  const Json* at = &descriptor;
  for (int depth = 0; at->is_object() && depth < 16; ++depth) {
    const auto base = at->find("base");
    if (base == at->end()) return at;
    at = &*base;
  }
  return at->is_object() ? at : nullptr;
}

Descriptor describe(const Json& json) {
  const Json* base = base_descriptor(json);
  if (base == nullptr) return {};
  const std::string type = text_member(*base, "type");
  if (type == "ParamAOTInput") return {Role::parameter, text_member(*base, "target")};
  if (type == "BufferAOTInput") return {Role::buffer, text_member(*base, "target")};
  if (type == "TangentAOTInput") return {Role::tangent, {}};
  if (type == "GradAOTOutput") {
    const auto of = base->find("grad_of");
    const Json* input = of == base->end() ? nullptr : base_descriptor(*of);
    return {Role::gradient, input == nullptr ? std::string() : text_member(*input, "target")};
  }
  if (type == "InputMutationAOTOutput") return {Role::mutation, {}};
  if (type == "SavedForBackwardsAOTOutput") return {Role::saved, {}};
  if (type == "PlainAOTInput") return {Role::input, {}};
  if (type == "PlainAOTOutput" || type == "IntermediateBaseAOTOutput" ||
      type == "MetadataMutationAOTOutput")
    return {Role::result, {}};
  return {type.empty() ? Role::none : Role::other, {}};
}

bool is_primal(std::string_view name) {
  return name.starts_with("primals");
}
bool is_tangent(std::string_view name) {
  return name.starts_with("tangents");
}

void derive_tagged(Graph& graph, PartId part, std::size_t& untagged) {
  const CaptureKind kind = graph.part(part).kind;
  for (const NodeId id : graph.order()) {
    Node& n = graph.node(id);
    if (n.part != part) continue;
    const std::string_view tag = graph.text(n.partitioner_tag);
    if (kind == CaptureKind::backward) {
      n.phase = Phase::backward;
      n.set(Node::recomputed, tag == "is_forward" && n.kind == NodeKind::call);
    } else if (tag == "is_backward" || n.has(Node::autograd_backward)) {
      n.phase = Phase::backward;
    } else if (tag.empty() && n.kind == NodeKind::call) {
      ++untagged;
    }
    if (n.kind == NodeKind::call && graph.name(id).ends_with(kRecomputedSuffix))
      n.set(Node::recomputed);
  }
}

void derive_from_tangents(Graph& graph, PartId part) {
  // A joint graph returns the forward outputs first, followed by one gradient per primal.
  std::size_t primals = 0;
  bool any_tangent = false;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.part != part || n.kind != NodeKind::placeholder) continue;
    if (is_primal(graph.name(id))) ++primals;
    any_tangent = any_tangent || is_tangent(graph.name(id));
  }
  if (!any_tangent) return;
  std::vector<NodeId> forward_outputs;
  if (const NodeId output = output_node(graph, part)) {
    const auto elements = output_arguments(graph, output);
    const std::size_t gradients = std::min(primals, elements.size());
    for (std::size_t i = 0; i + gradients < elements.size(); ++i)
      if (elements[i].kind == Argument::Kind::node) forward_outputs.push_back(elements[i].node());
  }
  const std::vector<bool> feeds_forward = ancestors(graph, std::move(forward_outputs));
  bool started = false;
  for (const NodeId id : graph.order()) {
    Node& n = graph.node(id);
    if (n.part != part) continue;
    if (n.kind == NodeKind::placeholder) {
      if (is_tangent(graph.name(id))) n.phase = Phase::backward;
      continue;
    }
    const auto inputs = graph.inputs(id);
    const bool depends = std::ranges::any_of(
        inputs, [&](NodeId input) { return graph.node(input).phase == Phase::backward; });
    started = started || (depends && n.kind == NodeKind::call);
    if (depends || (started && !feeds_forward[id.index()])) n.phase = Phase::backward;
  }
  graph.add_fact(Fact::Kind::derived,
                 "the file does not mark forward and backward: nodes that depend on a tangent, or "
                 "come after the first of these and feed no forward output, count as backward");
}

void derive_from_dependence(Graph& graph, PartId part) {
  for (const NodeId id : graph.order()) {
    Node& n = graph.node(id);
    if (n.part != part) continue;
    if (n.kind == NodeKind::placeholder && is_tangent(graph.name(id))) n.phase = Phase::backward;
    const auto inputs = graph.inputs(id);
    if (std::ranges::any_of(
            inputs, [&](NodeId input) { return graph.node(input).phase == Phase::backward; }))
      n.phase = Phase::backward;
  }
}

}  // namespace

std::vector<bool> ancestors(const Graph& graph, std::vector<NodeId> nodes) {
  std::vector<bool> reached(graph.node_count(), false);
  while (!nodes.empty()) {
    const NodeId id = nodes.back();
    nodes.pop_back();
    if (!id || reached[id.index()]) continue;
    reached[id.index()] = true;
    for (const NodeId input : graph.inputs(id)) nodes.push_back(input);
  }
  return reached;
}

NodeId output_node(const Graph& graph, PartId part) {
  for (auto id = graph.order().rbegin(); id != graph.order().rend(); ++id)
    if (graph.node(*id).part == part && graph.node(*id).kind == NodeKind::output) return *id;
  return {};
}

std::vector<Argument> output_arguments(const Graph& graph, NodeId output) {
  std::vector<Argument> leaves;
  const auto collect = [&](const auto& self, const Argument& argument) -> void {
    if (!argument.has_children()) {
      leaves.push_back(argument);
      return;
    }
    const auto children = graph.children(argument);
    // The children of a dictionary are alternating keys and values.
    const bool is_dict = argument.kind == Argument::Kind::dict;
    for (std::size_t i = is_dict ? 1 : 0; i < children.size(); i += is_dict ? 2 : 1)
      self(self, children[i]);
  };
  for (const Argument& argument : graph.args(graph.node(output))) collect(collect, argument);
  return leaves;
}

std::vector<OutputEntry> derive_outputs(const Graph& graph, PartId part) {
  std::vector<OutputEntry> entries;
  const NodeId output = output_node(graph, part);
  if (!output) return entries;
  const Json descriptors = parse_json(graph.text(graph.node(output).desc));
  const auto elements = output_arguments(graph, output);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    OutputEntry entry;
    if (elements[i].kind == Argument::Kind::node) entry.node = elements[i].node();
    if (descriptors.is_array() && i < descriptors.size()) {
      Descriptor descriptor = describe(descriptors[i]);
      entry.role = descriptor.role;
      entry.target = std::move(descriptor.target);
    } else if (entry.node) {
      entry.role = graph.node(entry.node).phase == Phase::backward ? Role::gradient : Role::result;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

Descriptor parse_descriptor(std::string_view json) {
  const Json parsed = parse_json(json);
  return parsed.is_object() ? describe(parsed) : Descriptor{};
}

void derive_phases(Graph& graph) {
  for (std::size_t i = 0; i < graph.part_count(); ++i) {
    const PartId part(i);
    std::size_t untagged = 0;
    derive_tagged(graph, part, untagged);
    if (graph.part(part).kind == CaptureKind::backward || untagged == 0) continue;
    const auto order = graph.order();
    const bool any_backward = std::ranges::any_of(order, [&](NodeId id) {
      const Node& n = graph.node(id);
      return n.part == part && n.kind == NodeKind::call && n.phase == Phase::backward;
    });
    if (any_backward)
      derive_from_dependence(graph, part);
    else
      derive_from_tangents(graph, part);
  }
}

void derive_roles(Graph& graph) {
  std::size_t derived = 0;
  for (std::size_t p = 0; p < graph.part_count(); ++p) {
    const PartId part(p);
    const CaptureKind kind = graph.part(part).kind;
    graph.part(part).outputs = derive_outputs(graph, part);
    std::vector<NodeId> unknown_primals;
    std::size_t primals = 0;
    bool names_parameters = false;  // if false, a `PlainAOTInput` may be a parameter
    for (const NodeId id : graph.order()) {
      Node& n = graph.node(id);
      if (n.part != part || n.kind != NodeKind::placeholder) continue;
      const std::string_view name = graph.name(id);
      const Descriptor descriptor = parse_descriptor(graph.text(n.desc));
      primals += is_primal(name) ? 1 : 0;
      if (descriptor.role != Role::none) {
        n.role = descriptor.role;
        n.role_target = graph.intern(descriptor.target);
        if (n.role == Role::input && is_primal(name)) unknown_primals.push_back(id);
        names_parameters = names_parameters || n.role == Role::parameter || n.role == Role::buffer;
      } else if (is_tangent(name)) {
        n.role = Role::tangent;
      } else if (is_primal(name)) {
        n.role = Role::input;
        unknown_primals.push_back(id);
      } else if (n.tensor_count == 0 && n.value.kind == Value::Kind::opaque) {
        n.role = Role::other;
      } else {
        n.role = kind == CaptureKind::backward ? Role::saved : Role::input;
      }
    }
    derive_step_parameters(graph, part);
    // The last outputs of a joint graph are the gradients of the primals, in the order of the
    // primals.
    if (kind != CaptureKind::joint || unknown_primals.empty() || names_parameters) continue;
    const auto& entries = graph.part(part).outputs;
    if (unknown_primals.size() != primals || entries.size() < primals) continue;
    const std::size_t first = entries.size() - primals;
    for (std::size_t i = 0; i < primals; ++i) {
      Node& n = graph.node(unknown_primals[i]);
      if (!entries[first + i].node) continue;
      n.role = Role::parameter;
      ++derived;
    }
  }
  if (derived > 0)
    graph.add_fact(Fact::Kind::derived, fmt::format("{}: the graph returns gradients of primals, "
                                                    "and the file does not say which primals are "
                                                    "parameters",
                                                    counted(derived, "primal counts as a parameter",
                                                            "primals count as parameters")));
}

namespace {

// Returns the random-generator states that the forward returns. The backward names them
// rng_state_output_0, _1, ... in this order.
std::vector<NodeId> returned_states(const Graph& graph, PartId forward) {
  std::vector<NodeId> states;
  for (const OutputEntry& entry : graph.part(forward).outputs) {
    if (!entry.node) continue;
    const Node& node = graph.node(entry.node);
    const auto args = graph.args(node);
    if (node.kind == NodeKind::call && graph.op(node).is_getitem && args.size() == 2 &&
        args[0].kind == Argument::Kind::node && args[1].kind == Argument::Kind::integer &&
        args[1].integer == 0 &&
        graph.target(graph.node(args[0].node())) == "run_and_save_rng_state")
      states.push_back(entry.node);
  }
  return states;
}

}  // namespace

Result<void> link_pair(Graph& graph) {
  if (!graph.is_pair()) return {};
  const PartId forward(0), backward(1);
  const std::vector<NodeId> states = returned_states(graph, forward);
  std::size_t next_state = 0;
  std::vector<bool> is_output(graph.node_count(), false);
  for (const OutputEntry& entry : graph.part(forward).outputs)
    if (entry.node) is_output[entry.node.index()] = true;
  std::size_t linked = 0, missing = 0;
  std::string first_missing;
  for (const NodeId id : graph.order()) {
    Node& n = graph.node(id);
    if (n.part != backward || n.kind != NodeKind::placeholder) continue;
    NodeId partner = graph.find(forward, graph.name(id));
    if (graph.name(id).starts_with("rng_state_output_") && next_state < states.size())
      partner = states[next_state++];
    if (partner && is_output[partner.index()]) {
      n.partner = partner;
      const Node& source = graph.node(partner);
      if (source.kind == NodeKind::placeholder) {
        n.role = source.role;
        n.role_target = source.role_target;
      } else {
        n.role = Role::saved;
      }
      ++linked;
    } else if (n.role != Role::tangent && n.tensor_count > 0) {
      if (missing++ == 0) first_missing = graph.name(id);
    }
  }
  if (missing > 0)
    return input_error(
        "the backward does not belong to the forward: {} of its {} inputs from the forward {}, "
        "such as {}; open two halves of the same partition",
        missing, missing + linked,
        missing == 1 ? "is not an output there" : "are not outputs there", first_missing);
  return {};
}

}  // namespace jointer
