// Classifies the nodes of a joint graph, as torch._functorch.partitioners.classify_nodes does.
//
// Placeholders are classified by the text that their targets contain: tangents (`tangents`), random
// seeds of the forward (`fwd_seed`, `fwd_base_offset`) and of the backward (`bwd_seed`,
// `bwd_base_offset`), and primals (anything else). A placeholder with the role of a tangent is a
// tangent, whatever its target.
//
// The first outputs are the forward's. With descriptors, these are the outputs up to the last one
// that a forward returns (such as a result, a mutated input, a forward's token or random offset).
// Without descriptors, if some placeholders are named primals, but fewer than there are outputs,
// the last outputs, one per such placeholder, are the backward's. Otherwise, the forward's are the
// outputs up to the last one that is neither null nor a gradient.
//
// Backward: tangents, nodes that must be in it because of writes or their partitioner tags, and
// everything that reads from these; also the outputs of the backward, which may be computed
// elsewhere.
//
// Forward: inputs, the impure calls that the forward can run (half.cpp), everything that these
// calls and the forward's outputs are computed from, and calls that cannot be recomputed
// (unrepeatable.cpp) and are not in the backward as defined above.
//
// Static: parameters and buffers, which stay live whatever is saved.
//
// Cost: linear in the edges.

#include "core/partition/joint_parts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/graph/symbolic_float.h"
#include "core/partition/half.h"
#include "core/partition/unrepeatable.h"
#include "core/partition/write_order.h"

namespace jointer {
namespace {

constexpr std::string_view kForwardTag = "is_forward", kBackwardTag = "is_backward";

// The type of a descriptor, such as "PlainAOTOutput", even if descriptors of tensor subclasses wrap
// it.
std::string_view output_type(const nlohmann::json& descriptor) {
  const nlohmann::json* at = &descriptor;
  while (at->is_object() && at->contains("base") && at->value("type", "").starts_with("Subclass"))
    at = &(*at)["base"];
  if (!at->is_object()) return {};
  const auto type = at->find("type");
  return type != at->end() && type->is_string()
             ? std::string_view(type->get_ref<const std::string&>())
             : std::string_view();
}

bool is_forward_output(std::string_view type) {
  return type == "PlainAOTOutput" || type == "InputMutationAOTOutput" ||
         type == "IntermediateBaseAOTOutput" || type == "MetadataMutationAOTOutput" ||
         type == "PhiloxUpdatedForwardOffsetAOTOutput" || type == "ForwardTokenAOTOutput";
}

}  // namespace

NodePlaces::NodePlaces(const Graph& graph) : graph_(graph) {
  any_tags_ = std::ranges::any_of(graph.order(), [&](NodeId id) {
    const Node& node = graph.node(id);
    return node.kind == NodeKind::call && has_tag(node, kForwardTag);
  });
  const WriteOrder writes(graph);
  if (!writes.any()) return;
  overtaken_by_.resize(graph.node_count());
  is_late_.resize(graph.node_count());
  for (const NodeId id : graph.order()) {
    const bool is_backwards = is_backward(graph.node(id));
    overtaken_by_[id.index()] = writes.next_write(
        id, [&](NodeId write) { return !is_backwards || must_be_forward(graph.node(write)); });
    is_late_[id.index()] =
        writes.any_before(id, [&](NodeId write) { return must_be_backward(graph.node(write)); });
  }
}

bool NodePlaces::has_tag(const Node& node, std::string_view tag) const {
  return graph_.text(node.partitioner_tag) == tag;
}

bool NodePlaces::is_forward(const Node& node) const {
  if (any_tags_) return has_tag(node, kForwardTag);
  return node.phase == Phase::forward && node.kind != NodeKind::output;
}

bool NodePlaces::is_backward(const Node& node) const {
  return any_tags_ ? has_tag(node, kBackwardTag) : node.phase == Phase::backward;
}

bool NodePlaces::must_be_forward(const Node& node) const {
  if (has_tag(node, "must_be_in_forward")) return true;
  return node.kind == NodeKind::call && graph_.op(node).mutates && !is_backward(node) &&
         !has_tag(node, "must_be_in_backward");
}

bool NodePlaces::must_be_backward(const Node& node) const {
  if (has_tag(node, "must_be_in_backward")) return true;
  return node.kind == NodeKind::call && graph_.op(node).mutates && is_backward(node);
}

bool NodePlaces::names(const Node& node, std::string_view part) const {
  return node.kind == NodeKind::placeholder &&
         graph_.target(node).find(part) != std::string_view::npos;
}

bool NodePlaces::is_tangent(const Node& node) const {
  return node.kind == NodeKind::placeholder &&
         (node.role == Role::tangent || names(node, "tangents"));
}

bool NodePlaces::is_forward_seed(const Node& node) const {
  return names(node, "fwd_seed") || names(node, "fwd_base_offset");
}

bool NodePlaces::is_backward_seed(const Node& node) const {
  return names(node, "bwd_seed") || names(node, "bwd_base_offset");
}

bool NodePlaces::is_backward_state(const Node& node) const {
  return node.kind == NodeKind::placeholder && node.value.kind == Value::Kind::opaque &&
         graph_.text(node.value.text()) == "BackwardState";
}

bool NodePlaces::is_primal(const Node& node) const {
  return node.kind == NodeKind::placeholder && !is_tangent(node) && !is_forward_seed(node) &&
         !is_backward_seed(node);
}

bool JointParts::any_backward() const {
  const auto any = [](const std::vector<bool>& flags) {
    return std::find(flags.begin(), flags.end(), true) != flags.end();
  };
  return any(depends_on_tangent) || any(feeds_gradient);
}

bool is_symbol(const Graph& graph, const Node& node) {
  return node.value.kind == Value::Kind::symbol || is_symbolic_float(graph, node);
}

bool is_device(const Graph& graph, const Node& node) {
  return node.value.kind == Value::Kind::opaque && graph.text(node.value.text()) == "device";
}

bool is_symbolic_float(const Graph& graph, const Node& node) {
  if (node.value.kind != Value::Kind::symbol) return symbolic_float(graph, node.value).has_value();
  const std::string_view text = graph.expression_text(node.value.expression());
  return text.find("ToFloat") != std::string_view::npos ||
         text.find("TrueDiv") != std::string_view::npos;
}

std::size_t forward_output_count(const Graph& joint) {
  const std::vector<OutputEntry>& outputs = joint.part(PartId(0)).outputs;
  const Node& output = joint.node(joint.order().back());
  const std::string_view text = joint.text(output.desc);
  const auto descriptors = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  std::size_t count = 0;
  if (descriptors.is_array()) {
    for (std::size_t i = 0; i < std::min(descriptors.size(), outputs.size()); ++i)
      if (is_forward_output(output_type(descriptors[i]))) count = i + 1;
    return count;
  }
  const std::size_t primals =
      static_cast<std::size_t>(std::ranges::count_if(joint.order(), [&](NodeId id) {
        return joint.node(id).kind == NodeKind::placeholder &&
               joint.target(joint.node(id)).starts_with("primals");
      }));
  if (primals > 0 && primals < outputs.size()) return outputs.size() - primals;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].node && outputs[i].role != Role::gradient) count = i + 1;
  return count;
}

Result<void> check_joint(const Graph& graph) {
  if (graph.is_pair() || graph.part(PartId(0)).kind != CaptureKind::joint)
    return fail(Error::Kind::usage,
                "only a joint graph can be partitioned, but this graph is of kind {}",
                graph.is_pair() ? "pair" : to_string(graph.part(PartId(0)).kind));
  return {};
}

Result<JointParts> find_joint_parts(const Graph& joint) {
  JOINTER_CHECK(check_joint(joint));
  const NodePlaces places(joint);
  JointParts parts;
  parts.depends_on_tangent.assign(joint.node_count(), false);
  parts.feeds_gradient.assign(joint.node_count(), false);
  parts.is_static.assign(joint.node_count(), false);
  parts.forward_position.assign(joint.node_count(), JointParts::kNotForward);

  std::vector<NodeId> seeds;
  for (const NodeId id : joint.order()) {
    const Node& node = joint.node(id);
    const auto inputs = joint.inputs(id);
    parts.depends_on_tangent[id.index()] =
        places.is_tangent(node) || places.must_be_backward(node) || places.is_late(id) ||
        (node.kind != NodeKind::output && std::ranges::any_of(inputs, [&](NodeId input) {
           return parts.depends_on_tangent[input.index()];
         }));
    if (places.is_tangent(node)) parts.tangents.push_back(id);
    if (places.is_backward_seed(node)) parts.backward_seeds.push_back(id);
    if (places.is_backward_state(node)) parts.backward_states.push_back(id);
    if (places.is_forward_seed(node)) seeds.push_back(id);
    if (!places.is_primal(node)) continue;
    parts.forward_inputs.push_back(id);
    parts.is_static[id.index()] = node.role == Role::parameter || node.role == Role::buffer;
  }
  parts.forward_inputs.insert(parts.forward_inputs.end(), seeds.begin(), seeds.end());

  const std::vector<OutputEntry>& outputs = joint.part(PartId(0)).outputs;
  const std::size_t forward_count = forward_output_count(joint);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    (i < forward_count ? parts.forward_outputs : parts.backward_outputs).push_back(outputs[i].node);
    if (i >= forward_count && outputs[i].node) parts.feeds_gradient[outputs[i].node.index()] = true;
  }

  JOINTER_TRY(const Half forward, extract_half(joint, places, HalfKind::forward,
                                               parts.forward_inputs, parts.forward_outputs));
  for (const NodeId id : parts.forward_inputs) parts.forward_position[id.index()] = 0;
  for (const NodeId id : forward.calls) parts.forward_position[id.index()] = 0;
  const std::vector<bool> stays = find_unrepeatable(joint, places);
  for (std::size_t i = 0; i < stays.size(); ++i)
    if (stays[i] && !parts.depends_on_tangent[i]) parts.forward_position[i] = 0;
  std::uint32_t position = 0;
  for (const NodeId id : joint.order())
    if (parts.is_forward(id)) parts.forward_position[id.index()] = position++;
  return parts;
}

}  // namespace jointer
