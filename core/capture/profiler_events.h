#pragma once

// Reads a torch.profiler trace (Kineto's Chrome trace) into plain records: operator calls on the
// CPU, work on the device, and the ids that connect them. Does not match them to a graph.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/graph/string_table.h"

namespace jointer {

struct ProfilerEvent {
  enum class Kind : std::uint8_t {
    op,          // an operator's call on the CPU
    runtime,     // a runtime or driver call that launches device work
    kernel,      // work on the device: kernels, copies, memsets
    step,        // the annotation ProfilerStep#N
    annotation,  // any other annotation: gloo:all_reduce on Gloo's thread
  };
  Kind kind = Kind::op;
  StringId name;
  std::uint32_t thread = 0;   // dense number of the CPU thread; for a kernel, of its stream
  std::int64_t start_ns = 0;  // since the origin of the trace's clock
  std::int64_t duration_ns = 0;
  std::int64_t external = 0;     // "External id", shared by an op and its events; 0 if missing
  std::int64_t correlation = 0;  // shared by a runtime call and its kernel; 0 if missing
  std::int64_t stream = -1;      // of a kernel; -1 for other events
  std::uint64_t shapes = 0;      // ShapeHash of "Input Dims"; 0 if they were not recorded

  [[nodiscard]] std::int64_t end_ns() const { return start_ns + duration_ns; }
};

struct ProfilerEvents {
  std::vector<ProfilerEvent> events;  // in file order
  StringTable names;
  std::string gpu;          // name of the first GPU; empty if there is none
  bool has_shapes = false;  // true if any op has `shapes`
  bool has_kernels = false;
};

// The indices of the events on the CPU (all but kernels and steps), by thread and start, so that a
// call comes before the calls in it.
std::vector<std::uint32_t> in_nesting_order(const std::vector<ProfilerEvent>& events);

// A hash of a sequence of shapes; never 0. Ignores tensors without dimensions, because the trace
// writes numbers in the same way.
class ShapeHash {
 public:
  void begin() { sizes_ = 0; }
  void size(std::int64_t size);
  void end();
  [[nodiscard]] std::uint64_t value() const { return hash_ == 0 ? 1 : hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037ULL;
  std::size_t sizes_ = 0;
};

// Error (input): the file is not a profiler trace, or its JSON is invalid; the message then gives
// the byte offset if it is known.
Result<ProfilerEvents> read_profiler_events(std::string_view name, const PaddedBytes& json);

}  // namespace jointer
