#pragma once

// The private state of PlanWhatIf, shared by its source files. Not a public header.

#include <cstdint>
#include <vector>

#include "core/partition/pair_order.h"
#include "core/partition/plan_memory.h"
#include "core/partition/plan_time.h"
#include "core/partition/plan_what_if.h"
#include "core/partition/recomputable.h"

namespace jointer {

struct PlanWhatIf::State {
  State(const Graph& joint, std::span<const NodeCost> costs, std::span<const Flops> flops,
        const MemoryOptions& memory_options, const SimulationOptions& simulation_options,
        const PlanWhatIfOptions& options)
      : graph(joint),
        orders(joint, options.partitioner),
        memory(orders, memory_options),
        time(orders, costs, flops, simulation_options, options.transfers),
        recomputable(orders),
        always_given(find_always_given()),
        keeps_state(find_keeps_state()) {}

  // Decisions about individual values of a plan.
  using Decisions = std::vector<std::pair<NodeId, PlanAction>>;
  [[nodiscard]] Result<PlanChange> decide(const SavePlan& plan, const Decisions& decisions) const;
  [[nodiscard]] Result<std::vector<SaveCandidate>> candidates(const SavePlan& plan,
                                                              const PairOrder& order) const;
  // True if the backward has the value without recomputing it, or could only receive it because it
  // cannot be recomputed under this plan. `order` is the plan's.
  [[nodiscard]] bool is_available(const SavePlan& plan, const PairOrder& order, Place place) const;
  // The elements of a call that returns a tuple, as far as the graph reads them; empty for other
  // nodes.
  [[nodiscard]] std::vector<Place> elements(NodeId call) const;
  // Fills in `steps` and `forward_steps` of a flat training step.
  void describe_steps(const PairOrder& order, Outcome& outcome) const;
  // The reason why the value cannot be saved or offloaded, in one sentence; empty if it can be.
  [[nodiscard]] std::string why_not_saved(Place place) const;
  [[nodiscard]] std::string why_not_offloaded(Place place) const;
  [[nodiscard]] std::vector<std::uint8_t> find_always_given() const;
  [[nodiscard]] std::vector<std::uint8_t> find_keeps_state() const;
  class Decider;  // plan_change.cpp

  const Graph& graph;
  PairOrders orders;
  PlanMemory memory;
  PlanTime time;
  Recomputable recomputable;
  // Indexed by position: the inputs, and the values that the backward can only receive because it
  // cannot recompute them. A random call among these can be recomputed if a decision asks for it.
  std::vector<std::uint8_t> always_given;
  // Indexed by position: true for a call whose generator state is saved, if the call is recomputed,
  // although it draws no random numbers.
  std::vector<std::uint8_t> keeps_state;
};

}  // namespace jointer
