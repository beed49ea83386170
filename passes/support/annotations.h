#pragma once

// Reads the annotations of nodes.

#include <memory>
#include <string>
#include <unordered_map>

#include "core/base/json_text.h"
#include "core/graph/graph.h"

namespace jointer {

// The `custom` members of nodes. Parses each distinct text once. The graph must outlive this
// object.
class Annotations {
 public:
  explicit Annotations(const Graph& graph);
  ~Annotations();
  Annotations(const Annotations&) = delete;
  Annotations& operator=(const Annotations&) = delete;

  // The member `key`, or null if the node does not have it. Valid as long as this object.
  [[nodiscard]] const OrderedJson* find(NodeId node, const std::string& key);
  // The member `key` if it is a string, or an empty string.
  [[nodiscard]] std::string text(NodeId node, const std::string& key);

 private:
  const Graph& graph_;
  std::unordered_map<std::uint32_t, std::unique_ptr<const OrderedJson>>
      parsed_;  // by the text's id
};

// True if the node belongs to the backward, according to graph_trainer's flag `autograd_backward`.
// If the node lacks the flag, its phase decides, except in a flat training step, where the result
// is false.
bool runs_in_backward(const Graph& graph, const Node& node);

}  // namespace jointer
