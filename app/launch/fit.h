#pragma once

// Whether and how this machine can run what was asked for.

#include "app/launch/machine.h"
#include "core/base/result.h"
#include "core/bench/request.h"
#include "core/graph/graph.h"

namespace jointer {

// More processes than this on one machine measure how they are in each other's way.
inline constexpr int kMaxRanks = 64;

// Ranks that a graph's collectives need; 1 without any.
int world_size(const Graph& graph);

struct FittedRequest {
  BenchmarkRequest request;        // with the number of ranks, unless one runs alone
  std::vector<std::string> notes;  // what was decided for the person
};

// Error (usage): other ranks than the graph's collectives need, or more than this machine has room
// or devices for; the message says how it can be run.
Result<FittedRequest> fit_to_machine(const Graph& graph, BenchmarkRequest request,
                                     const Machine& machine);

}  // namespace jointer
