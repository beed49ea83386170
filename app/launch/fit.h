#pragma once

// Fits a benchmark request to this machine, or says why it cannot run here.

#include "app/launch/machine.h"
#include "core/base/result.h"
#include "core/bench/request.h"
#include "core/graph/graph.h"

namespace jointer {

// With more processes than this on one machine, a benchmark measures how they slow each other down.
inline constexpr int kMaxRanks = 64;

// The number of ranks that the graph's collectives need; 1 without collectives.
int world_size(const Graph& graph);

// The threads of a rank's operators: those of the request, or the rank's share of the cores.
int threads_per_rank(const BenchmarkRequest& request, const Machine& machine);

struct FittedRequest {
  BenchmarkRequest request;        // with the number of ranks, unless one runs alone
  std::vector<std::string> notes;  // decisions that the user should know about
};

// Error (usage): the number of ranks does not match the graph's collectives, or exceeds what this
// machine can run; the message says how to run it.
Result<FittedRequest> fit_to_machine(const Graph& graph, BenchmarkRequest request,
                                     const Machine& machine);

}  // namespace jointer
