#pragma once

// Computes the step time of a pair without building it, by the rules in clocks.h. The result equals
// what Simulation computes for the graph that emit_pair returns.

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
  // `orders` must outlive this. `costs`, `flops`: one per node, by id.
  PlanTime(const PairOrders& orders, std::span<const NodeCost> costs, std::span<const Flops> flops,
           const SimulationOptions& options, const TransferCosts& transfers);

  // Cost: linear in the calls.
  [[nodiscard]] StepTime evaluate(const PairOrder& order) const;

  // Time on the call's stream; 0 for views and waits.
  [[nodiscard]] std::int64_t ns(Place place) const { return calls_[place].ns; }
  [[nodiscard]] std::int64_t flops(Place place) const { return flops_[place]; }

 private:
  struct Run;
  void copy(const TransferCall& call, Run& run) const;

  const PairOrders& orders_;
  std::vector<TimedCall> calls_;     // by place
  std::vector<std::int64_t> flops_;  // by place
  std::size_t streams_ = 0;
  TransferCosts transfers_;
};

}  // namespace jointer
