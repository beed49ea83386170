#pragma once

// Reads graph_trainer's annotations of nodes, for passes of expert parallelism.

#include <memory>
#include <string>
#include <unordered_map>

#include "core/base/json_text.h"
#include "core/graph/graph.h"

namespace jointer {

// The `custom` members of nodes, each text parsed once. Must not outlive the graph.
class Annotations {
 public:
  explicit Annotations(const Graph& graph);
  ~Annotations();
  Annotations(const Annotations&) = delete;
  Annotations& operator=(const Annotations&) = delete;

  // The member of that name; null if the node has none.
  [[nodiscard]] const OrderedJson* find(NodeId node, const std::string& key);
  // A text member; empty if there is none.
  [[nodiscard]] std::string text(NodeId node, const std::string& key);

 private:
  const Graph& graph_;
  std::unordered_map<std::uint32_t, std::unique_ptr<const OrderedJson>>
      parsed_;  // by the text's id
};

// True if autograd ran it: by graph_trainer's `autograd_backward`, else by the phase.
bool runs_in_backward(const Graph& graph, const Node& node);

}  // namespace jointer
