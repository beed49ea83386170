#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "core/graph/literal.h"
#include "tests/support/must.h"

namespace jointer::test {

// Parses a literal that must be valid.
inline Graph parse(std::string_view text) {
  return must(parse_literal(text));
}

inline const Node& node(const Graph& graph, std::string_view name) {
  const NodeId id = graph.find(name);
  if (!id) throw std::runtime_error("there is no node " + std::string(name));
  return graph.node(id);
}

// The real storage (Graph::real_storage) of a node's first tensor.
inline StorageId storage_of(const Graph& graph, std::string_view name) {
  return graph.real_storage(graph.tensors(node(graph, name)).front().storage);
}

}  // namespace jointer::test
