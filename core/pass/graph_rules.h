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

// Returns the enabled pipeline steps that do not fit this graph: passes that would get the wrong
// kind of graph, such as a partitioner whose input is no longer a joint graph. The same applies to
// ep_overlap_chunk if the step sets require_all_to_all, its pattern does not name one module, and
// the graph has no all_to_all_single. Runs no pass. After a pass that may return any kind of graph,
// such as one that is not built in, steps are not checked until the kind is known again. Cost:
// linear in the nodes.
std::vector<GraphMistake> find_graph_mistakes(const Graph& graph, const Pipeline& pipeline,
                                              const PassRegistry& registry);
// Error (usage): the message of the first mistake.
Result<void> check_graph(const Graph& graph, const Pipeline& pipeline,
                         const PassRegistry& registry);

}  // namespace jointer
