// Writes events in Chrome's trace format, which Perfetto reads: complete events (X) on threads,
// metadata (M) with the names of the process and its threads, flows (s, f) and counters (C). Times
// are in microseconds.

#include "core/base/json_writer.h"
#include "core/report/export.h"
#include "core/schedule/memory_times.h"

namespace jointer {
namespace {

constexpr std::int64_t kProcess = 1;
constexpr std::int64_t kHostThread = 0;

class TraceWriter {
 public:
  TraceWriter(const Graph& graph, const Analysis& analysis) : graph_(graph), analysis_(analysis) {}

  std::string run() {
    out_.begin_object();
    out_.string_member("displayTimeUnit", "ms");
    out_.key("traceEvents");
    out_.begin_array();
    name_threads();
    for (const NodeId id : graph_.order()) {
      if (graph_.node(id).kind != NodeKind::call) continue;
      host_event(id);
      device_event(id);
    }
    flows();
    memory_counters();
    out_.end_array();
    out_.key("otherData");
    out_.begin_object();
    out_.string_member("name", graph_.title());
    out_.string_member("estimator", analysis_.estimator);
    out_.end_object();
    out_.end_object();
    return out_.take();
  }

 private:
  void time(std::string_view key, std::int64_t ns) {
    out_.key(key);
    out_.real(static_cast<double>(ns) / 1e3);
  }
  void begin(std::string_view phase, std::string_view name, std::int64_t thread) {
    out_.begin_object();
    out_.string_member("ph", phase);
    out_.string_member("name", name);
    out_.integer_member("pid", kProcess);
    out_.integer_member("tid", thread);
  }
  static std::int64_t thread_of(std::int32_t stream) { return stream + 1; }

  void name_thread(std::int64_t thread, std::string_view name) {
    begin("M", "thread_name", thread);
    out_.key("args");
    out_.begin_object();
    out_.string_member("name", name);
    out_.end_object();
    out_.end_object();
  }

  void name_threads() {
    begin("M", "process_name", 0);
    out_.key("args");
    out_.begin_object();
    out_.string_member("name", graph_.title());
    out_.end_object();
    out_.end_object();
    name_thread(kHostThread, "cpu");
    std::int32_t stream = 0;
    for (const Stream& s : analysis_.simulation.streams()) name_thread(thread_of(stream++), s.name);
  }

  void host_event(NodeId id) {
    const NodeTiming& t = analysis_.simulation.timing(id);
    if (t.host_end <= t.host_start) return;
    begin("X", graph_.name(id), kHostThread);
    time("ts", t.host_start);
    time("dur", t.host_end - t.host_start);
    out_.end_object();
  }

  void device_event(NodeId id) {
    const NodeTiming& t = analysis_.simulation.timing(id);
    const Node& n = graph_.node(id);
    if (t.stream < 0 || t.end <= t.start) return;
    begin("X", graph_.name(id), thread_of(t.stream));
    out_.string_member("cat", graph_.is_wait(n) ? "exposed"
                              : t.stream > 0    ? "communication"
                                                : "compute");
    time("ts", t.start);
    time("dur", t.end - t.start);
    out_.key("args");
    out_.begin_object();
    out_.string_member("target", graph_.target(n));
    out_.string_member("phase", n.phase == Phase::forward ? "forward" : "backward");
    out_.string_member("module", analysis_.modules.module(analysis_.modules.of(id)).path);
    out_.integer_member("output_bytes", graph_.output_bytes(n));
    if (const std::int64_t flops = analysis_.flops[id.index()].total; flops > 0)
      out_.integer_member("flops", flops);
    out_.string_member("limit", to_string(analysis_.costs[id.index()].limit));
    if (const std::int32_t c = analysis_.simulation.collective_of(id); c >= 0)
      out_.string_member(
          "reason",
          reason_text(graph_, analysis_.simulation.collectives()[static_cast<std::size_t>(c)]));
    out_.end_object();
    out_.end_object();
  }

  // Writes a flow from each collective to its wait.
  void flows() {
    std::int64_t number = 0;
    for (const CollectiveTiming& c : analysis_.simulation.collectives()) {
      if (!c.wait) continue;
      ++number;
      const NodeTiming& start = analysis_.simulation.timing(c.start);
      begin("s", "wait", thread_of(start.stream));
      out_.string_member("cat", "wait");
      out_.integer_member("id", number);
      time("ts", c.start_ns);
      out_.end_object();
      begin("f", "wait", thread_of(0));
      out_.string_member("cat", "wait");
      out_.string_member("bp", "e");
      out_.integer_member("id", number);
      time("ts", analysis_.simulation.timing(c.wait).end);
      out_.end_object();
    }
  }

  // Writes a counter event for each point of the memory profile at which a category changes.
  void memory_counters() {
    const auto categories = analysis_.memory.by_category();
    const auto times = memory_times(graph_, analysis_.memory, analysis_.simulation);
    BytesByCategory last;
    last.fill(-1);
    for (std::size_t point = 0; point < analysis_.memory.profile().size(); ++point) {
      BytesByCategory now{};
      for (std::size_t c = 0; c < kMemoryCategories; ++c) now[c] = categories[c][point];
      if (now == last) continue;
      last = now;
      begin("C", "memory", kHostThread);
      time("ts", times[point]);
      out_.key("args");
      out_.begin_object();
      for (std::size_t c = 0; c < kMemoryCategories; ++c)
        out_.integer_member(to_string(static_cast<MemoryCategory>(c)), now[c]);
      out_.end_object();
      out_.end_object();
    }
  }

  const Graph& graph_;
  const Analysis& analysis_;
  JsonWriter out_;
};

}  // namespace

std::string export_perfetto(const Graph& graph, const Analysis& analysis) {
  return TraceWriter(graph, analysis).run();
}

}  // namespace jointer
