#pragma once

// Improves a plan tensor by tensor toward a limit. The top of plan_tuning.cpp describes the
// search.

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/partition/plan_rules.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

class PlanTuning {
 public:
  struct Options {
    const PlanRules& rules;  // must outlive the tuning
    // Computes the estimates of a plan; nullopt ends the tuning, also for later calls, with the
    // best plan so far.
    std::function<std::optional<Result<EvaluatedPlan>>(SavePlan)> evaluate;
  };
  // `what_if` must outlive this object.
  PlanTuning(const PlanWhatIf& what_if, Options options)
      : what_if_(what_if), options_(std::move(options)) {}

  using Holds = std::function<bool(const Figures&)>;

  // Lower `aim`, which is the peak or the step time, by changing the best candidates first, in a
  // limited number of rounds. lower_until ends when `enough` returns true or nothing helps;
  // lower_while makes only changes after which `allowed` still returns true. For the peak, both
  // recompute or offload saved values that are live there; for the step time, they save recomputed
  // and offloaded values, or offload recomputed ones.
  [[nodiscard]] EvaluatedPlan lower_until(EvaluatedPlan from, std::int64_t Figures::*aim,
                                          const Holds& enough);
  [[nodiscard]] EvaluatedPlan lower_while(EvaluatedPlan from, std::int64_t Figures::*aim,
                                          const Holds& allowed);

 private:
  // A kind of change, and the metric that it should lower.
  struct Move {
    PlanAction from, to;
    std::int64_t Figures::*aim;
  };

  [[nodiscard]] static std::vector<Move> moves(std::int64_t Figures::*aim);
  [[nodiscard]] std::vector<NodeId> nodes(const SavePlan& plan, const Move& move) const;
  [[nodiscard]] EvaluatedPlan until(EvaluatedPlan from, const Move& move, const Holds& enough);
  [[nodiscard]] EvaluatedPlan as_long_as(EvaluatedPlan from, const Move& move,
                                         const Holds& allowed);
  // The plan after changing the first `count` nodes. Error (usage): none of them can be changed.
  // Error (cancelled): the tuning is over.
  [[nodiscard]] Result<EvaluatedPlan> changed(const EvaluatedPlan& from,
                                              const std::vector<NodeId>& nodes, std::size_t count,
                                              PlanAction action);

  const PlanWhatIf& what_if_;
  Options options_;
  bool is_over_ = false;
};

}  // namespace jointer
