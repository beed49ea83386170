// Writes the tracks of the simulation: the CPU and each stream, with a flow from each collective to
// its wait, and a memory counter. perfetto_measured.cpp adds those of measured runs.

#include <algorithm>

#include "core/base/json_writer.h"
#include "core/report/export.h"
#include "core/report/perfetto_events.h"
#include "core/report/perfetto_measured.h"
#include "core/schedule/memory_times.h"

namespace jointer {
namespace {

constexpr std::int64_t kProcess = 1;
constexpr std::int64_t kHostThread = 0;

class TraceWriter {
 public:
  TraceWriter(const Graph& graph, const Analysis& analysis, std::span<const Measurement> measured)
      : graph_(graph), analysis_(analysis), measured_(measured) {}

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
    std::int64_t process = kProcess, launches = 0;
    for (const Measurement& each : measured_)
      write_measured(events_, graph_, analysis_, each, ++process, launches);
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
  static PerfettoTrack track_of(std::int32_t stream) {
    return {.process = kProcess, .thread = stream + 1};
  }

  void name_threads() {
    events_.name_process(kProcess, graph_.title());
    events_.name_thread({.process = kProcess, .thread = kHostThread}, "cpu");
    std::int32_t stream = 0;
    for (const Stream& s : analysis_.simulation.streams())
      events_.name_thread(track_of(stream++), s.name);
  }

  void host_event(NodeId id) {
    const NodeTiming& t = analysis_.simulation.timing(id);
    if (t.host_end <= t.host_start) return;
    events_.begin("X", graph_.name(id), {.process = kProcess, .thread = kHostThread});
    events_.time("ts", t.host_start);
    events_.time("dur", t.host_end - t.host_start);
    events_.end();
  }

  void device_event(NodeId id) {
    const NodeTiming& t = analysis_.simulation.timing(id);
    const Node& n = graph_.node(id);
    if (t.stream < 0 || t.end <= t.start) return;
    events_.begin_slice(graph_.name(id),
                        graph_.is_wait(n) ? "exposed"
                        : t.stream > 0    ? "communication"
                                          : "compute",
                        track_of(t.stream), t.start, t.end);
    events_.begin_arguments();
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
    events_.end_arguments();
    events_.end();
  }

  // Writes a flow from each collective to its wait. The flow ends at the last nanosecond of the
  // wait: when the wait has ended, its slice is closed, and Perfetto would bind the flow to the
  // next slice of the track.
  void flows() {
    std::int64_t number = 0;
    for (const CollectiveTiming& c : analysis_.simulation.collectives()) {
      if (!c.wait) continue;
      const std::int32_t stream = analysis_.simulation.timing(c.start).stream;
      const NodeTiming& wait = analysis_.simulation.timing(c.wait);
      events_.flow("wait", ++number, {.track = track_of(stream), .ns = c.start_ns},
                   {.track = track_of(0), .ns = std::max(wait.start, wait.end - 1)});
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
      events_.begin("C", "memory", {.process = kProcess, .thread = kHostThread});
      events_.time("ts", times[point]);
      events_.begin_arguments();
      for (std::size_t c = 0; c < kMemoryCategories; ++c)
        out_.integer_member(to_string(static_cast<MemoryCategory>(c)), now[c]);
      events_.end_arguments();
      events_.end();
    }
  }

  const Graph& graph_;
  const Analysis& analysis_;
  std::span<const Measurement> measured_;
  JsonWriter out_;
  PerfettoEvents events_{out_};
};

}  // namespace

std::string export_perfetto(const Graph& graph, const Analysis& analysis) {
  return export_perfetto(graph, analysis, {});
}

std::string export_perfetto(const Graph& graph, const Analysis& analysis,
                            std::span<const Measurement> measured) {
  return TraceWriter(graph, analysis, measured).run();
}

}  // namespace jointer
