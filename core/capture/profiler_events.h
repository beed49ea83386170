#pragma once

// What torch.profiler writes (Kineto's Chrome trace), as plain records: the calls of operators on
// the CPU, what ran on the device, and what ties one to the other. Nothing is matched here.

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
    runtime,     // a call of the driver that launched something
    kernel,      // ran on the device: kernels, copies, sets
    step,        // the annotation ProfilerStep#N
    annotation,  // another one: gloo:all_reduce on Gloo's own thread
  };
  Kind kind = Kind::op;
  StringId name;
  std::uint32_t thread = 0;   // dense; of the CPU. Of a kernel, its device's stream
  std::int64_t start_ns = 0;  // from the trace's own zero
  std::int64_t duration_ns = 0;
  std::int64_t external = 0;     // "External id": of an op its own, of others the op's; 0 for none
  std::int64_t correlation = 0;  // the same for a runtime call and its kernel; 0 for none
  std::uint64_t shapes = 0;      // hash_shapes of "Input Dims"; 0 where they were not recorded

  [[nodiscard]] std::int64_t end_ns() const { return start_ns + duration_ns; }
};

struct ProfilerEvents {
  std::vector<ProfilerEvent> events;  // in the file's order
  StringTable names;
  std::string gpu;          // name of the first GPU; empty where there is none
  bool has_shapes = false;  // some op has
  bool has_kernels = false;
};

// A hash of shapes one after the other. Tensors without dimensions count for nothing, since a
// number is written the same way. Never 0.
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

// Whether a text looks like such a trace: an object with `traceEvents` among its first members.
bool is_profiler_trace(std::string_view text);

// Error (input): no such trace, or damaged JSON; the message names the byte.
Result<ProfilerEvents> read_profiler_events(std::string_view name, const PaddedBytes& json);

}  // namespace jointer
