// sink_waits_iterative: waits come later, one after the other, as far as memory allows.
//
// Terms
//   group      the wait that is being moved, with calls that need it and that go with it. It stands
//              side by side, the wait first.
//   candidate  the call right behind the group.
//
// Steps. Waits from right to left, in each stretch between placeholders and outputs (so in each
// half of a pair) on its own:
//   1. At a candidate that is a collective it ends, so that buckets keep the place that they were
//      given, unless sink_waits_iterative_swap_with_collectives.
//   2. A candidate that needs the group joins it, unless it is a wait, a collective, or a matrix
//      product (without estimates of run times).
//   3. Any other candidate changes places with the group, unless
//      - by the estimate the collective is hidden with something to spare (with estimates);
//      - it is a wait that would show more than before, for it loses the group's compute (with
//        estimates);
//      - it is a collective, and the group has one on the same stream;
//      - the peak would be over the budget.
//   4. That ends at the first candidate that neither joins nor changes places: the limiting factor.
//
// Cost: for each change of places the group, whatever the graph's size (live_order.cpp); for each
// wait once the calls between it and its collective.
//
// Source: torch 2.11, torch/_inductor/comms.py and config_comms.py. Deviations:
//   - sink_waits_iterative_unsafe_collectives_reorder is off by default, see
//     reorder_communication_preserving_peak_memory.
//   - With estimates, all compute of the group counts as what a passed wait loses; upstream counts
//     only collectives that return when they are over.
//   - With estimates, upstream weighs what collectives in the group lose. Only such collectives can
//     be in it, which nothing runs beside (before torch 2.13, a term of the sum was missing); here
//     nothing is weighed.
//   - How much compute is beside a collective: overlap_estimate.h. Upstream sums from the right
//     where it sums from the left for collectives, with other results.
//   - Memory and dependencies are this program's, the peak that is checked is exact, and the run's
//     own limit holds too. A wait for a copy to the host or back is moved like any other.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/base/units.h"
#include "passes/kept.h"
#include "passes/parameters.h"
#include "passes/reordering/group_mover.h"
#include "passes/reordering/reordering.h"

namespace jointer {
namespace {

struct SinkOptions : MoveOptions {
  bool swap_with_collectives = false;

  explicit SinkOptions(const Arguments& given)
      : MoveOptions{.use_runtimes = given.boolean("sink_iterative_use_runtime_estimations"),
                    .unsafe = given.boolean("sink_waits_iterative_unsafe_collectives_reorder"),
                    .extra_overlap = given.number("sink_iterative_extra_comm_comp_overlap"),
                    .budget = given.number("sink_iterative_peak_memory_budget"),
                    .most = optional_integer(given, "sink_waits_iterative_debug_limit_to_sink"),
                    .multipliers = multipliers_of(given)},
        swap_with_collectives(given.boolean("sink_waits_iterative_swap_with_collectives")) {}
};

class Sinker final : public GroupMover {
 public:
  Sinker(const Graph& graph, const Calls& calls, const SinkOptions& options, LiveOrder& order)
      : GroupMover(graph, calls, options, order, Direction::later), sink_(options) {}

 private:
  [[nodiscard]] bool is_moved(Call call) const override { return calls_.is_wait(call); }

  Overlap begin(Call wait) override {
    group_ns_ = 0;
    start_ = start_of(wait);
    return overlap(start_);
  }

  // None where it is in another stretch: in the other half of a pair.
  [[nodiscard]] Call start_of(Call wait) const {
    const Call start = calls_.partner(wait);
    return is_in_stretch(start) ? start : kNoCall;
  }
  [[nodiscard]] Overlap overlap(Call start) const {
    return start == kNoCall ? Overlap() : estimate_.of(order_, start, stretch_);
  }

  bool meet(Call candidate) override {
    if (!sink_.swap_with_collectives && calls_.is_asynchronous(candidate))
      return stop(fmt::format("{} is a collective", name(candidate)));
    const bool needs = is_tied(candidate);
    if (needs || is_ordered(candidate)) {
      const std::string_view bar = bar_to_join(candidate);
      if (bar.empty()) {
        join(candidate);
        group_ns_ += estimate_.ns(candidate);
        return true;
      }
      if (needs) return stop(fmt::format("{} needs it, {}", name(candidate), bar));
      if (!options_.unsafe)
        return stop(fmt::format("{} is a collective on the same stream", name(candidate)));
    }
    if (options_.use_runtimes && calls_.is_wait(candidate)) {
      const std::int64_t worse = overlap(start_of(candidate)).change(-group_ns_);
      if (worse > 0)
        return stop(fmt::format("{} would show {} more", name(candidate), format_ns(worse)));
    }
    return pass(candidate);
  }

  [[nodiscard]] std::string_view bar_to_join(Call candidate) const {
    if (calls_.is_wait(candidate)) return "a wait";
    if (calls_.is_asynchronous(candidate)) return "a collective";
    if (options_.use_runtimes) return "";
    if (calls_.is_start(candidate)) return "a collective";
    return calls_.is_gemm_like(candidate) ? "which runs a while" : "";
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

  const SinkOptions& sink_;
  Call start_ = kNoCall;
  std::int64_t group_ns_ = 0;
};

Result<void> run(Graph& graph, const Arguments& arguments, PassContext& context) {
  const SinkOptions options(arguments);
  JOINTER_TRY(const Calls calls, Calls::of(graph, context.analysis()));
  LiveOrder order(graph, context.analysis().memory, calls);
  return Sinker(graph, calls, options, order).move_all(graph, "Waits, sunk", context);
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> made{
      flag("sink_iterative_use_runtime_estimations", false,
           "Stop where the estimate says that a collective is hidden."),
      number("sink_iterative_extra_comm_comp_overlap", 0.5,
             "With estimates: hidden means that compute beside it is longer than the collective by "
             "this share of it."),
      number("sink_iterative_peak_memory_budget", 0.2,
             "By which share of itself the peak may grow."),
      flag("sink_waits_iterative_swap_with_collectives", false,
           "A wait may go behind the next collective's start."),
      flag("sink_waits_iterative_unsafe_collectives_reorder", false,
           "Collectives of one process group may change their order. Ranks that decide "
           "differently then hang."),
      optional_count("sink_waits_iterative_debug_limit_to_sink",
                     "How many waits are looked at; none: all.")};
  std::ranges::move(multiplier_parameters(), std::back_inserter(made));
  return made;
}

}  // namespace

Pass sink_waits_iterative_pass() {
  return {.info = {.name = "sink_waits_iterative",
                   .summary = "Waits come later, one after the other, as far as memory allows.",
                   .source = "torch/_inductor/comms.py",
                   .stage = PassStage::reordering,
                   .parameters = parameters()},
          .run = or_kept("There is no wait in it that may move.", run)};
}

}  // namespace jointer
