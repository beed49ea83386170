#pragma once

// Runs a benchmark on this machine: starts one process per rank, as torchrun would, watches the
// processes, and always ends all of them.

#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/bench/request.h"
#include "core/bench/result.h"

namespace jointer {

struct LaunchOptions {
  // Called after changes, at most twenty times a second, and once at the end, on the thread that
  // called `launch`.
  std::function<void(const std::vector<RankResult>& ranks)> on_progress;
  // Called at least twenty times a second on the thread that called `launch`. Returning true ends
  // every rank immediately.
  std::function<bool()> is_cancelled;
  // The time to wait for the other ranks to exit on their own after a failure that one of them may
  // have caused and may still report.
  std::chrono::milliseconds last_words{1000};
  // The time to wait after any other failure, so that ranks with the same failure can report it.
  std::chrono::milliseconds same_words{200};
  // Time between SIGTERM and SIGKILL.
  std::chrono::milliseconds grace{1000};
  // If true and the ranks have separate files, `run_benchmark` refuses to run them unless their
  // collectives match (check_spmd). `launch` does not check.
  bool compares_ranks = true;
  // Time for loading libraries: the request's timeout starts at a rank's first sign of life, or
  // after this time, whichever comes first.
  std::chrono::milliseconds startup{30'000};
  // The time that a rank may take to exit after it has reported that it is done. If it runs under
  // Nsight Systems, ten minutes are added for its report.
  std::chrono::milliseconds closing{30'000};
};

// Blocks until every rank has ended and all processes and temporary files of the run are gone.
// Failures of ranks are part of the result (RankResult::status, BenchmarkResult::failure); the
// ranks of a cancelled run are stopped. The result is not concluded, since that requires the graph.
// Error (usage): the request has neither a number of ranks nor a rank to run alone (see
// fit_to_machine). Error (run): the program that ranks run, or nsys, is missing or cannot be
// started, reports cannot be written, or there is no free port or temporary folder.
//
// May be called on several threads at once.
Result<BenchmarkResult> launch(const BenchmarkRequest& request, const LaunchOptions& options);

}  // namespace jointer
