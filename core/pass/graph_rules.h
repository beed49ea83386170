#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/pass/registry.h"

namespace jointer {

// A pipeline step that cannot be applied to a graph.
struct GraphMistake {
  std::size_t step = 0;  // its index in the pipeline
  std::string message;   // one sentence
};

// Returns the enabled pipeline steps that must fail on this graph, whatever the other passes do: a
// partitioner whose input is not, or no longer, a joint graph; a pass that splits experts in a
// model without experts. Runs no pass. The cost is linear in nodes. Passes that are not built in
// may return any kind of graph, so steps after them are not checked for the kind of graph.
std::vector<GraphMistake> find_graph_mistakes(const Graph& graph, const Pipeline& pipeline,
                                              const PassRegistry& registry);
// Error (usage): the message of the first mistake.
Result<void> check_graph(const Graph& graph, const Pipeline& pipeline,
                         const PassRegistry& registry);

}  // namespace jointer
