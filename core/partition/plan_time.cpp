// Computes the step time of a plan directly from positions in the joint graph or the flat training
// step. A recomputed collective starts twice, and the backward may wait for a start in the forward,
// so each copy of a collective has its own end time. Copies to the host and back run on the last
// stream, between the calls, as offload_transfers.h places them or, in a flat training step,
// step_offload.h.

#include "core/partition/plan_time.h"

#include "core/partition/flat_order.h"

namespace jointer {
namespace {

// Applies the rules of clocks.h to a call that was just launched. `started` returns a reference to
// the end time of the collective that the call starts, which this function sets; `awaited` returns
// a pointer to the end time of the collective that the call waits for, or null.
template <class Started, class Awaited>
void run_call(const TimedCall& call, Clocks& now, std::vector<std::int64_t>& streams,
              Started started, Awaited awaited) {
  switch (call.kind) {
    case TimedCall::Kind::host:
      break;
    case TimedCall::Kind::kernel:
    case TimedCall::Kind::blocking_kernel:
      now.run_kernel(call);
      break;
    case TimedCall::Kind::start:
      started() = now.start(call.ns, streams[call.stream]);
      break;
    case TimedCall::Kind::wait:
      if (const std::int64_t* end = awaited()) now.wait_until(*end);
      break;
  }
}

}  // namespace

struct PlanTime::Run {
  const PairOrder& order;
  Clocks now;
  std::vector<std::int64_t> streams;
  std::vector<std::int64_t> ends;  // of collectives, by half or StepCall::Kind, and position
  std::vector<std::int64_t> copied, reloaded;  // end times of copies, by value
  std::int64_t compute_ns = 0;

  void launch(const TimedCall& call) {
    using Kind = TimedCall::Kind;
    now.launch(call.host_ns);
    if (call.kind == Kind::kernel || call.kind == Kind::blocking_kernel) compute_ns += call.ns;
  }
  [[nodiscard]] Times end() const { return {now.drain(streams), compute_ns}; }
};

PlanTime::PlanTime(const PairOrders& orders, std::span<const NodeCost> costs,
                   std::span<const Flops> flops, const SimulationOptions& options,
                   const TransferCosts& transfers)
    : orders_(orders),
      calls_(orders.size()),
      flops_(orders.size()),
      bytes_(orders.size()),
      transfers_(transfers) {
  const Graph& graph = orders.graph();
  streams_ = stream_keys(graph);
  for (Place p = 0; p < orders.size(); ++p) {
    const NodeId id = orders.node(p);
    const Node& n = graph.node(id);
    bytes_[p] = graph.output_bytes(n);
    if (n.kind != NodeKind::call) continue;
    flops_[p] = flops[id.index()].total;
    calls_[p] = timed_call(graph, n, costs[id.index()]);
    if (calls_[p].kind == TimedCall::Kind::start)
      calls_[p].stream = static_cast<std::uint32_t>(stream_key(graph, n, options));
  }
  serial_ = serial_times();
}

void PlanTime::copy(const TransferCall& call, Run& run) const {
  using Kind = TransferCall::Kind;
  const bool to_host = call.kind == Kind::offload || call.kind == Kind::offload_wait;
  std::int64_t& end = (to_host ? run.copied : run.reloaded)[call.value];
  if (call.kind == Kind::offload_wait || call.kind == Kind::reload_wait) {
    run.now.launch(transfers_.wait_host_ns);
    run.now.wait_until(end);
    return;
  }
  const NodeCost cost = copy_cost(run.order.offloaded[call.value]);
  run.now.launch(cost.host_ns);
  end = run.now.start(cost.ns, run.streams.back());
}

std::vector<std::int64_t> PlanTime::serial_times() const {
  std::vector<std::uint32_t> readers(orders_.size(), 0);
  for (Place p = 0; p < orders_.size(); ++p)
    for (const Place input : orders_.inputs(p)) ++readers[input];
  std::vector<std::int64_t> serial(orders_.size(), 0);
  for (Place p = 0; p < orders_.size(); ++p) {
    using Kind = TimedCall::Kind;
    const Kind kind = calls_[p].kind;
    if (kind == Kind::kernel || kind == Kind::blocking_kernel) serial[p] = calls_[p].ns;
    const bool is_awaited = kind == Kind::start && readers[p] == 1 && p + 1 < orders_.size() &&
                            calls_[p + 1].kind == Kind::wait && !orders_.inputs(p + 1).empty() &&
                            orders_.inputs(p + 1).front() == p;
    if (is_awaited) serial[p] = calls_[p].ns;
  }
  return serial;
}

std::int64_t PlanTime::device_ns(std::span<const Place> calls) const {
  Clocks now;
  std::vector<std::int64_t> streams(streams_, 0), ends(orders_.size(), 0);
  const std::vector<std::uint8_t> given(orders_.size(), 0);
  for (const Place p : calls)
    run_call(
        calls_[p], now, streams, [&]() -> std::int64_t& { return ends[p]; },
        [&] {
          const auto c = orders_.collective_of_wait(p, false, given);
          return c.found ? &ends[c.start] : nullptr;
        });
  return now.compute;
}

PlanTime::Times PlanTime::evaluate_step(Run& run) const {
  const PairOrder& order = run.order;
  const FlatOrders& flat = *orders_.flat();
  const auto end_of = [&](const StepCall& start) -> std::int64_t& {
    return run.ends[static_cast<std::size_t>(start.kind) * orders_.size() + start.place];
  };
  for (const StepCall& at : order.step) {
    if (at.is_transfer()) {
      using Kind = TransferCall::Kind;
      const Kind kind = at.kind == StepCall::Kind::offload        ? Kind::offload
                        : at.kind == StepCall::Kind::offload_wait ? Kind::offload_wait
                        : at.kind == StepCall::Kind::reload       ? Kind::reload
                                                                  : Kind::reload_wait;
      copy({.kind = kind, .value = order.value_of[at.place]}, run);
      continue;
    }
    const TimedCall& call = calls_[at.place];
    run.launch(call);
    run_call(
        call, run.now, run.streams, [&]() -> std::int64_t& { return end_of(at); },
        [&] {
          const auto started = flat.collective_of_wait(order, at);
          return started.found ? &end_of(started.call) : nullptr;
        });
  }
  return run.end();
}

PlanTime::Times PlanTime::evaluate(const PairOrder& order) const {
  const std::size_t kinds = orders_.is_flat() ? 3 : 2;
  Run run{.order = order,
          .now = {},
          .streams = std::vector<std::int64_t>(streams_, 0),
          .ends = std::vector<std::int64_t>(kinds * orders_.size(), 0),
          .copied = std::vector<std::int64_t>(order.offloaded.size(), 0),
          .reloaded = std::vector<std::int64_t>(order.offloaded.size(), 0)};
  if (orders_.is_flat()) return evaluate_step(run);
  const auto end_of = [&](Place start, bool backward) -> std::int64_t& {
    return run.ends[(backward ? orders_.size() : 0) + start];
  };
  const auto run_at = [&](Place p, bool backward) {
    const TimedCall& call = calls_[p];
    run.launch(call);
    run_call(
        call, run.now, run.streams, [&]() -> std::int64_t& { return end_of(p, backward); },
        [&] {
          const auto c = orders_.collective_of_wait(p, backward, order.given);
          return c.found ? &end_of(c.start, c.backward) : nullptr;
        });
  };
  for (const bool backward : {false, true})
    walk_half(
        orders_, order, backward, [&](Place p) { run_at(p, backward); },
        [](Place) {},  // reading a part of a call's result takes no time
        [&](const TransferCall& call) { copy(call, run); });
  return run.end();
}

}  // namespace jointer
