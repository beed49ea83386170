#pragma once

// Finds the calls in a trace that may be nodes of a graph, attributes kernels to them, and groups
// them into runs of the graph. Private to core/capture/profiler_*.cpp.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/capture/profiler_events.h"
#include "core/graph/graph.h"

namespace jointer {

// A token is a small number that identifies an operator and the shapes of its inputs or, for a
// collective, only its kind. A node and a call with the same token may match.
class CallTokens {
 public:
  // If the trace has no shapes, a token identifies only the operator.
  CallTokens(const Graph& graph, const ProfilerEvents& events);

  // The nodes that make a call, in program order, and their tokens.
  [[nodiscard]] const std::vector<NodeId>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<std::uint32_t>& of_nodes() const { return of_nodes_; }
  // True if the graph calls the operator with this event name or, for a method of a process group
  // (c10d::allreduce_), a collective of the kind that it starts.
  [[nodiscard]] bool knows(StringId event_name) const { return names_[event_name.index()] != 0; }
  // The token of a call; 0 if it matches no node.
  [[nodiscard]] std::uint32_t of(const ProfilerEvent& event) const;

 private:
  std::vector<NodeId> nodes_;
  std::vector<std::uint32_t> of_nodes_;
  std::vector<std::uint32_t> names_;  // indexed by event name: the operator's number, or 0
  std::vector<bool> without_shapes_;  // indexed by operator number: true for collectives
  std::unordered_map<std::uint64_t, std::uint32_t> tokens_;
  bool use_shapes_;
};

struct ProfilerCall {
  std::uint32_t event = 0;  // index into ProfilerEvents::events
  std::uint32_t token = 0;
  std::int64_t start_ns = 0, duration_ns = 0;  // on the CPU
  // Total time, start and end of the call's kernels. For a collective, only the kernels that
  // communicate count, if there are any.
  std::int64_t kernel_ns = 0, kernel_start_ns = 0, kernel_end_ns = 0;
  std::uint32_t kernels = 0;
  bool communicates = false;
};

inline constexpr std::uint32_t kNoCall = std::numeric_limits<std::uint32_t>::max();

// A kernel that a call launched.
struct CallKernel {
  std::uint32_t event = 0;  // index into ProfilerEvents::events
  std::uint32_t call = 0;   // index into ProfilerCalls::calls
};

struct ProfilerCalls {
  std::vector<ProfilerCall> calls;  // by start; only outermost calls of the graph's operators
  std::vector<CallKernel> kernels;  // of `calls`, in file order
  std::int64_t kernel_ns = 0;       // of all kernels in the trace
};
ProfilerCalls collect_calls(const ProfilerEvents& events, const CallTokens& tokens);

// One run of the graph, as a range of calls.
struct ProfilerPass {
  std::size_t first = 0, count = 0;
  std::int64_t start_ns = 0;  // of its ProfilerStep, else of its first call
  std::int64_t step_ns = 0;   // of its ProfilerStep, else from first call to end of last call
};
// Returns one pass per ProfilerStep that contains calls; calls outside of steps are left out. If
// the trace has no steps, or the graph runs several times within a step, splits the calls where
// they repeat.
std::vector<ProfilerPass> find_passes(const ProfilerEvents& events, const ProfilerCalls& calls,
                                      const CallTokens& tokens);

}  // namespace jointer
