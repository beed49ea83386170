#pragma once

// Runs a benchmark on this machine: one process a rank, started as torchrun would start it,
// watched, and ended whatever happens.

#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/bench/request.h"
#include "core/bench/result.h"

namespace jointer {

struct LaunchOptions {
  // Told when something has changed, at most twenty times a second, and at the end. On the thread
  // that launches.
  std::function<void(const std::vector<RankResult>& ranks)> on_progress;
  // Asked at least twenty times a second, on the thread that launches. True ends every rank at
  // once.
  std::function<bool()> is_cancelled;
  // After a failure that may be another rank's doing the others have this long to end by
  // themselves: one of them may say better what the cause was.
  std::chrono::milliseconds last_words{1000};
  // And after any other failure, so that ranks that fail alike can say so.
  std::chrono::milliseconds same_words{200};
  // And then, asked to end (SIGTERM), this long until they are killed.
  std::chrono::milliseconds grace{1000};
  // Whether ranks with a file each are refused where their collectives do not meet (check_spmd).
  bool compares_ranks = true;
  // The time that a rank may take to load its libraries: the request's timeout starts at its first
  // sign of life, or after this time.
  std::chrono::milliseconds startup{30'000};
  // A rank that says it is done has this long to end.
  std::chrono::milliseconds closing{30'000};
};

// Blocks until every rank has ended: then no process of the run is left, and no file. What goes
// wrong with ranks is in the result (RankResult::status, BenchmarkResult::failure); a cancelled run
// has stopped ranks. The result is not concluded: that takes the graph. Error (usage): the request
// names neither how many ranks nor one alone (see fit_to_machine). Error (run): a program that
// ranks are made of is not there or cannot be started.
//
// Call it on a thread that lives as long as the run; on any number of threads at a time.
Result<BenchmarkResult> launch(const BenchmarkRequest& request, const LaunchOptions& options);

}  // namespace jointer
