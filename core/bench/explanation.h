#pragma once

// What makes a measured peak another than the predicted one, by name.
//
// The prediction counts what the graph holds. A kernel may take scratch memory beside that and give
// it back before it returns; the rest of a difference is storage that was held longer or shorter,
// or was of another size, than predicted.

#include <cstdint>
#include <string>
#include <vector>

#include "core/bench/event.h"
#include "core/graph/graph.h"
#include "core/schedule/memory_timeline.h"

namespace jointer {

struct PeakExplanation {
  std::int64_t difference = 0;  // measured minus predicted: the two that follow
  std::int64_t scratch = 0;     // above what the graph held
  std::int64_t held = 0;        // what the graph held, minus the prediction

  struct OperatorScratch {
    std::string target;
    std::size_t calls = 0;
    std::int64_t most_bytes = 0;  // of one call
    NodeId node;                  // that call
  };
  // Of a profiled run. By bytes, most first.
  std::vector<OperatorScratch> operators;
  // The node whose call the measured peak was in, scratch included; none without a profile.
  NodeId peak_node;
  // The first node after which the graph held more or less than predicted, and by how much.
  NodeId first_different;
  std::int64_t first_difference = 0;
};

// `memory` is the prediction for the device that ran.
PeakExplanation explain_peak(const Graph& graph, const MemoryTimeline& memory,
                             const RankMeasured& measured);

}  // namespace jointer
