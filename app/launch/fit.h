#pragma once

// Fits a benchmark request to this machine, or explains why the benchmark cannot run on it.

#include "app/launch/machine.h"
#include "core/base/result.h"
#include "core/bench/request.h"
#include "core/graph/graph.h"

namespace jointer {

// With more processes than this on one machine, a benchmark would measure how they slow each other
// down.
inline constexpr int kMaxRanks = 64;

// The number of ranks that the graph's collectives require; 1 if there are no collectives.
int world_size(const Graph& graph);

// The ranks that the request runs: one that runs alone, or all.
std::vector<int> rank_numbers(const BenchmarkRequest& request);

// The number of threads for a rank's operators: the requested number, or the rank's share of the
// cores.
int threads_per_rank(const BenchmarkRequest& request, const Machine& machine);

// Parts of messages that say how to change a setting. The defaults name options of `jointer bench`.
struct RunHints {
  std::string alone = "--solo RANK runs one rank alone, with local copies for collectives";
  std::string all_or_one = "leave out --ranks or --solo";
  std::string on_cpu = "use --on cpu to run without GPUs";
  std::string device = "--device FILE describes another device";  // empty if impossible
};

struct FittedRequest {
  BenchmarkRequest request;        // with the number of ranks, unless a rank runs alone
  std::vector<std::string> notes;  // decisions that the user should know about
  RunHints hints = {};
};

// Sets the number of ranks unless the request does. Error (usage): the request names both a rank to
// run alone and several ranks, the number of ranks does not match the graph's collectives, the rank
// to run alone does not exist, this machine cannot run that many ranks, or has too few GPUs for
// them (unless it has none, or the request chooses the CPU), or check_nsys fails.
Result<FittedRequest> fit_to_machine(const Graph& graph, BenchmarkRequest request,
                                     const Machine& machine, RunHints hints = {});

}  // namespace jointer
