#pragma once

// A relaxation of the search for the best save plan: prices instead of limits. Its solutions are
// starting points for the search, and bound every plan from below. The top of plan_relaxation.cpp
// describes it.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/flow_network.h"
#include "core/partition/plan_rules.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

// A lower bound on the memory of every plan at one point of the step: the sum of `fixed_bytes`,
// `if_saved` of the values that the plan saves, and `if_recomputed` of the calls that it
// recomputes.
struct PlanMoment {
  std::int64_t fixed_bytes = 0;
  std::vector<std::int64_t> if_saved;       // by value; an offloaded value does not count
  std::vector<std::int64_t> if_recomputed;  // by call
};

struct PlanPrices {
  double byte_ns = 0;    // for each byte that is live between the halves
  double moment_ns = 0;  // for each byte that is live at `moment`, if there is one
  std::shared_ptr<const PlanMoment> moment;
  // Price per nanosecond of copying to the host, 0 to 1; if the CPU determines the step, every
  // price counts as 1. nullopt if only values that a tag requires to be offloaded may be offloaded.
  std::optional<double> copy;

  // The price of saving a value with these bytes, and of recomputing a call, in addition to the
  // call's time.
  [[nodiscard]] double of_value(std::size_t value, std::int64_t bytes) const;
  [[nodiscard]] double of_call(std::size_t call) const;
};

class PlanRelaxation {
 public:
  // `what_if` must outlive this object. `policies`: the user's, indexed by node id; may be empty.
  // Decisions follow PlanRules. Values whose policy is MUST_CPU_OFFLOAD or MUST_RECOMPUTE are saved
  // if that is impossible. Error (usage): no plan is legal.
  static Result<PlanRelaxation> make(const PlanWhatIf& what_if,
                                     std::span<const MemoryPolicy> policies);

  struct Solution {
    std::vector<PlanAction> actions;  // by value
    double cost_ns = 0;               // the capacity of the cut: recomputed work, and all prices
  };
  // Error (usage): the tags leave no legal plan.
  [[nodiscard]] Result<Solution> solve(const PlanPrices& prices) const;

  // The moment of a call that is part of this half in every plan; nullptr for other calls, and in a
  // backward whose first call reads no tangent.
  [[nodiscard]] std::shared_ptr<const PlanMoment> moment_at(NodeId call, bool backward) const;

  // The values to decide about: one per storage that a call of the forward allocates, in the order
  // of these calls.
  [[nodiscard]] std::span<const NodeId> values() const { return values_; }
  // The plan with these decisions, by value. Error (usage): same as emit_pair.
  [[nodiscard]] Result<SavePlan> plan(std::span<const PlanAction> actions) const;

  // Series of prices from far below to far above the mean cost of a byte: one without a copy price,
  // then, if `offload`, one for each of a few copy prices. In each series, byte prices ascend.
  static constexpr std::size_t kSeries = 14;  // prices in a series
  [[nodiscard]] std::vector<PlanPrices> series(bool offload) const;
  // True if the solution for these prices bounds the step time of plans that may offload
  // (`offload`) or may not: one without a copy price does not bound plans that offload.
  static bool bounds(const PlanPrices& prices, bool offload) { return prices.copy || !offload; }

  // A lower bound on the step time of all plans that keep the policies and whose peak is at most
  // `peak_bytes`; if `prices.copy` is nullopt, only of those that offload nothing without a tag.
  // `cost_ns` is the cost of the solution for these prices.
  [[nodiscard]] std::int64_t bound_ns(const PlanPrices& prices, double cost_ns,
                                      std::int64_t peak_bytes) const;
  // Prices, and the cost of the solution for them.
  struct Solved {
    PlanPrices prices;
    double cost_ns = 0;
  };
  // The highest of the lower bounds for these prices; 0 if there are none.
  [[nodiscard]] std::int64_t bound_ns(std::span<const Solved> solved,
                                      std::int64_t peak_bytes) const;
  // The price of a byte at which recomputing everything costs as much as saving everything.
  [[nodiscard]] double mean_byte_ns() const;

 private:
  // The content of a storage. Its vertex is on the sink's side if the backward has the value.
  struct Item {
    std::uint32_t place = 0;  // the node to save
    std::uint32_t call = 0;   // index of the call that allocates the storage
    std::int64_t bytes = 0;
    std::int64_t value_bytes = 0;  // of the node alone
    std::int64_t copy_ns = 0;      // to the host; if `by_host_`, the CPU's time for both copies
    bool is_needed = false;  // the backward returns it, or a call that only it can run reads it
    bool can_offload = false, must_offload = false, may_save = true;
    bool must_stay = false;  // on the device
  };
  // A call of the forward that allocates values. Its vertex is on the sink's side if the call is
  // recomputed.
  struct Call {
    std::uint32_t place = 0;
    std::int64_t ns = 0;
    bool may_repeat = true;
    std::vector<std::uint32_t> reads;  // indices of items
  };

  PlanRelaxation(const PlanWhatIf& what_if, std::span<const MemoryPolicy> policies);
  void find_items();
  void find_reads();
  Result<void> find_fixed();
  // The calls that every backward runs, in order: those that its outputs need and that the forward
  // cannot run.
  [[nodiscard]] std::vector<std::uint32_t> backward_calls() const;
  void mark_needed(std::uint32_t place);
  [[nodiscard]] PlanMoment moment_in_forward(std::size_t call) const;
  [[nodiscard]] PlanMoment moment_in_backward(std::size_t call) const;
  [[nodiscard]] std::int64_t work_ns(std::uint32_t place) const;
  [[nodiscard]] FlowNetwork network(const PlanPrices& prices) const;

  const PlanWhatIf* what_if_;
  const PlanWhatIf::State* state_;
  PlanRules rules_;
  bool by_host_ = false;  // the CPU, not the device, determines the step
  std::vector<Item> items_;
  std::vector<NodeId> values_;  // of items_
  std::vector<Call> calls_;
  std::vector<std::int32_t> item_of_storage_;      // -1 if none
  std::vector<std::uint32_t> forward_, backward_;  // the calls that every plan runs, in order
  // The time of these calls: of the forward; of the backward, as the sum of their work, and with
  // all collectives.
  std::int64_t forward_ns_ = 0, backward_ns_ = 0, whole_backward_ns_ = 0;
  std::int64_t held_bytes_ = 0;  // live between the halves under every plan
};

}  // namespace jointer
