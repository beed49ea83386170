#pragma once

// A whole benchmark of a graph that is open: files that ranks can read, the run, the prediction for
// the device that ran. What `jointer bench` and the desktop have in common.

#include <cstdint>

#include "app/launch/fit.h"
#include "app/launch/launcher.h"
#include "core/bench/result.h"
#include "core/cost/estimator.h"
#include "core/graph/graph.h"
#include "core/schedule/analysis.h"

namespace jointer {

struct BenchmarkOutcome {
  BenchmarkResult result;  // concluded
  Analysis analysis;       // the estimate for the device that ran, unless another one was asked for
};

// What ranks run.
enum class ProgramSource : std::uint8_t {
  files,  // the request's files, as they are
  graph,  // the graph in memory, for every rank: it was edited since it was opened from the files
};

// Blocks, as `launch`. `graph` is that of the first rank, and `fitted` names the files that it was
// opened from; a baseline is always read from files. An empty device in `estimator`: that which
// ran. Errors as of open_graph, launch and analyze; a rank that fails is none.
Result<BenchmarkOutcome> run_benchmark(const Graph& graph, const FittedRequest& fitted,
                                       const EstimatorRequest& estimator,
                                       const LaunchOptions& options,
                                       ProgramSource source = ProgramSource::files);

}  // namespace jointer
