#pragma once

// Explains why tokens per second or MFU cannot be computed for a graph.

#include <optional>
#include <string>

#include "core/cost/throughput.h"
#include "core/graph/graph.h"

namespace jointer {

// Returns the kind of a graph that is only a part of a training step (forward, backward or
// subgraph); nullopt for a whole step.
std::optional<CaptureKind> part_of_step(const Graph& graph);
// Returns true if the graph contains grouped matmuls, so that only some parameters are active for a
// token.
bool is_mixture_of_experts(const Graph& graph);

// The reason in a few words, and in a sentence. Both are empty if the rate is known.
struct UnknownRate {
  std::string brief, sentence;
};
// `facts` and `rates` describe `graph`.
UnknownRate unknown_tokens(const Graph& graph, const ModelFacts& facts, const Throughput& rates);
UnknownRate unknown_mfu(const Graph& graph, const ModelFacts& facts, const Throughput& rates);

}  // namespace jointer
