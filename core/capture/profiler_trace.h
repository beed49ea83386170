#pragma once

// Matches measurements in a torch.profiler trace to the nodes of a graph.

#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/bench/measurement.h"
#include "core/graph/graph.h"

namespace jointer {

// The measurement, and counts of what matched in the trace and in the graph.
struct TraceMatch {
  Measurement measurement;
  std::size_t passes = 0;   // runs of the graph in the trace
  std::size_t matched = 0;  // nodes that matched a call in some pass
  // Nodes that make a call: no getitem, Python arithmetic or higher-order operators.
  std::size_t nodes = 0;
  std::size_t foreign_calls = 0;  // in the passes: calls of the graph's operators without a node
  std::int64_t device_ns = 0, foreign_device_ns = 0;  // time of all kernels; of unmatched ones
};

// Reads a trace (Chrome JSON as torch.profiler exports it) and matches its calls to nodes. A node's
// own time is the total time of its kernels, or the time of its call if the trace has no kernels.
// It is the median over the passes; for a collective, it is the minimum, because waiting for a late
// rank only adds time. Without kernels, a collective's time lasts to the end of its wait, and is
// unknown (-1) if the wait did not block. Lanes and kernels come from one pass; nodes without times
// in it are left out. The notes count calls and nodes without a match. profiler_trace.cpp describes
// the steps. `device`, if not empty, replaces the name of the device in the trace. Error (input):
// the file is not such a trace or is damaged, lacks the kernels of a GPU on which the graph ran, or
// has nothing that matches the graph.
Result<TraceMatch> match_profiler_trace(const Graph& graph, std::string_view name,
                                        const PaddedBytes& json, const std::string& device = {});

}  // namespace jointer
