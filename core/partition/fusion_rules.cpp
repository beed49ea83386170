#include "core/partition/fusion_rules.h"

#include <algorithm>

namespace jointer {
namespace {

constexpr std::string_view kTriton = "triton_kernel_wrapper_functional";

bool is_or_lists(const Graph& graph, const Argument* argument, NodeId node) {
  if (argument == nullptr) return false;
  if (argument->kind == Argument::Kind::node) return argument->node() == node;
  return argument->kind == Argument::Kind::list &&
         std::ranges::any_of(graph.children(*argument), [&](const Argument& child) {
           return child.kind == Argument::Kind::node && child.node() == node;
         });
}

}  // namespace

FusionRules::FusionRules(const Graph& graph)
    : graph_(graph), tags_(graph.node_count(), 0), special_(graph.node_count(), Special::none) {
  // Classify operators first: there are few of them.
  std::vector<Special> of_operator(graph.operator_count(), Special::none);
  for (std::size_t i = 0; i < of_operator.size(); ++i) {
    const OperatorInfo& op = graph.op(OperatorId(i));
    if (op.packet() == "aten.cat") of_operator[i] = Special::concatenation;
    if (op.name == kTriton || op.name == "auto_functionalized")
      of_operator[i] = Special::functionalized;
  }
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.kind != NodeKind::call) continue;
    const OperatorInfo& op = graph.op(node);
    tags_[id.index()] = op.tags;
    special_[id.index()] = of_operator[node.target.index()];
    if (op.is_getitem && node.input_count > 0 &&
        graph.target(graph.node(graph.inputs(node).front())) == kTriton)
      special_[id.index()] = Special::triton_result;
  }
}

bool FusionRules::writes_to(NodeId call, NodeId argument) const {
  const Node& node = graph_.node(call);
  if (graph_.target(node) == kTriton) {
    const Argument* names = graph_.member(node.kwargs, "tensors_to_clone");
    const Argument* given = graph_.member(node.kwargs, "kwargs");
    if (names == nullptr || given == nullptr) return false;
    return std::ranges::any_of(graph_.children(*names), [&](const Argument& name) {
      if (name.kind != Argument::Kind::string) return false;
      const Argument* value = graph_.member(*given, graph_.text(name.text()));
      return value != nullptr && value->kind == Argument::Kind::node && value->node() == argument;
    });
  }
  const auto args = graph_.args(node);
  if (args.empty() || args.front().kind != Argument::Kind::op) return false;
  const OperatorInfo op = describe_operator(graph_.text(args.front().text()));
  return std::ranges::any_of(op.arguments, [&](const SchemaArgument& written) {
    return written.writes &&
           is_or_lists(graph_, graph_.member(node.kwargs, written.name), argument);
  });
}

bool FusionRules::fuse(NodeId producer, NodeId reader) const {
  const Special special = special_[reader.index()];
  if (special == Special::concatenation) return true;
  if (special == Special::functionalized && writes_to(reader, producer)) return true;
  if (special_[producer.index()] == Special::triton_result) return false;
  return has(producer, OperatorTag::fusible) && has(reader, OperatorTag::fusible);
}

}  // namespace jointer
