#pragma once

// A lower bound on the step time for every peak, in whatever order a plan's graph runs. It counts
// only compute and copies, since an order may hide all communication.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/cost/estimator.h"
#include "core/partition/plan_frontier.h"

namespace jointer {

class OrderBound {
 public:
  // `joint` and what `make_what_if` refers to must outlive this object. `make_what_if` returns an
  // object that evaluates plans of `joint` with the given costs, which this object keeps. If
  // `options.go_on` ends the search, the bounds are lower, possibly 0. Error (usage): no plan is
  // legal.
  static Result<OrderBound> make(
      const Graph& joint, std::span<const NodeCost> costs,
      const std::function<std::unique_ptr<PlanWhatIf>(std::span<const NodeCost>)>& make_what_if,
      PlanFrontier::Options options);

  // A lower bound on the step time of all plans with at most this peak, in any order.
  [[nodiscard]] std::int64_t bound_ns(std::int64_t peak_bytes) const {
    return frontier_->bound_ns(peak_bytes);
  }

 private:
  std::unique_ptr<const std::vector<NodeCost>> costs_;
  std::unique_ptr<PlanWhatIf> what_if_;
  std::unique_ptr<PlanFrontier> frontier_;
};

}  // namespace jointer
