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
  std::size_t passes = 0;         // runs of the graph in the trace
  std::size_t matched = 0;        // nodes that matched a call in some pass
  std::size_t nodes = 0;          // nodes that make a call: no getitem, no Python arithmetic
  std::size_t foreign_calls = 0;  // calls of the graph's operators that match no node
  std::int64_t device_ns = 0, foreign_device_ns = 0;  // time of all kernels; of unmatched ones
};

// Reads a trace (Chrome JSON as torch.profiler exports it) and matches its calls to nodes. A node's
// own time is the total time of its kernels, or the time of its call if the trace has no kernels.
// It is the median over the passes; for a collective, it is the minimum, because waiting for a late
// rank only adds time. Lanes and kernels come from one pass. The notes count calls and nodes
// without a match. profiler_trace.cpp describes the steps. `device`, if not empty, replaces the
// name of the device in the trace. Error (input): the file is not such a trace or is damaged, or
// nothing in it matches the graph.
Result<TraceMatch> match_profiler_trace(const Graph& graph, std::string_view name,
                                        const PaddedBytes& json, const std::string& device = {});

}  // namespace jointer
