#pragma once

// A lower bound on the step time for every peak, in whatever order a plan's graph runs. It counts
// only compute and copies, since an order may hide all communication, and merge its calls into few.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/cost/estimator.h"
#include "core/partition/plan_relaxation.h"

namespace jointer {

// The costs, indexed by node id, without the time of the device and of the CPU for calls that a
// bucket of collectives replaces: collectives, their waits, and casts that only collectives read.
std::vector<NodeCost> without_communication(const Graph& graph, std::span<const NodeCost> costs);

class OrderBound {
 public:
  struct Options {
    std::vector<MemoryPolicy> policies;  // the user's, indexed by node id; may be empty
    bool offload = true;                 // plans may offload values
    // Called before each minimum cut, on any thread but never concurrently; false ends the search.
    std::function<bool()> go_on;
  };

  // `joint` and what `make_what_if` refers to must outlive this object. `make_what_if` returns an
  // object that evaluates plans of `joint` with the given costs; this object keeps it. If
  // `options.go_on` ends the search, the bounds are weaker, possibly 0. Error (usage): no plan is
  // legal. Cost: 84 minimum cuts; 14 if plans may not offload.
  static Result<OrderBound> make(
      const Graph& joint, std::span<const NodeCost> costs,
      const std::function<std::unique_ptr<PlanWhatIf>(std::span<const NodeCost>)>& make_what_if,
      const Options& options);

  // A lower bound on the step time of all plans with at most this peak, in any order.
  [[nodiscard]] std::int64_t bound_ns(std::int64_t peak_bytes) const {
    return relaxation_ ? relaxation_->bound_ns(solved_, peak_bytes) : 0;
  }

 private:
  std::unique_ptr<const std::vector<NodeCost>> costs_;
  std::unique_ptr<PlanWhatIf> what_if_;
  std::optional<PlanRelaxation> relaxation_;
  std::vector<PlanRelaxation::Solved> solved_;
};

}  // namespace jointer
