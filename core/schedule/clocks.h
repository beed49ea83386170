#pragma once

// The timing model for a training step on one rank. All rules are here. Simulation applies them to
// a graph in program order, TimeWhatIf and TimePreview to an order that is being edited, and
// PlanTime to the pair or the training step of a plan, without building it. Times are in
// nanoseconds from the start of the step.
//
// Terms
//   host     the CPU. It runs ahead of the device: it launches kernels and collectives in program
//            order and waits only if it needs a value from the device (a copy to the host,
//            .item()).
//   compute  the stream on which kernels run, one after another, in program order.
//   group    the stream of a process group, on which its collectives run one after another.
//   copy     the stream of copies to and from the host (ao.offload, ao.reload). They run one after
//            another, as on the single transfer stream of upstream's operators, and are launched,
//            waited for and exposed like collectives.
//   exposed  time in which the compute stream is idle because a wait_tensor waits for a collective,
//            and time at the end in which collectives still run although the host and the compute
//            stream are done.
//
// Rules, for each call
//   1. The host spends the call's host time.
//   2. A kernel starts as soon as the host has launched it and the compute stream is free.
//   3. A collective starts as soon as the host has launched it, all earlier kernels and waits on
//      the compute stream are done (its stream waits for an event on that stream, as in
//      ProcessGroupNCCL), and its group's stream is free.
//   4. A wait_tensor makes the compute stream wait until its collective is done. The time by which
//      this wait exceeds the wait for the host is the exposed time of that collective.
//   5. If a kernel blocks the host, the host waits until the kernel ends.
//   6. At the end, all streams are drained; the time that this adds after the host and the compute
//      stream are done is exposed.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "core/cost/estimator.h"
#include "core/graph/graph.h"

namespace jointer {

struct SimulationOptions {
  // If true, all collectives run on one stream, whatever their groups, as torch's scheduler
  // assumes.
  bool one_communication_stream = false;
};

// stream_key returns the number of the stream on which an asynchronous operation runs; it is less
// than stream_keys. A collective runs on its group's stream. Collectives without a group share one
// stream, as do all collectives if `one_communication_stream` is set. Copies to and from the host
// run on the last stream.
inline std::size_t stream_keys(const Graph& graph) {
  return graph.group_count() + 2;
}
inline std::size_t stream_key(const Graph& graph, const Node& start,
                              const SimulationOptions& options) {
  if (graph.is_transfer(start)) return graph.group_count() + 1;
  const bool shared = options.one_communication_stream || !start.group;
  return shared ? graph.group_count() : start.group.index();
}

struct StepTime {
  std::int64_t step_ns = 0, exposed_ns = 0;
  friend bool operator==(const StepTime&, const StepTime&) = default;
};

// A call as the rules see it.
struct TimedCall {
  enum class Kind : std::uint8_t {
    host,  // takes only host time
    kernel,
    blocking_kernel,  // the host waits for its result
    start,            // starts a collective, or a copy to or from the host
    wait,
  };
  std::int64_t host_ns = 0, ns = 0;
  std::uint32_t stream = 0;  // of a start
  Kind kind = Kind::host;
};

// Leaves `stream` at 0, since the caller numbers the streams.
inline TimedCall timed_call(const Graph& graph, const Node& call, const NodeCost& cost) {
  using Kind = TimedCall::Kind;
  if (graph.is_asynchronous(call))
    return {.host_ns = cost.host_ns, .ns = cost.ns, .kind = Kind::start};
  if (graph.is_wait(call)) return {.host_ns = cost.host_ns, .kind = Kind::wait};
  if (cost.lane != NodeCost::Lane::compute) return {.host_ns = cost.host_ns};
  return {.host_ns = cost.host_ns,
          .ns = cost.ns,
          .kind = cost.blocks_host ? Kind::blocking_kernel : Kind::kernel};
}

// The clocks of the host and of the compute stream, and the exposed time so far. The clocks of the
// other streams, for groups and copies, are kept separately.
struct Clocks {
  std::int64_t host = 0, compute = 0, exposed = 0;

  // Rule 1, which is applied first.
  void launch(std::int64_t host_ns) { host += host_ns; }
  // The time at which a kernel that was just launched starts. A collective or a copy also waits
  // until its own stream is free (rule 3).
  [[nodiscard]] std::int64_t ready() const { return std::max(host, compute); }
  // The time by which the host could have launched its latest kernel later without delaying that
  // kernel; negative if the compute stream is idle before the launch.
  [[nodiscard]] std::int64_t host_slack() const { return compute - host; }
  // Rules 2 and 5.
  void run_kernel(const TimedCall& kernel) {
    compute = ready() + kernel.ns;
    if (kernel.kind == TimedCall::Kind::blocking_kernel) host = compute;
  }
  // Rule 3. Returns the end time, which becomes the stream's clock.
  std::int64_t start(std::int64_t ns, std::int64_t& stream) const {
    return stream = std::max(ready(), stream) + ns;
  }
  // Rule 4, for a collective that ends at `end`. Returns the exposed time.
  std::int64_t wait_until(std::int64_t end) {
    const std::int64_t late = end - ready();
    if (late <= 0) return 0;
    exposed += late;
    compute = end;
    return late;
  }
  // Rule 6. `streams`: the clocks of all streams except the compute stream.
  [[nodiscard]] StepTime drain(std::span<const std::int64_t> streams) const {
    std::int64_t step = ready();
    for (const std::int64_t stream : streams) step = std::max(step, stream);
    return {.step_ns = step, .exposed_ns = exposed + step - ready()};
  }
};

// Applies rules 1, 2 and 5 to a whole sequence of calls without starts and waits. `x_y` is the
// minimum delay from clock y before the sequence to clock x after it; kNone if y does not affect x.
// Together, these are the max-plus matrix of the sequence.
struct ClockDelays {
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min() / 4;
  std::int64_t host_host = 0, host_compute = kNone, compute_host = kNone, compute_compute = 0;

  // Prepends a call to the sequence.
  void precede(const TimedCall& call) {
    const auto sum = [](std::int64_t a, std::int64_t b) { return std::max(a + b, kNone); };
    const std::int64_t launched = call.host_ns;
    switch (call.kind) {
      case TimedCall::Kind::kernel:
        host_compute = sum(host_compute, call.ns);
        host_host = std::max(sum(host_host, launched), sum(host_compute, launched));
        compute_compute = sum(compute_compute, call.ns);
        compute_host = std::max(sum(compute_host, launched), sum(compute_compute, launched));
        break;
      case TimedCall::Kind::blocking_kernel:
        host_compute = sum(std::max(host_host, host_compute), call.ns);
        host_host = sum(host_compute, launched);
        compute_compute = sum(std::max(compute_host, compute_compute), call.ns);
        compute_host = sum(compute_compute, launched);
        break;
      default:
        host_host = sum(host_host, launched);
        compute_host = sum(compute_host, launched);
    }
  }

  void apply(Clocks& clocks) const {
    const std::int64_t host = std::max(clocks.host + host_host, clocks.compute + host_compute);
    clocks.compute = std::max(clocks.host + compute_host, clocks.compute + compute_compute);
    clocks.host = host;
  }
};

}  // namespace jointer
