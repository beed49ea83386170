#pragma once

// A plan, improved tensor by tensor towards a limit. How is at the top of plan_tuning.cpp.

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
  // Both must outlive it. `joint`: of `what_if`, with the tags that are honoured: MUST_SAVE and
  // MUST_RECOMPUTE; what is only preferred may change. `go_on` is asked between plans; false ends
  // a tuning with what it has.
  PlanTuning(const Graph& joint, const PlanWhatIf& what_if, std::function<bool()> go_on)
      : joint_(joint), what_if_(what_if), go_on_(std::move(go_on)) {}

  using Holds = std::function<bool(const Figures&)>;

  // Makes again what is alive at the peak and best made again, until `enough` holds or nothing
  // helps; and as long as `allowed` holds.
  [[nodiscard]] TunedPlan lower_peak_until(TunedPlan from, const Holds& enough) const;
  [[nodiscard]] TunedPlan lower_peak_while(TunedPlan from, const Holds& allowed) const;
  // Saves what is made again and best saved, in the same ways.
  [[nodiscard]] TunedPlan speed_up_until(TunedPlan from, const Holds& enough) const;
  [[nodiscard]] TunedPlan speed_up_while(TunedPlan from, const Holds& allowed) const;

 private:
  // One kind of change: what to try, best first, and which figure it is to lower.
  struct Move {
    std::function<std::vector<NodeId>(const SavePlan&)> nodes;
    Keep keep;
    std::int64_t Figures::*aim;
  };

  [[nodiscard]] Move to_lower_peak() const;
  [[nodiscard]] Move to_speed_up() const;
  [[nodiscard]] TunedPlan until(TunedPlan from, const Move& move, const Holds& enough) const;
  [[nodiscard]] TunedPlan as_long_as(TunedPlan from, const Move& move, const Holds& allowed) const;
  // The plan with the first `count` nodes changed; nothing where none of them can be.
  [[nodiscard]] Result<TunedPlan> changed(const TunedPlan& from, const std::vector<NodeId>& nodes,
                                          std::size_t count, Keep keep) const;

  const Graph& joint_;
  const PlanWhatIf& what_if_;
  std::function<bool()> go_on_;
};

}  // namespace jointer
