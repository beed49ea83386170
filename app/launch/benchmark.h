#pragma once

// Runs a benchmark of an open graph: writes files that ranks can read, runs the ranks, and
// estimates memory and time, by default for the device that ran them. Used by the command line and
// the desktop.

#include <cstdint>

#include "app/launch/fit.h"
#include "app/launch/launcher.h"
#include "core/bench/result.h"
#include "core/cost/estimator.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer {

struct BenchmarkOutcome {
  BenchmarkResult result;  // after BenchmarkResult::conclude
  // The estimate for the device that ran the benchmark, unless another one was requested.
  Analysis analysis;
};

// The source of the ranks' programs.
enum class ProgramSource : std::uint8_t {
  files,  // the request's files, unchanged
  graph,  // the graph in memory, for every rank, because it was edited after it was opened
};

// Blocks, like `launch`. `graph` is the first rank's graph, and `fitted` names the files from which
// it was opened; a baseline is always read from files. If `estimator` names no device, estimates
// are for the device that ran the benchmark. The failure of a rank is a result, not an error.
//
// Error (input): the ranks' collectives do not match (check_spmd). Error (cancelled): the run was
// cancelled before the ranks were started. Other errors: same as open_graph, check_baseline, launch
// and analyze; or the files for the ranks cannot be written.
Result<BenchmarkOutcome> run_benchmark(const Graph& graph, const FittedRequest& fitted,
                                       const EstimatorRequest& estimator,
                                       const LaunchOptions& options,
                                       ProgramSource source = ProgramSource::files);

}  // namespace jointer
