#pragma once

// Writes events in Chrome's trace format, which Perfetto reads: complete events (X) on the tracks
// of processes and threads, metadata (M) with their names, flows (s, f) and counters (C). Times are
// given in nanoseconds, and written in microseconds.

#include <cstdint>
#include <string_view>

#include "core/base/json_writer.h"

namespace jointer {

// A row of the trace. Events on one track must not overlap.
struct PerfettoTrack {
  std::int64_t process = 0, thread = 0;
};

class PerfettoEvents {
 public:
  // Appends to the open array of events in `out`, which must outlive this object.
  explicit PerfettoEvents(JsonWriter& out) : out_(out) {}

  // Starts an event; the caller adds members and calls end().
  void begin(std::string_view phase, std::string_view name, PerfettoTrack track);
  void end() { out_.end_object(); }
  void time(std::string_view key, std::int64_t ns);
  // Starts a complete event with its times.
  void begin_slice(std::string_view name, std::string_view category, PerfettoTrack track,
                   std::int64_t start_ns, std::int64_t end_ns);
  void begin_arguments();
  void end_arguments() { out_.end_object(); }

  void name_process(std::int64_t process, std::string_view name);
  void name_thread(PerfettoTrack track, std::string_view name);

  struct FlowEnd {
    PerfettoTrack track;
    std::int64_t ns = 0;  // within an event of the track
  };
  // An arrow. `name` is also its category. Arrows with the same name must have different numbers.
  void flow(std::string_view name, std::int64_t number, FlowEnd from, FlowEnd to);

  [[nodiscard]] JsonWriter& out() { return out_; }

 private:
  void metadata(std::string_view kind, PerfettoTrack track, std::string_view name);

  JsonWriter& out_;
};

}  // namespace jointer
