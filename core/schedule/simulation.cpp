// A discrete-event simulation of one rank, in one scan of the program order.
//
// Terms
//   host     the CPU. It runs ahead: it launches kernels and collectives in program order and waits
//            only where a value must be copied back (a copy to the host, .item()).
//   compute  the stream that kernels run on, in program order.
//   group    a process group's own stream. Collectives of a group run sequentially.
//   copy     the stream of transfers to the host and back (ao.offload, ao.reload). They run one
//            after the other, as on the one transfer stream that upstream's operators share, and
//            are launched, waited for and exposed like collectives.
//   exposed  time in which the compute stream is idle because a wait_tensor needs an unfinished
//            collective, and, at the end, time after the last kernel in which collectives still
//            run.
//
// Steps, for each node
//   1. The host spends the node's host time.
//   2. A kernel starts when the host has launched it and the compute stream is free.
//   3. A collective starts when the host has launched it, every kernel launched before it is done
//      (its stream waits for an event of the compute stream, as in ProcessGroupNCCL), and its
//      group's stream is free.
//   4. A wait_tensor makes the compute stream wait until its collective is done. The time that this
//      adds, beyond waiting for the host, is exposed and counts for that collective.
//   5. A node that blocks the host moves the host's clock to its end.
//   At the end the streams are drained; time that they add after the last kernel is exposed (tail).
//
// Reasons are found from sums of kernel time over the order: see exposure_reason.cpp.
//
// Cost: linear in nodes and inputs. Source: the execution model of eager PyTorch and NCCL;
// autoparallel's trace estimate has the same lanes without the host.

#include "core/schedule/simulation.h"

#include <algorithm>

#include "core/schedule/exposure_reason.h"

namespace jointer {

std::string_view to_string(ExposureReason::Kind kind) {
  switch (kind) {
    case ExposureReason::Kind::none:
      return "hidden";
    case ExposureReason::Kind::stream_busy:
      return "stream busy";
    case ExposureReason::Kind::dependency:
      return "dependency";
    case ExposureReason::Kind::no_compute:
      return "no independent compute";
    case ExposureReason::Kind::order:
      return "order";
    case ExposureReason::Kind::tail:
      return "tail";
  }
  return "";
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
      // Descriptions are written for users and may repeat; names are unique.
      if (std::any_of(streams_.begin(), streams_.end(),
                      [&](const Stream& s) { return s.name == name; }))
        name = fmt::format("{} ({})", name, shared ? "" : graph.text(graph.group(n.group).name));
      streams_.push_back({.name = std::move(name), .group = shared ? GroupId{} : n.group});
      stream_clock.push_back(0);
      last_on_stream.push_back(-1);
    }
    return static_cast<std::size_t>(stream);
  };

  std::int64_t host = 0, compute = 0;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call) continue;
    const NodeCost& cost = costs[id.index()];
    NodeTiming& timing = timings_[id.index()];
    timing.host_start = host;
    host += cost.host_ns;
    timing.host_end = host;
    timing.start = timing.end = std::max(host, compute);

    if (graph.is_asynchronous(n)) {
      const std::size_t stream = stream_for(n);
      const std::int64_t ready = std::max(host, compute);
      timing.stream = static_cast<std::int32_t>(stream);
      timing.start = std::max(ready, stream_clock[stream]);
      timing.end = stream_clock[stream] = timing.start + cost.ns;
      (graph.is_transfer(n) ? transfer_ns_ : communication_ns_) += cost.ns;
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
    } else if (graph.is_wait(n)) {
      timing.stream = 0;
      const NodeId start = graph.collective_of_wait(n);
      if (!start) continue;
      const std::int32_t index = collective_by_node_[start.index()];
      collective_by_node_[id.index()] = index;
      CollectiveTiming& collective = collectives_[static_cast<std::size_t>(index)];
      if (!collective.wait) collective.wait = id;
      const std::int64_t free = std::max(host, compute);
      timing.start = free;
      timing.end = std::max(free, collective.end_ns);
      if (timing.end > free) {
        host_bound_ns_ += free - compute;
        collective.exposed_ns += timing.end - free;
        compute = timing.end;
      }
    } else if (cost.lane == NodeCost::Lane::compute) {
      timing.stream = 0;
      host_bound_ns_ += std::max<std::int64_t>(host - compute, 0);
      compute = timing.end = timing.start + cost.ns;
      compute_ns_ += cost.ns;
      if (cost.blocks_host) host = std::max(host, compute);
    }
  }
  compute = std::max(compute, host);
  expose_tail(compute);
  for (const CollectiveTiming& c : collectives_) exposed_ns_ += c.exposed_ns;
}

// After the last kernel, each stretch counts for the collective that ends it.
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
    if (c.end_ns == step_ns_) continue;  // another one ends with it
    c.exposed_ns += c.end_ns - step_ns_;
    c.reason.kind = ExposureReason::Kind::tail;
    step_ns_ = c.end_ns;
  }
}

std::size_t stream_key(const Graph& graph, const Node& start, const SimulationOptions& options) {
  if (graph.is_transfer(start)) return graph.group_count() + 1;
  const bool shared = options.one_communication_stream || !start.group;
  return shared ? graph.group_count() : start.group.index();
}

std::size_t Simulation::collective_count() const {
  return static_cast<std::size_t>(
      std::count_if(collectives_.begin(), collectives_.end(),
                    [](const CollectiveTiming& c) { return !c.is_transfer; }));
}

std::size_t Simulation::hidden_count() const {
  constexpr std::int64_t kNothing = 1;  // a nanosecond: rounding
  return static_cast<std::size_t>(std::count_if(
      collectives_.begin(), collectives_.end(),
      [](const CollectiveTiming& c) { return !c.is_transfer && c.exposed_ns <= kNothing; }));
}

}  // namespace jointer
