#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/pass/registry.h"

namespace jointer {

// A pipeline step that cannot be applied to a graph.
struct GraphMistake {
  std::size_t step = 0;  // index in the pipeline
  std::string message;   // one sentence
};

// Returns the enabled pipeline steps that are certain to fail on this graph: a partitioner whose
// input is not, or no longer, a joint graph, or a pass that splits experts in a model without
// experts. Runs no pass. A pass that is not built in may return any kind of graph, so the steps
// after it are not checked. Cost: linear in the nodes.
std::vector<GraphMistake> find_graph_mistakes(const Graph& graph, const Pipeline& pipeline,
                                              const PassRegistry& registry);
// Error (usage): the message of the first mistake.
Result<void> check_graph(const Graph& graph, const Pipeline& pipeline,
                         const PassRegistry& registry);

}  // namespace jointer
