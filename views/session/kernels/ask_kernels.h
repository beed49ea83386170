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

// How far the question about a graph is.
struct AskedProgress {
  std::int32_t part = 0, parts = 1;  // of a pair, the forward is part 0 of 2
  AskProgress asked;                 // about this part

  // Between 0 and 1.
  [[nodiscard]] double fraction() const { return (part + asked.fraction()) / parts; }
};

// The kernels that Inductor makes of a graph, as its scheduler says, and what differs from the
// kernels that are predicted for the same version of torch.
struct AskedAnswer {
  struct Part {
    std::string content;  // content_of the part
    // First: the prediction. Second: Inductor, whose kernels are those of `kernels`. The nodes are
    // those of the snapshot's graph.
    jointer::kernels::KernelComparison against_prediction;
  };

  SnapshotKernelsPtr kernels;  // of the graph that was asked about
  std::vector<Part> parts;     // as in `kernels`
  std::string torch;           // "2.15.0"
  std::string device;          // "h100"
};
using AskedAnswerPtr = std::shared_ptr<const AskedAnswer>;

// Asks Inductor about the snapshot's graph, one worker process for each half of a pair. Runs on a
// worker thread, for up to minutes. Errors: those of ask_inductor; those of half_graph.
Result<AskedAnswerPtr> ask_kernels(const SnapshotPtr& snapshot, const Reporter<AskedProgress>& job);

// The same answer about the graph of another snapshot if that is the same graph; otherwise null.
Result<AskedAnswerPtr> answer_for(const AskedAnswerPtr& answer, const SnapshotPtr& snapshot,
                                  const Cancellation& job);

}  // namespace jointer::views
