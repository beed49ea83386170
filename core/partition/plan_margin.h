#pragma once

// Measures how far each decision of a plan is from flipping, and what would flip it. The top of
// plan_margin.cpp describes how.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/cut_off.h"
#include "core/partition/equal_values.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

struct ValueMargin {
  SaveCandidate value;  // the candidate under the plan
  Figures now;          // the plan's estimates
  // The bytes freed by recomputing the value, per microsecond. nullopt if it cannot be recomputed,
  // or if that would free nothing, for instance because its memory is occupied anyway.
  std::optional<double> bytes_per_us;
  // The plan recomputes values of this density or more and saves the others, with the fewest
  // exceptions (CutOff::density). nullopt if the plan does not decide by density.
  std::optional<double> cutoff_bytes_per_us;
  std::int64_t copy_ns = 0;  // of a copy to the host, or back

  // The estimates with one policy for the value, and nothing else changed.
  struct Choice {
    std::optional<Figures> figures;  // nullopt if impossible; see `why_not`
    std::string why_not;
  };
  std::array<Choice, 3> choices;  // by PlanAction
  [[nodiscard]] const Choice& choice(PlanAction action) const {
    return choices[static_cast<std::size_t>(action)];
  }

  // Number of values equal to this one (equal_values.h), including it, by PlanAction.
  std::array<std::size_t, 3> equal{};
  [[nodiscard]] std::size_t equal_count() const { return equal[0] + equal[1] + equal[2]; }
  // The estimates if the value and an equal one with a different policy swapped their decisions.
  struct Exchange {
    NodeId with;
    PlanAction action = PlanAction::recompute;  // of `with` under the plan
    Figures figures;
  };
  // nullopt if all equal values have the same policy, or if the swap is impossible.
  std::optional<Exchange> exchange;

  // For a saved value below the cut-off: if the plan saved this node too, recomputing the value
  // would free enough memory for the time that it takes. The smallest such node; none if no node
  // does, or if the chain is too long to search (plan_margin.cpp).
  NodeId if_saved_too;
  // For a recomputed value: the only value that is recomputed from it. If that value were saved,
  // this one would not be needed. None if there are several, if that value cannot be saved, or if
  // the backward's own calls or outputs read this one.
  NodeId only_for;
};

// The margins of one plan.
class PlanMargins {
 public:
  // `what_if` must outlive this object. Error (usage): same as emit_pair. Cost: an evaluation of
  // the plan, and finding its candidates.
  static Result<PlanMargins> make(const PlanWhatIf& what_if, SavePlan plan);

  // nullopt if the plan does not decide by density.
  [[nodiscard]] const std::optional<CutOff>& cut_off() const { return cut_off_; }
  // The margin of one value. Error (usage): the backward does not need the value under this plan.
  // Cost: up to three evaluations of a plan, and up to one walk over the value's chain for each of
  // its calls.
  [[nodiscard]] Result<ValueMargin> of(NodeId node) const;

 private:
  PlanMargins(const PlanWhatIf& what_if, SavePlan plan, PairOrder order);
  void find_cut_off();
  void add_choices(ValueMargin& margin) const;
  void add_equal(ValueMargin& margin) const;
  [[nodiscard]] Result<Figures> exchanged(const SaveCandidate& a, const SaveCandidate& b) const;
  [[nodiscard]] NodeId if_saved_too(const ValueMargin& margin) const;
  [[nodiscard]] NodeId only_for(const SaveCandidate& value) const;

  const PlanWhatIf* what_if_;
  SavePlan plan_;
  PairOrder order_;
  Figures figures_;
  std::vector<SaveCandidate> candidates_;  // in program order
  EqualValues equal_;
  std::optional<CutOff> cut_off_;
};

}  // namespace jointer
