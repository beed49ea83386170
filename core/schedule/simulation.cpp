// Simulates one rank in one scan of the program order.
//
// The rules are those of clocks.h. This file records when and where each node runs, which
// collective each wait is for, and to which collective exposed time belongs. The stall of a wait
// belongs to its collective. After the host and the compute stream are done, each interval up to
// the end of a collective belongs to that collective (tail).
//
// exposure_reason.cpp finds the reasons for exposed time.
//
// Cost: linear in nodes and inputs. Source: the execution model of eager PyTorch and NCCL;
// autoparallel's trace estimate has the same lanes except the host.

#include "core/schedule/simulation.h"

#include <algorithm>
#include <array>

#include "core/schedule/exposure_reason.h"

namespace jointer {

std::string_view to_string(ExposureReason::Kind kind) {
  static constexpr std::array<std::string_view, 6> kNames{
      "hidden", "stream busy", "dependency", "no independent compute", "order", "tail"};
  return kNames[static_cast<std::size_t>(kind)];
}

Simulation::Simulation(const Graph& graph, std::span<const NodeCost> costs,
                       const SimulationOptions& options) {
  run(graph, costs, options);
  explain_exposure(graph, *this, queued_after_, collectives_);
}

void Simulation::run(const Graph& graph, std::span<const NodeCost> costs,
                     const SimulationOptions& options) {
  timings_.assign(graph.node_count(), {});
  collective_by_node_.assign(graph.node_count(), -1);
  streams_.push_back({.name = "compute", .group = {}});
  std::vector<std::int32_t> stream_of_key(stream_keys(graph), -1);
  std::vector<std::int64_t> stream_clock{0};
  std::vector<std::int32_t> last_on_stream{-1};

  const auto stream_for = [&](const Node& n) {
    const bool copies = graph.is_transfer(n);
    const bool shared = copies || options.one_communication_stream || !n.group;
    std::int32_t& stream = stream_of_key[stream_key(graph, n, options)];
    if (stream < 0) {
      stream = static_cast<std::int32_t>(streams_.size());
      std::string name = copies   ? "copy"
                         : shared ? "communication"
                                  : std::string(graph.group_label(n.group));
      // Labels of groups are for users and may repeat; names of groups are unique.
      if (std::ranges::any_of(streams_, [&](const Stream& s) { return s.name == name; }))
        name = fmt::format("{} ({})", name,
                           copies   ? "host"
                           : shared ? "shared"
                                    : graph.text(graph.group(n.group).name));
      streams_.push_back({.name = std::move(name), .group = shared ? GroupId{} : n.group});
      stream_clock.push_back(0);
      last_on_stream.push_back(-1);
    }
    return static_cast<std::size_t>(stream);
  };

  using Kind = TimedCall::Kind;
  Clocks clocks;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call) continue;
    const TimedCall call = timed_call(graph, n, costs[id.index()]);
    NodeTiming& timing = timings_[id.index()];
    timing.host_start = clocks.host;
    clocks.launch(call.host_ns);
    timing.host_end = clocks.host;
    timing.start = timing.end = clocks.ready();
    switch (call.kind) {
      case Kind::host:
        break;
      case Kind::start: {
        const std::size_t stream = stream_for(n);
        const std::int64_t ready = clocks.ready();
        timing.stream = static_cast<std::int32_t>(stream);
        timing.end = clocks.start(call.ns, stream_clock[stream]);
        timing.start = timing.end - call.ns;
        (graph.is_transfer(n) ? transfer_ns_ : communication_ns_) += call.ns;
        queued_after_.push_back(last_on_stream[stream]);
        last_on_stream[stream] = static_cast<std::int32_t>(collectives_.size());
        collective_by_node_[id.index()] = last_on_stream[stream];
        collectives_.push_back({.start = id,
                                .wait = {},
                                .group = n.group,
                                .is_transfer = graph.is_transfer(n),
                                .ready_ns = ready,
                                .start_ns = timing.start,
                                .end_ns = timing.end,
                                .reason = {}});
        break;
      }
      case Kind::wait: {
        timing.stream = 0;
        const NodeId start = graph.collective_of_wait(n);
        if (!start) break;
        const std::int32_t index = collective_by_node_[start.index()];
        if (index < 0) break;  // in the order of a compiled step's kernels, the start may be later
        collective_by_node_[id.index()] = index;
        CollectiveTiming& collective = collectives_[static_cast<std::size_t>(index)];
        if (!collective.wait) collective.wait = id;
        const std::int64_t idle = std::max<std::int64_t>(-clocks.host_slack(), 0);
        const std::int64_t exposed = clocks.wait_until(collective.end_ns);
        if (exposed > 0) host_bound_ns_ += idle;
        collective.exposed_ns += exposed;
        timing.end += exposed;
        break;
      }
      case Kind::kernel:
      case Kind::blocking_kernel:
        timing.stream = 0;
        host_bound_ns_ += std::max<std::int64_t>(-clocks.host_slack(), 0);
        clocks.run_kernel(call);
        timing.end = clocks.compute;
        compute_ns_ += call.ns;
        break;
    }
  }
  host_bound_ns_ += std::max<std::int64_t>(-clocks.host_slack(), 0);
  expose_tail(clocks.ready());
  for (const CollectiveTiming& c : collectives_) exposed_ns_ += c.exposed_ns;
}

// `compute_end`: the time at which the host and the compute stream are done. Each later interval up
// to the end of a collective is exposed time of that collective.
void Simulation::expose_tail(std::int64_t compute_end) {
  std::vector<std::size_t> late;
  for (std::size_t i = 0; i < collectives_.size(); ++i)
    if (collectives_[i].end_ns > compute_end) late.push_back(i);
  std::stable_sort(late.begin(), late.end(), [&](std::size_t a, std::size_t b) {
    return collectives_[a].end_ns < collectives_[b].end_ns;
  });
  step_ns_ = compute_end;
  for (const std::size_t i : late) {
    CollectiveTiming& c = collectives_[i];
    if (c.end_ns == step_ns_) continue;  // another collective ends at the same time
    c.exposed_ns += c.end_ns - step_ns_;
    c.reason.kind = ExposureReason::Kind::tail;
    step_ns_ = c.end_ns;
  }
}

std::size_t Simulation::collective_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      collectives_, [](const CollectiveTiming& c) { return !c.is_transfer; }));
}

std::size_t Simulation::hidden_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      collectives_, [](const CollectiveTiming& c) { return !c.is_transfer && !c.is_exposed(); }));
}

}  // namespace jointer
