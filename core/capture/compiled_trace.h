#pragma once

// Reads a torch.profiler trace of compiled training steps (Kineto's Chrome trace): what each graph
// compiled by Inductor launched, in order, with measured times. measured_kernels.h ties the
// calls to the kernels of a graph. compiled_trace.cpp has the rules.
//
// Terms
//   compiled graph   the result of one Inductor compilation, for example of one half of a pair or
//                    of a region
//   run              one execution of a compiled graph in the trace
//   call             a statement of the wrapper that launches work by calling a Triton kernel, a C++
//                    function, an ATen or library operator, or a collective
//   launch           a kernel or a copy on the device; an operator may launch several. In a trace
//                    of the CPU, each call is its own launch.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"

namespace jointer {

struct TracedLaunch {
  std::string name;         // as the profiler reports it
  std::size_t call = 0;     // index in TracedGraph::calls
  std::int64_t stream = 0;  // of the GPU; on the CPU, the number of the thread
  // Times in the run that is shown (TracedGraph::span_ns), from the start of the run's earliest
  // launch.
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t gap_ns = 0;  // idle time of the stream before it, in that run
};

struct TracedCall {
  // "triton_poi_fused_add_0", "cpp_fused_add_0", or an operator: "aten::mm". Empty if the trace
  // does not say, as for library kernels in a CUDA graph.
  std::string name;
  // Its launches: [first, first + count) in TracedGraph::launches.
  std::size_t first = 0, count = 0;
  // The total duration of its launches: the median of the runs or, for a collective, the minimum,
  // since waiting for a late rank only adds time.
  std::int64_t ns = 0;
  bool is_collective = false;
};

// The work of one stream in the run that is shown. kernel_ns + gap_ns - overlap_ns == span_ns.
struct TracedStream {
  std::int64_t stream = 0;
  std::size_t launches = 0;
  std::int64_t kernel_ns = 0;   // sum of the durations
  std::int64_t gap_ns = 0;      // between launches
  std::int64_t overlap_ns = 0;  // while launches overlapped an earlier one of the stream
  std::int64_t span_ns = 0;     // from the start of the first launch to the end of the last one
};

struct TracedGraph {
  std::string key;  // of the compiled graph in Inductor's cache; empty if the trace has no keys
  // In the order in which the CPU launched them. Launches of one CUDA graph are ordered by stream,
  // then by start.
  std::vector<TracedCall> calls;
  std::vector<TracedLaunch> launches;
  std::vector<TracedStream> streams;  // ordered by time of kernels, longest first
  std::size_t runs = 0;               // with these calls; times are of these runs
  std::size_t steps = 0;              // number of ProfilerSteps in which these runs start
  std::size_t other_runs = 0;         // that made other calls and are left out
  std::int64_t span_ns = 0;           // of the run that is shown: the one with the median duration
};

struct CompiledTrace {
  std::string label;   // the file's name
  std::string device;  // "NVIDIA H200"; "GPU" if the trace does not name it; or "CPU"
  bool is_gpu = false;
  std::vector<TracedGraph> graphs;  // in the order of their first runs
  std::size_t steps = 0;            // number of ProfilerSteps in the trace
  // Launches outside compiled graphs, such as those of the optimizer, in the whole trace; 0 if the
  // trace marks no compiled graphs.
  std::size_t outside_launches = 0;
  std::int64_t outside_ns = 0;
};

// True for the names that Inductor gives to kernels that it generates. `name` is that of a kernel,
// or of a call in a trace.
bool is_inductor_kernel(std::string_view name);

// `name` is used in messages, and its last part is the label. Error (input): the file is not a
// trace or is damaged, its step was not compiled, its compiled graphs launch nothing, or its
// kernels were not recorded; the message then says how to record them.
Result<CompiledTrace> read_compiled_trace(std::string_view name, const PaddedBytes& json);

// Reads a file, which may be compressed.
Result<CompiledTrace> read_compiled_trace(const std::string& path);

}  // namespace jointer
