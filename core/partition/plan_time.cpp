// Computes the step time of a plan: the single pass of Simulation, over positions in the joint
// graph. The backward may wait for a collective that the forward has started, so the end times of
// both halves are kept. Copies to the host and back run between the calls, as offload_transfers.h
// places them, on the last stream.

#include "core/partition/plan_time.h"

#include <algorithm>
#include <utility>

namespace jointer {

struct PlanTime::Clocks {
  std::int64_t host = 0, compute = 0, exposed = 0;
  std::vector<std::int64_t> streams;
  std::vector<std::int64_t> ends;  // of collectives, by place: the forward's, then the backward's
  std::vector<std::int64_t> copied, reloaded;  // end times of copies, by value

  void wait_until(std::int64_t over) {
    const std::int64_t free = std::max(host, compute);
    if (over <= free) return;
    exposed += over - free;
    compute = over;
  }
};

PlanTime::PlanTime(const PairOrders& orders, std::span<const NodeCost> costs,
                   std::span<const Flops> flops, const SimulationOptions& options,
                   const TransferCosts& transfers)
    : orders_(orders), calls_(orders.size()), flops_(orders.size()), transfers_(transfers) {
  const Graph& graph = orders.graph();
  streams_ = stream_keys(graph);
  for (Place p = 0; p < orders.size(); ++p) {
    const NodeId id = orders.node(p);
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call) continue;
    flops_[p] = flops[id.index()].total;
    const NodeCost& cost = costs[id.index()];
    Call& call = calls_[p];
    call.host_ns = cost.host_ns;
    if (graph.is_asynchronous(n)) {
      call.kind = Call::Kind::start;
      call.ns = cost.ns;
      call.stream = static_cast<std::uint32_t>(stream_key(graph, n, options));
    } else if (graph.is_wait(n)) {
      call.kind = Call::Kind::wait;
    } else if (cost.lane == NodeCost::Lane::compute) {
      call.kind = cost.blocks_host ? Call::Kind::blocking_kernel : Call::Kind::kernel;
      call.ns = cost.ns;
    }
  }
}

void PlanTime::transfer(const PairOrder& order, const TransferCall& call, Clocks& clocks) const {
  const bool to_host =
      call.kind == TransferCall::Kind::offload || call.kind == TransferCall::Kind::offload_wait;
  std::int64_t& end = (to_host ? clocks.copied : clocks.reloaded)[call.value];
  if (call.kind == TransferCall::Kind::offload_wait ||
      call.kind == TransferCall::Kind::reload_wait) {
    clocks.host += transfers_.wait_host_ns;
    clocks.wait_until(end);
    return;
  }
  const Graph& graph = orders_.graph();
  const NodeCost cost =
      transfers_.of(graph.output_bytes(graph.node(orders_.node(order.offloaded[call.value]))));
  clocks.host += cost.host_ns;
  std::int64_t& stream = clocks.streams.back();
  stream = end = std::max({clocks.host, clocks.compute, stream}) + cost.ns;
}

void PlanTime::run_half(const PairOrder& order, bool backward, Clocks& clocks) const {
  auto& host = clocks.host;
  auto& compute = clocks.compute;
  const std::size_t half = backward ? orders_.size() : 0;
  const auto& transfers = backward ? order.backward_transfers : order.forward_transfers;
  auto next = transfers.begin();
  std::size_t index = 0;
  Place previous = ~Place{0};
  for (const Place p : backward ? order.backward : order.forward) {
    if (!orders_.has(p, PairOrders::is_call)) continue;
    for (; next != transfers.end() && next->before <= index; ++next) transfer(order, *next, clocks);
    ++index;
    // Reading a part of a call's result takes no time.
    if (std::exchange(previous, p) == p) continue;
    const Call& call = calls_[p];
    host += call.host_ns;
    switch (call.kind) {
      case Call::Kind::host:
        break;
      case Call::Kind::start: {
        std::int64_t& stream = clocks.streams[call.stream];
        stream = std::max({host, compute, stream}) + call.ns;
        clocks.ends[half + p] = stream;
        break;
      }
      case Call::Kind::wait: {
        const auto c = orders_.collective_of_wait(p, backward, order.given);
        if (c.found) clocks.wait_until(clocks.ends[(c.backward ? orders_.size() : 0) + c.start]);
        break;
      }
      case Call::Kind::blocking_kernel:
      case Call::Kind::kernel:
        compute = std::max(host, compute) + call.ns;
        if (call.kind == Call::Kind::blocking_kernel) host = std::max(host, compute);
        break;
    }
  }
  for (; next != transfers.end(); ++next) transfer(order, *next, clocks);
}

StepTime PlanTime::evaluate(const PairOrder& order) const {
  Clocks clocks;
  clocks.streams.assign(streams_, 0);
  clocks.ends.assign(2 * orders_.size(), 0);
  clocks.copied.assign(order.offloaded.size(), 0);
  clocks.reloaded.assign(order.offloaded.size(), 0);
  run_half(order, false, clocks);
  run_half(order, true, clocks);
  const std::int64_t compute = std::max(clocks.compute, clocks.host);
  const std::int64_t end =
      std::max(compute, *std::max_element(clocks.streams.begin(), clocks.streams.end()));
  return {.step_ns = end, .exposed_ns = clocks.exposed + end - compute};
}

}  // namespace jointer
