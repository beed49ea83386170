#pragma once

// Measured times and memory of a graph, from a run (RankMeasured), a profiler's trace, or a CUDA
// memory snapshot. They are shown alongside the estimates; times can also be stored in the cost
// database.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/bench/event.h"
#include "core/cost/gpu_properties.h"
#include "core/graph/graph.h"

namespace jointer {

struct MeasuredNode {
  NodeId node;
  std::int64_t start_ns = 0, end_ns = 0;  // relative to the start of the step
  std::int64_t own_ns = 0;                // its own duration; negative if unknown
};

// Compiled code that ran in place of nodes of the graph.
struct MeasuredBlock {
  std::string name;  // "joint", "region 2"
  // The nodes that it replaced, in program order; at least one.
  std::vector<NodeId> nodes;
  std::int64_t start_ns = 0, end_ns = 0;  // relative to the start of the step
  std::int64_t own_ns = 0;
  std::int64_t peak_bytes = 0;        // maximum allocated while it ran
  std::vector<MeasuredBytes> memory;  // allocated bytes; times since its start; empty if unknown
};

// A kernel or a copy that ran on a GPU.
struct NodeKernel {
  NodeId node;       // the node that launched it; for a compiled block, one of its nodes
  std::string name;  // as the profiler reports it, with template arguments and parameters
  std::int64_t stream = 0;
  std::int64_t start_ns = 0, end_ns = 0;  // relative to the start of the step
};

struct Measurement {
  std::string label;   // "rank 0, interpret", "trace.json"
  std::string device;  // "NVIDIA H200"
  std::string device_type = "cpu";
  std::optional<GpuProperties> gpu;  // of the device, if it is a GPU and its driver reported them
  bool alone = false;               // collectives were local copies, so their times are meaningless
  std::vector<MeasuredNode> nodes;  // ordered by start; excludes those in `blocks`
  std::vector<MeasuredBlock> blocks;            // ordered by start
  std::vector<NodeKernel> kernels;              // ordered by start; empty if none were traced
  std::vector<std::int64_t> memory_profile;     // as MemoryTimeline::profile, or empty
  std::vector<MeasuredBytes> memory_over_time;  // ordered by time, or empty
  std::int64_t step_ns = 0;
  std::int64_t peak_bytes = 0;     // allocated, scratch included; 0 if unknown
  std::vector<std::string> notes;  // for the user, such as parts that could not be matched
};

// Converts a rank's profiled run. Leaves out positions that the graph does not have, and blocks
// without times or without nodes.
Measurement measurement_of(const Graph& graph, const RankMeasured& measured, std::string label,
                           std::string device, std::string device_type, bool alone);

// True for a collective that was a local copy, and for the wait for it: their times say nothing
// about a network. Copies to and from the host are real copies on a single rank too.
bool was_local_copy(const Graph& graph, const Measurement& measurement, const Node& node);

}  // namespace jointer
