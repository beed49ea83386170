#pragma once

// Explains the difference between a measured and a predicted peak by naming nodes.
//
// The prediction counts the graph's storages. A kernel may also allocate scratch memory and release
// it before it returns, and an allocator may provide more bytes than requested. Any remaining
// difference comes from storages whose lifetime or size differed from the prediction. In compiled
// blocks, for example, the intermediate values are not those of the graph.

#include <cstdint>
#include <string>
#include <vector>

#include "core/bench/event.h"
#include "core/graph/graph.h"
#include "core/schedule/memory_timeline.h"

namespace jointer {

struct PeakExplanation {
  std::int64_t difference = 0;  // bytes measured minus predicted: scratch + held + rounding
  std::int64_t scratch = 0;     // peak of requested bytes minus the peak of the graph's storages
  std::int64_t held = 0;        // peak of the graph's storages minus the prediction
  std::int64_t rounding = 0;    // by the allocator, beyond the prediction's rounding

  struct OperatorScratch {
    std::string target;
    std::size_t calls = 0;       // that allocated scratch memory
    std::int64_t max_bytes = 0;  // maximum over its calls
    NodeId node;                 // the call with that maximum
  };
  // Largest first; empty if `measured` contains no scratch memory.
  std::vector<OperatorScratch> operators;
  // Compiled blocks, largest peak first.
  struct Block {
    std::string name;
    std::size_t nodes = 0;
    std::int64_t peak_bytes = 0;
    std::int64_t ns = 0;  // 0 without a profile
  };
  std::vector<Block> blocks;
  // The node that was running when memory (including scratch) peaked; none if there is no profile,
  // if memory peaked at the start, or if a compiled block was running.
  NodeId peak_node;
  // The first node outside of compiled blocks at which the held memory differs from the prediction,
  // and the difference in bytes. If it differs at the start, there is no node. None and 0 if it
  // never differs, or there is no profile.
  NodeId first_different;
  std::int64_t first_difference = 0;
};

// `memory`: the prediction for the measured device.
PeakExplanation explain_peak(const Graph& graph, const MemoryTimeline& memory,
                             const RankMeasured& measured);

}  // namespace jointer
