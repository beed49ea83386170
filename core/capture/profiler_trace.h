#pragma once

// What torch.profiler measured, matched to a graph's nodes.

#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/bench/measurement.h"
#include "core/graph/graph.h"

namespace jointer {

struct TraceOptions {
  std::string device;  // its name, where the trace does not say or says it wrong; may be empty
};

// How much of a trace and of a graph found each other.
struct TraceMatch {
  Measurement measurement;
  std::size_t passes = 0;         // runs of the graph in the trace
  std::size_t matched = 0;        // nodes that found a call in some pass
  std::size_t nodes = 0;          // nodes that make a call: no getitem, no Python arithmetic
  std::size_t foreign_calls = 0;  // of operators that the graph has, but of no node of it
  std::int64_t device_ns = 0, foreign_device_ns = 0;  // kernels' time, and that of no node
};

// Reads a trace (Chrome JSON as torch.profiler exports it) and ties its calls to nodes. A node's
// own time is the median over the passes of its kernels' time together, or of its call where the
// trace has no GPU; of a collective the shortest, because waiting for a late rank only lengthens
// it. Lanes come from one pass. What found no partner is counted in the notes. Described in
// profiler_trace.cpp. Error (input): no such trace, damaged, or nothing in it fits the graph.
Result<TraceMatch> match_profiler_trace(const Graph& graph, std::string_view name,
                                        const PaddedBytes& json, const TraceOptions& options = {});

}  // namespace jointer
