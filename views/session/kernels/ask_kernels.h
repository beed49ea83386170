#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/inductor/ask_inductor.h"
#include "core/kernels/kernel_differences.h"
#include "views/session/kernels/snapshot_kernels.h"
#include "views/session/work/job.h"

namespace jointer::views {

// The progress of asking Inductor about a graph.
struct AskedProgress {
  std::int32_t part = 0, parts = 1;  // for a pair, the forward is part 0 of 2
  AskProgress asked;                 // within this part

  // Between 0 and 1.
  [[nodiscard]] double fraction() const { return (part + asked.fraction()) / parts; }
};

// The kernels that Inductor's scheduler generates for a graph, and how they differ from those that
// Jointer predicts for the same version of torch.
struct AskedAnswer {
  struct Part {
    std::string content;  // content_of the part
    // The first list is the prediction; the second is Inductor's, whose kernels are in `kernels`.
    // Both contain nodes of the snapshot's graph.
    jointer::kernels::KernelComparison against_prediction;
  };

  SnapshotKernelsPtr kernels;  // of the graph that was asked about
  std::vector<Part> parts;     // as in `kernels`
  std::string torch;           // "2.15.0"
  std::string device;          // "h100"
};
using AskedAnswerPtr = std::shared_ptr<const AskedAnswer>;

// Asks Inductor about the snapshot's graph in a worker process; for a pair, about one half after
// the other, each in its own process. Call it on a worker thread, since it can take minutes.
// Errors: see ask_inductor, read_inductor_answer and half_graph.
Result<AskedAnswerPtr> ask_kernels(const SnapshotPtr& snapshot, const Reporter<AskedProgress>& job);

// The answer for another snapshot if its graph equals the one that was asked about; otherwise null.
// Error (cancelled): `job` was cancelled.
Result<AskedAnswerPtr> answer_for(const AskedAnswerPtr& answer, const SnapshotPtr& snapshot,
                                  const Cancellation& job);

}  // namespace jointer::views
