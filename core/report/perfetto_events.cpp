#include "core/report/perfetto_events.h"

namespace jointer {

void PerfettoEvents::begin(std::string_view phase, std::string_view name, PerfettoTrack track) {
  out_.begin_object();
  out_.string_member("ph", phase);
  out_.string_member("name", name);
  out_.integer_member("pid", track.process);
  out_.integer_member("tid", track.thread);
}

void PerfettoEvents::time(std::string_view key, std::int64_t ns) {
  out_.key(key);
  out_.real(static_cast<double>(ns) / 1e3);
}

void PerfettoEvents::begin_slice(std::string_view name, std::string_view category,
                                 PerfettoTrack track, std::int64_t start_ns, std::int64_t end_ns) {
  begin("X", name, track);
  out_.string_member("cat", category);
  time("ts", start_ns);
  time("dur", end_ns - start_ns);
}

void PerfettoEvents::begin_arguments() {
  out_.key("args");
  out_.begin_object();
}

void PerfettoEvents::metadata(std::string_view kind, PerfettoTrack track, std::string_view name) {
  begin("M", kind, track);
  begin_arguments();
  out_.string_member("name", name);
  end_arguments();
  end();
}

void PerfettoEvents::name_process(std::int64_t process, std::string_view name) {
  metadata("process_name", {.process = process, .thread = 0}, name);
}

void PerfettoEvents::name_thread(PerfettoTrack track, std::string_view name) {
  metadata("thread_name", track, name);
}

void PerfettoEvents::flow(std::string_view name, std::int64_t number, FlowEnd from, FlowEnd to) {
  begin("s", name, from.track);
  out_.string_member("cat", name);
  out_.integer_member("id", number);
  time("ts", from.ns);
  end();
  begin("f", name, to.track);
  out_.string_member("cat", name);
  out_.string_member("bp", "e");
  out_.integer_member("id", number);
  time("ts", to.ns);
  end();
}

}  // namespace jointer
