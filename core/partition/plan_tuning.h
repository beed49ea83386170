#pragma once

// Improves a plan tensor by tensor toward a limit. The top of plan_tuning.cpp describes the
// search.

#include <functional>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

struct TunedPlan {
  SavePlan plan;
  PlanFigures figures;
};

class PlanTuning {
 public:
  // `joint` and `what_if` must outlive this. `joint`: the graph of `what_if`. MUST_SAVE and
  // MUST_RECOMPUTE tags are honored; decisions that are only preferences may change. `go_on` is
  // called between plans and returns false to end the tuning with the best plan so far.
  PlanTuning(const Graph& joint, const PlanWhatIf& what_if, std::function<bool()> go_on)
      : joint_(joint), what_if_(what_if), go_on_(std::move(go_on)) {}

  using Holds = std::function<bool(const Figures&)>;

  // Recompute saved values that are live at the peak, the best candidates first: until `enough`
  // returns true or nothing helps, or as long as `allowed` returns true.
  [[nodiscard]] TunedPlan lower_peak_until(TunedPlan from, const Holds& enough) const;
  [[nodiscard]] TunedPlan lower_peak_while(TunedPlan from, const Holds& allowed) const;
  // Save recomputed values, the best candidates first, and end under the same conditions.
  [[nodiscard]] TunedPlan speed_up_until(TunedPlan from, const Holds& enough) const;
  [[nodiscard]] TunedPlan speed_up_while(TunedPlan from, const Holds& allowed) const;

 private:
  // A kind of change: the candidates, best first, and the figure that the change should lower.
  struct Move {
    std::function<std::vector<NodeId>(const SavePlan&)> nodes;
    Keep keep;
    std::int64_t Figures::*aim;
  };

  [[nodiscard]] Move to_lower_peak() const;
  [[nodiscard]] Move to_speed_up() const;
  [[nodiscard]] TunedPlan until(TunedPlan from, const Move& move, const Holds& enough) const;
  [[nodiscard]] TunedPlan as_long_as(TunedPlan from, const Move& move, const Holds& allowed) const;
  // The plan after changing the first `count` nodes. Error (usage): none of them can be changed.
  [[nodiscard]] Result<TunedPlan> changed(const TunedPlan& from, const std::vector<NodeId>& nodes,
                                          std::size_t count, Keep keep) const;

  const Graph& joint_;
  const PlanWhatIf& what_if_;
  std::function<bool()> go_on_;
};

}  // namespace jointer
