// sink_waits, raise_comms, reorder_compute_for_overlap: list scheduling that hides collectives
// (passes/support/list_scheduler.h). raise_comms raises collectives, sink_waits sinks waits, and
// reorder_compute_for_overlap does both and runs compute during each collective.
//
// Collectives keep their relative order, and so do copies to and from the host: each depends on the
// previous one.
//
// Cost: n log n for n calls, plus the number of their dependencies.
//
// Source: torch 2.11, torch/_inductor/comms.py, _schedule_for_comm; the fixed order of collectives
// corresponds to decide_global_ordering_of_comms, which Inductor's scheduler always runs first.
// Deviations:
//   - Each stretch between placeholders and outputs is scheduled separately, so the halves of a
//     pair stay apart; all dependencies that edits respect count.
//   - These passes ignore memory. If the result's peak exceeds the run's limit and the original
//     peak, the order stays unchanged.

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "passes/reordering/list_schedule.h"
#include "passes/reordering/reordering.h"
#include "passes/support/kept.h"
#include "passes/support/list_scheduler.h"

namespace jointer {
namespace {

// The calls of a graph, as ListScheduler reads them.
class ScheduledCalls {
 public:
  using Unit = Call;

  explicit ScheduledCalls(const Calls& calls) : calls_(calls), rows_(calls) {}

  [[nodiscard]] std::size_t size() const { return calls_.size(); }
  [[nodiscard]] bool is_start(Call call) const { return calls_.is_start(call); }
  [[nodiscard]] bool is_wait(Call call) const { return calls_.is_wait(call); }
  [[nodiscard]] std::int64_t time(Call call) const { return calls_.ns(call); }
  [[nodiscard]] std::uint32_t count_before(Call call) const { return rows_.count_before(call); }
  template <class Visit>
  void for_each_after(Call call, Visit visit) const {
    rows_.for_each_after(call, visit);
  }

 private:
  const Calls& calls_;
  OrderedCalls rows_;
};

// Indexed by call: the number of the first start in its stretch that is the call itself or depends
// on it; kNothing if there is none, or if `aims` do not raise collectives. Readers run after their
// inputs, so a single backward sweep suffices.
std::vector<std::uint32_t> first_blocked(const Calls& calls, ListAims aims) {
  std::vector<std::uint32_t> blocks(calls.size(), ListScheduler<ScheduledCalls>::kNothing);
  if (!aims.raise) return blocks;
  for (const Stretch stretch : calls.stretches()) {
    std::uint32_t number = 0;
    for (std::size_t i = stretch.first; i < stretch.last; ++i)
      if (calls.is_start(static_cast<Call>(i))) blocks[i] = number++;
    for (std::size_t i = stretch.last; i-- > stretch.first;)
      for (const Call after : calls.after(static_cast<Call>(i)))
        blocks[i] = std::min(blocks[i], blocks[after]);
  }
  return blocks;
}

// A call that runs during a collective. `left`: the nanoseconds of the collective that are still
// exposed after the call.
struct DuringCollective {
  Call compute, start;
  std::int64_t left;
};

Result<std::vector<Call>> scheduled_calls(const Calls& calls, ListAims aims,
                                          std::vector<DuringCollective>& placed,
                                          const PassContext& context) {
  const ScheduledCalls units(calls);
  const std::vector<std::uint32_t> blocks = first_blocked(calls, aims);
  ListScheduler scheduler(units, aims);
  const auto report = [&](std::size_t count) -> Result<void> {
    if (count % 1024 != 0) return {};
    return context.report(static_cast<double>(count) / static_cast<double>(calls.size()));
  };
  const auto note = [&](Call compute, Call start, std::int64_t left) {
    if (calls.ns(compute) != 0) placed.push_back({compute, start, std::max<std::int64_t>(left, 0)});
  };
  for (const Stretch stretch : calls.stretches()) {
    for (std::size_t i = stretch.first; i < stretch.last; ++i) {
      const Call call = static_cast<Call>(i);
      scheduler.add(call, units.count_before(call), blocks[call]);
    }
    JOINTER_CHECK(scheduler.run(report, note));
  }
  return scheduler.take_order();
}

Pass make_pass(std::string name, std::string summary, ListAims aims) {
  const auto run = [aims](Graph& graph, const Arguments&, PassContext& context) -> Result<void> {
    JOINTER_TRY(const Calls calls, Calls::of(graph, context.analysis()));
    std::vector<DuringCollective> placed;
    JOINTER_TRY(const std::vector<Call> order, scheduled_calls(calls, aims, placed, context));
    if (!keep_within_limit(graph, calls, order, context)) return {};
    for (const DuringCollective& each : placed)
      context.decide(graph, calls.node(each.compute), "placed",
                     fmt::format("It runs during {}, of which {} are still exposed.",
                                 graph.name(calls.node(each.start)), format_ns(each.left)));
    explain_places(graph, calls, order, {.starts = aims.raise, .waits = aims.sink}, context);
    return {};
  };
  return {.info = {.name = std::move(name),
                   .summary = std::move(summary),
                   .source = "torch/_inductor/comms.py",
                   .stage = PassStage::reordering,
                   .is_idempotent = true},
          .run = with_kept_decision("The graph has no collectives.", run)};
}

}  // namespace

Pass sink_waits_pass() {
  return make_pass("sink_waits", "Runs every wait as late as possible.", {.sink = true});
}

Pass raise_comms_pass() {
  return make_pass("raise_comms", "Starts every collective as early as possible.", {.raise = true});
}

Pass reorder_compute_for_overlap_pass() {
  return make_pass("reorder_compute_for_overlap",
                   "Runs ready compute during each collective until the collective is hidden.",
                   {.raise = true, .sink = true, .overlap = true});
}

}  // namespace jointer
