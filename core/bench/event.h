#pragma once

// What a rank says while it runs: one JSON object a line on its standard output, described by
// resources/schema/runner.schema.json. Lines that are none of these (a library's own output) are
// no events.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace jointer {

inline constexpr int kRunnerProtocol = 1;

// The first line.
struct RankStarted {
  int rank = 0, world_size = 1;
  std::int64_t pid = 0;
  std::string device;       // "NVIDIA H200", "AMD EPYC 7763, 2 threads": what costs are kept under
  std::string device_type;  // "cpu", "cuda"
  std::string hash;         // of the graph that runs
};

// A stage has begun, or has come further. Also the sign of life that deadlines go by.
struct RankProgress {
  std::string stage;  // load, groups, inputs, compile, warm up, measure, profile, verify
  std::int64_t done = 0, total = 0;
};

// What a person should know: an operator replaced by its CPU form, inputs made up.
struct RankNote {
  std::string text;
};

// What one call took. Nodes are named by their position in the program order (Graph::order).
struct NodeTime {
  std::uint32_t position = 0;
  // When it ran in an ordinary step, from the step's start; of a collective from its start to when
  // its wait had it.
  std::int64_t start_ns = 0, end_ns = 0;
  // By itself: a collective from all ranks' arrival to its end, anything else as above. The median
  // of several runs.
  std::int64_t own_ns = 0;
};

// Bytes that a call took beside what it returned, and gave back before it ended.
struct NodeScratch {
  std::uint32_t position = 0;
  std::int64_t bytes = 0;
};

struct RankMeasured {
  std::vector<std::int64_t> step_ns;  // one an iteration, in their order
  std::int64_t peak_bytes = 0, requested_peak_bytes = 0, reserved_peak_bytes = 0;
  // Of the highest point between calls: what the graph itself holds, without scratch.
  std::int64_t resident_peak_bytes = 0;
  // Of a profiled run: allocated bytes at the start, then after each call's allocations and after
  // its frees (as MemoryTimeline::profile), the calls' times, and scratch where it was not zero.
  std::vector<std::int64_t> memory_profile;
  std::vector<NodeTime> nodes;
  std::vector<NodeScratch> scratch;
};

// Outputs beside the expected ones. Of the output that differs most, its name and where.
struct RankVerified {
  std::string against;  // "baseline", "expected"
  bool bitwise = false;
  bool equal = false;  // bitwise, or within the bound of a backend that changes numerics
  double max_abs_diff = 0;
  double bound = 0;    // relative to the output's largest magnitude; 0: bitwise
  std::string output;  // empty if all are bitwise equal
  std::int64_t element = 0;
  std::int64_t compared = 0;  // outputs
};

struct RankFailed {
  // load, unsupported, device, memory, collective, hang, compile, verify, internal
  std::string kind;
  std::string node;  // empty where it was no node's doing
  std::string text;  // one line
};

// The last line.
struct RankDone {};

using RankEvent = std::variant<RankStarted, RankProgress, RankNote, RankMeasured, RankVerified,
                               RankFailed, RankDone>;

// Without the line's end.
std::string write_event(const RankEvent& event);
// Nothing if the line is no event. Keys that are not known are passed over. A first line of a newer
// protocol is read as a failure that says so.
std::optional<RankEvent> parse_event(std::string_view line);

}  // namespace jointer
