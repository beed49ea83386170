#pragma once

// Adds up the values that a user can decide about under one plan (PlanWhatIf::candidates). Values
// share storages and recomputed calls, so a sum over them counts each storage and each call once.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/pair_order.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

class PlanTotals {
 public:
  // `what_if` must outlive the result. Error (usage): same as emit_pair. Cost: linear.
  static Result<std::shared_ptr<const PlanTotals>> make(const PlanWhatIf& what_if,
                                                        const SavePlan& plan);

  struct Sum {
    // The bytes of the storages needed to save the values. A storage of saved values belongs to the
    // first of them, as in SaveCandidate::bytes.
    std::int64_t bytes = 0;
    // The time, FLOPs and number of the calls that recompute the values from those that the plan
    // saves. A call that several values need counts once.
    std::int64_t recompute_ns = 0;
    std::int64_t recompute_flops = 0;
    std::size_t calls = 0;
    friend bool operator==(const Sum&, const Sum&) = default;
  };
  // `candidates`: nodes of candidates of the plan, each at most once. For one candidate, the sum is
  // the candidate's own estimates. Cost: linear in the calls of the chains, plus the nodes and
  // storages of the graph.
  [[nodiscard]] Sum of(std::span<const NodeId> candidates) const;

 private:
  explicit PlanTotals(const PlanWhatIf::State& state) : state_(state) {}

  const PlanWhatIf::State& state_;
  std::vector<std::uint8_t> is_available_;  // by position: the backward need not recompute it
  std::vector<Place> owner_;                // by storage: the first saved value in it, or kNone
};

}  // namespace jointer
