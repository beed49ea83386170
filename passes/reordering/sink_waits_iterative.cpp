// sink_waits_iterative: moves waits later, one at a time, as far as memory allows.
//
// Terms
//   group      the wait that is being moved, followed by the calls that move with it because they
//              depend on it. All calls of the group are adjacent.
//   candidate  the call directly after the group.
//
// Steps. In each stretch between placeholders and outputs (so in each half of a pair separately),
// visit the waits in reverse program order. With estimates, a wait stops once its collective is
// hidden with enough surplus compute. Until then, for each candidate:
//   1. An asynchronous collective stops the wait, so that buckets stay in place, unless
//      sink_waits_iterative_swap_with_collectives is set.
//   2. If a candidate depends on the group, or if it is a collective and the group contains one on
//      the same stream, it joins the group, unless it is a wait, an asynchronous collective or,
//      without estimates, any collective or a long-running call such as a matrix product.
//   3. Any other candidate that does not depend on the group swaps with it, unless
//      - the candidate is a collective, the group contains one on the same stream, and
//        sink_waits_iterative_unsafe_collectives_reorder is not set;
//      - with estimates, the candidate is a wait whose collective would be more exposed, since the
//        group's compute no longer hides it;
//      - the peak would exceed the budget.
//   4. The wait stops at the first candidate that neither joins nor swaps: the limiting factor.
//
// Cost: each swap is linear in the size of the group, regardless of the graph's size
// (live_order.cpp); in addition, each wait is linear in the number of calls between it and its
// collective.
//
// Source: torch 2.11, torch/_inductor/comms.py and config_comms.py. Deviations:
//   - sink_waits_iterative_unsafe_collectives_reorder is off by default (see
//     reorder_communication_preserving_peak_memory).
//   - With estimates, no compute of the group hides the collective of a wait that the group has
//     moved past; upstream counts only the group's synchronous collectives.
//   - With estimates, upstream subtracts the overlap that collectives in the group lose. Only
//     collectives that nothing overlaps can be in the group (before torch 2.13, a term of the sum
//     was missing), so here nothing is subtracted.
//   - Overlap is estimated as in overlap_estimate.h. Upstream sums backward from the wait in this
//     pass but forward from the start when it moves collectives; the results differ.
//   - Memory and dependencies are Jointer's, the peak is computed exactly, and the run's limit
//     applies as well. A wait for a copy to or from the host moves like any other wait.

#include <fmt/core.h>

#include "core/base/units.h"
#include "passes/reordering/group_mover.h"
#include "passes/reordering/reordering.h"
#include "passes/support/kept.h"

namespace jointer {
namespace {

class Sinker final : public GroupMover {
 public:
  Sinker(const Graph& graph, const Calls& calls, const IterativeOptions& options, LiveOrder& order)
      : GroupMover(graph, calls, options, order, Direction::later) {}

 private:
  [[nodiscard]] bool is_moved(Call call) const override { return calls_.is_wait(call); }

  Overlap begin(Call wait) override {
    group_ns_ = 0;
    start_ = start_of(wait);
    return overlap(start_);
  }

  // kNoCall if the start is in another stretch, such as the other half of a pair.
  [[nodiscard]] Call start_of(Call wait) const {
    const Call start = calls_.partner(wait);
    return is_in_stretch(start) ? start : kNoCall;
  }
  [[nodiscard]] Overlap overlap(Call start) const {
    return start == kNoCall ? Overlap() : estimate_.of(order_, start, stretch_);
  }

  bool meet(Call candidate) override {
    if (!options_.with_collectives && calls_.is_asynchronous(candidate))
      return stop(fmt::format("{} is {}", name(candidate), kind(candidate)));
    const bool needs = is_tied(candidate);
    if (needs || is_ordered(candidate)) {
      const std::string_view bar = bar_to_join(candidate);
      if (bar.empty()) {
        join(candidate);
        group_ns_ += estimate_.ns(candidate);
        return true;
      }
      if (needs) return stop(fmt::format("{} depends on the wait and is {}", name(candidate), bar));
      if (!options_.unsafe)
        return stop(fmt::format("{} is {} on the same stream", name(candidate), kind(candidate)));
    }
    if (options_.use_times && calls_.is_wait(candidate)) {
      const std::int64_t worse = overlap(start_of(candidate)).change(-group_ns_);
      if (worse > 0)
        return stop(
            fmt::format("{} would be exposed for {} longer", name(candidate), format_ns(worse)));
    }
    return pass(candidate);
  }

  [[nodiscard]] std::string_view bar_to_join(Call candidate) const {
    if (calls_.is_wait(candidate)) return "a wait";
    if (calls_.is_asynchronous(candidate)) return kind(candidate);
    if (options_.use_times) return "";
    if (calls_.is_start(candidate)) return "a collective";
    return calls_.is_gemm_like(candidate) ? "a long-running call" : "";
  }

  bool pass(Call candidate) {
    if (!change_places(candidate)) return false;
    if (start_ == kNoCall || move_.after.is_cut) return true;
    if (estimate_.ends(order_, start_, candidate))
      move_.after.is_cut = true;
    else if (!calls_.is_start(candidate))
      move_.after.compute += estimate_.ns(candidate);
    return true;
  }

  Call start_ = kNoCall;
  std::int64_t group_ns_ = 0;
};

Result<void> run_sink_waits_iterative(Graph& graph, const Arguments& arguments,
                                      PassContext& context) {
  const IterativeOptions options = sink_options(arguments);
  JOINTER_TRY(const Calls calls, Calls::of(graph, context.analysis()));
  LiveOrder order(graph, context.analysis().memory, calls);
  return Sinker(graph, calls, options, order).move_all(graph, "Waits, sunk", context);
}

}  // namespace

Pass sink_waits_iterative_pass() {
  return {
      .info = {.name = "sink_waits_iterative",
               .summary = "Moves waits later, one at a time, as far as memory allows.",
               .source = "torch/_inductor/comms.py",
               .stage = PassStage::reordering,
               .parameters = sink_parameters(false)},
      .run = with_kept_decision("The graph has no waits that may move.", run_sink_waits_iterative)};
}

}  // namespace jointer
