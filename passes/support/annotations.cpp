#include "passes/support/annotations.h"

#include <nlohmann/json.hpp>

namespace jointer {

Annotations::Annotations(const Graph& graph) : graph_(graph) {}
Annotations::~Annotations() = default;

const OrderedJson* Annotations::find(NodeId node, const std::string& key) {
  const StringId custom = graph_.node(node).custom;
  if (!custom) return nullptr;
  auto at = parsed_.find(custom.value());
  if (at == parsed_.end()) {
    auto json = parse_json(graph_.text(custom), "custom");
    at = parsed_
             .emplace(custom.value(),
                      std::make_unique<const OrderedJson>(
                          json && json->is_object() ? *std::move(json) : OrderedJson::object()))
             .first;
  }
  const OrderedJson& marks = *at->second;
  const auto member = marks.find(key);
  return member == marks.end() ? nullptr : &*member;
}

std::string Annotations::text(NodeId node, const std::string& key) {
  const OrderedJson* member = find(node, key);
  return member != nullptr && member->is_string() ? member->get<std::string>() : std::string();
}

bool runs_in_backward(const Graph& graph, const Node& node) {
  if (node.has(Node::has_autograd_backward)) return node.has(Node::autograd_backward);
  return graph.part(node.part).kind != CaptureKind::train_step && node.phase == Phase::backward;
}

}  // namespace jointer
