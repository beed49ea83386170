#pragma once

// Computes the step time under a save plan without building the resulting graph, by the rules in
// clocks.h. It equals the time that Simulation computes for the graph that emit_pair returns or,
// for a flat training step, for the graph that apply_step_tags makes.

#include <cstdint>
#include <span>
#include <vector>

#include "core/cost/estimator.h"
#include "core/cost/node_flops.h"
#include "core/partition/pair_order.h"
#include "core/schedule/clocks.h"

namespace jointer {

class PlanTime {
 public:
  // `orders` must outlive this object. `costs`, `flops`: one per node, by id.
  PlanTime(const PairOrders& orders, std::span<const NodeCost> costs, std::span<const Flops> flops,
           const SimulationOptions& options, const TransferCosts& transfers);

  struct Times {
    StepTime step;
    std::int64_t compute_ns = 0;  // the sum over all kernels
  };
  // Cost: linear in the calls.
  [[nodiscard]] Times evaluate(const PairOrder& order) const;

  // The time at which the compute stream has run these calls of a half, in order, if the CPU takes
  // no time and collectives that started elsewhere have already ended. Collectives that none of the
  // calls waits for do not count.
  [[nodiscard]] std::int64_t device_ns(std::span<const Place> calls) const;

  // Time on the call's stream; 0 for waits and for calls without work on a device, such as views.
  [[nodiscard]] std::int64_t ns(Place place) const { return calls_[place].ns; }
  [[nodiscard]] std::int64_t flops(Place place) const { return flops_[place]; }
  // The time by which the call delays the compute stream wherever it runs: that of a kernel, or of
  // a collective whose only reader is the wait right after it; 0 for other calls.
  [[nodiscard]] std::int64_t serial_ns(Place place) const { return serial_[place]; }
  // The CPU's time to launch the call.
  [[nodiscard]] std::int64_t host_ns(Place place) const { return calls_[place].host_ns; }
  // The cost of copying a value to the host, or back.
  [[nodiscard]] NodeCost copy_cost(Place value) const { return transfers_.of(bytes_[value]); }
  [[nodiscard]] std::int64_t copy_wait_host_ns() const { return transfers_.wait_host_ns; }

 private:
  struct Run;
  void copy(const TransferCall& call, Run& run) const;
  [[nodiscard]] Times evaluate_step(Run& run) const;
  [[nodiscard]] std::vector<std::int64_t> serial_times() const;

  const PairOrders& orders_;
  std::vector<TimedCall> calls_;                      // by position
  std::vector<std::int64_t> flops_, serial_, bytes_;  // by position
  std::size_t streams_ = 0;
  TransferCosts transfers_;
};

}  // namespace jointer
