// Writes the tracks of a measured run in a trace for Perfetto.
//
// Calls are on one track for each stream of the simulation, and kernels on one track for each
// stream of the GPU. Perfetto requires that the events of a track do not overlap. Calls that ran on
// several streams may overlap, and so may kernels that start before the previous one ends
// (programmatic dependent launch). Such events are spread over several tracks; their times do not
// change.

#include "core/report/perfetto_measured.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/bench/reached_rates.h"

namespace jointer {
namespace {

// An event of the measured run. Exactly one of `call`, `block` and `kernel` is set.
struct Slice {
  std::int64_t start = 0, end = 0;
  const MeasuredNode* call = nullptr;
  const MeasuredBlock* block = nullptr;
  const NodeKernel* kernel = nullptr;
  std::int64_t thread = 0;  // once it has been placed
};

class MeasuredWriter {
 public:
  MeasuredWriter(PerfettoEvents& events, const Graph& graph, const Analysis& analysis,
                 const Measurement& measurement, std::int64_t process)
      : events_(events),
        graph_(graph),
        analysis_(analysis),
        measurement_(measurement),
        process_(process),
        call_of_(graph.node_count()) {}

  void run(std::int64_t& launches) {
    collect();
    if (groups_.empty()) return;
    events_.name_process(
        process_, measurement_.device.empty()
                      ? fmt::format("{}, measured", measurement_.label)
                      : fmt::format("{}, measured on {}", measurement_.label, measurement_.device));
    std::int64_t threads = 0;
    for (auto& [key, group] : groups_) place(group, threads);
    for (const auto& [key, group] : groups_)
      for (const Slice& slice : group.slices) write(slice);
    for (const auto& [key, group] : groups_)
      for (const Slice& slice : group.slices)
        if (slice.kernel != nullptr) write_launch(slice, launches);
  }

 private:
  // The events of a stream.
  struct Group {
    std::string name;
    std::vector<Slice> slices;
  };
  // Streams of calls precede those of kernels.
  enum class GroupKind : std::uint8_t { calls, kernels };

  Group& calls_of(std::int32_t stream) {
    Group& group = groups_[{GroupKind::calls, stream}];
    const auto streams = analysis_.simulation.streams();
    const auto index = static_cast<std::size_t>(stream);
    if (group.name.empty())
      group.name = "calls: " + (index < streams.size() ? streams[index].name : "compute");
    return group;
  }

  void collect() {
    for (const MeasuredNode& m : measurement_.nodes) {
      if (!has(m.node) || m.end_ns <= m.start_ns) continue;
      const std::int32_t stream = analysis_.simulation.timing(m.node).stream;
      const bool is_asynchronous = graph_.is_asynchronous(graph_.node(m.node));
      calls_of(is_asynchronous ? std::max(stream, 0) : 0)
          .slices.push_back({.start = m.start_ns, .end = m.end_ns, .call = &m});
    }
    for (const MeasuredBlock& block : measurement_.blocks)
      calls_of(0).slices.push_back({.start = block.start_ns, .end = block.end_ns, .block = &block});
    for (const NodeKernel& kernel : measurement_.kernels) {
      if (!has(kernel.node) || kernel.end_ns <= kernel.start_ns) continue;
      Group& group = groups_[{GroupKind::kernels, kernel.stream}];
      if (group.name.empty()) group.name = fmt::format("stream {}", kernel.stream);
      group.slices.push_back({.start = kernel.start_ns, .end = kernel.end_ns, .kernel = &kernel});
    }
  }

  // False for a node that does not run, as after an edit that removed it.
  [[nodiscard]] bool has(NodeId node) const {
    return node && node.index() < graph_.node_count() && analysis_.memory.step_of(node);
  }

  // Places each slice on the first track of the group that is free, and names the tracks.
  // `threads`: the number of tracks so far.
  void place(Group& group, std::int64_t& threads) {
    std::ranges::stable_sort(group.slices, {}, &Slice::start);
    std::vector<std::int64_t> ends;  // by track, of the last slice
    for (Slice& slice : group.slices) {
      auto track = std::ranges::find_if(ends, [&](std::int64_t end) { return end <= slice.start; });
      if (track == ends.end()) track = ends.insert(ends.end(), 0);
      *track = slice.end;
      slice.thread = threads + 1 + (track - ends.begin());
      if (slice.call != nullptr) call_of_[slice.call->node.index()] = slice;
      if (slice.block != nullptr)
        for (const NodeId node : slice.block->nodes)
          if (has(node)) call_of_[node.index()] = slice;
    }
    for (std::size_t i = 0; i < ends.size(); ++i)
      events_.name_thread({.process = process_, .thread = ++threads},
                          i == 0 ? group.name : fmt::format("{} ({})", group.name, i + 1));
  }

  void write(const Slice& slice) {
    if (slice.call != nullptr)
      write_call(slice, *slice.call);
    else if (slice.block != nullptr)
      write_block(slice, *slice.block);
    else
      write_kernel(slice, *slice.kernel);
  }

  void begin(const Slice& slice, std::string_view name, std::string_view category) {
    events_.begin_slice(name, category, track_of(slice), slice.start, slice.end);
    events_.begin_arguments();
  }
  void end() {
    events_.end_arguments();
    events_.end();
  }

  [[nodiscard]] std::string_view category_of(const Node& node) const {
    if (was_local_copy(graph_, measurement_, node)) return "local copy";
    if (graph_.is_wait(node)) return "exposed";
    return graph_.is_asynchronous(node) ? "communication" : "compute";
  }

  void write_call(const Slice& slice, const MeasuredNode& m) {
    const Node& node = graph_.node(m.node);
    begin(slice, graph_.name(m.node), category_of(node));
    events_.out().string_member("target", graph_.target(node));
    events_.out().string_member("module",
                                analysis_.modules.module(analysis_.modules.of(m.node)).path);
    events_.time("estimated_us", analysis_.costs[m.node.index()].ns);
    if (m.own_ns >= 0) {
      events_.time("measured_alone_us", m.own_ns);
      if (const std::string rates =
              reached_rates(graph_, analysis_, measurement_, m.node, m.own_ns);
          !rates.empty())
        events_.out().string_member("reached", rates);
    }
    end();
  }

  void write_block(const Slice& slice, const MeasuredBlock& block) {
    begin(slice, "compiled " + block.name, "compiled");
    events_.out().integer_member("nodes", std::ssize(block.nodes));
    events_.time("measured_alone_us", block.own_ns);
    end();
  }

  void write_kernel(const Slice& slice, const NodeKernel& kernel) {
    begin(slice, kernel.name, "kernel");
    events_.out().string_member("node", graph_.name(kernel.node));
    events_.out().string_member("target", graph_.target(graph_.node(kernel.node)));
    events_.out().integer_member("stream", kernel.stream);
    end();
  }

  // A kernel has no flow if its call was not timed, or if it starts outside of its call.
  void write_launch(const Slice& kernel, std::int64_t& launches) {
    const Slice& call = call_of_[kernel.kernel->node.index()];
    if (kernel.start < call.start || kernel.start >= call.end) return;
    events_.flow("launch", ++launches, {.track = track_of(call), .ns = call.start},
                 {.track = track_of(kernel), .ns = kernel.start});
  }

  [[nodiscard]] PerfettoTrack track_of(const Slice& slice) const {
    return {.process = process_, .thread = slice.thread};
  }

  PerfettoEvents& events_;
  const Graph& graph_;
  const Analysis& analysis_;
  const Measurement& measurement_;
  std::int64_t process_;
  std::map<std::pair<GroupKind, std::int64_t>, Group> groups_;
  std::vector<Slice> call_of_;  // indexed by node; empty slices for nodes that were not timed
};

}  // namespace

void write_measured(PerfettoEvents& events, const Graph& graph, const Analysis& analysis,
                    const Measurement& measurement, std::int64_t process, std::int64_t& launches) {
  MeasuredWriter(events, graph, analysis, measurement, process).run(launches);
}

}  // namespace jointer
