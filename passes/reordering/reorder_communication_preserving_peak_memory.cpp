// reorder_communication_preserving_peak_memory: collectives start earlier, one after the other, as
// far as memory allows.
//
// Terms
//   group      the collective that is being moved, with calls that it needs and that go with it.
//              It stands side by side, the collective last.
//   candidate  the call right before the group.
//
// Steps. Collectives from left to right, in each stretch between placeholders and outputs (so in
// each half of a pair) on its own:
//   1. A candidate that the group needs joins the group, unless it is another collective or a
//      matrix product (without estimates of run times).
//   2. Any other candidate changes places with the group, unless
//      - by the estimate the collective is hidden with something to spare (with estimates);
//      - the candidate is a collective on the same stream;
//      - what gets exposed elsewhere is more than what gets hidden: waits in the group lose the
//        candidate's compute, a candidate that is a collective loses the group's (with estimates);
//      - the peak would be over the budget.
//   3. That ends at the first candidate that neither joins nor changes places: the limiting factor.
//
// Cost: for each change of places the group, whatever the graph's size (live_order.cpp); for each
// collective once the calls between it and its wait.
//
// Source: torch 2.11, torch/_inductor/comms.py and config_comms.py. Deviations:
//   - reorder_iterative_unsafe_collectives_reorder is off by default: ranks whose estimates differ
//     would hang. Off, collectives on one stream keep their order: those of a process group, or all
//     where the simulation has one stream for them; upstream keeps all.
//   - Memory is this program's: storages as they are (views, waits), a collective's inputs live
//     until its wait. The peak that is checked is exact (upstream's goes stale), and the run's own
//     limit holds too.
//   - Compute beside a collective ends where the wait of a later one on its stream does; upstream
//     means to look for that and asks for the wrong collective.
//   - Nothing moves over placeholders and outputs, and every dependency of an edit counts: writes,
//     random operators, tokens, checks.
//   - A copy to the host or back is moved like a collective.
//   - reorder_prefetch_limit, which upstream no longer reads, is kept. Its switches for debugging
//     and logging are not: the table and the decisions are always there.

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

struct RaiseOptions : MoveOptions {
  bool group_collectives = false;
  std::optional<std::int64_t> prefetch_limit;

  explicit RaiseOptions(const Arguments& given)
      : MoveOptions{.use_runtimes = given.boolean("reorder_iterative_use_runtime_estimations"),
                    .unsafe = given.boolean("reorder_iterative_unsafe_collectives_reorder"),
                    .extra_overlap = given.number("reorder_iterative_extra_comm_comp_overlap"),
                    .budget = given.number("reorder_iterative_peak_memory_budget"),
                    .most = optional_integer(given, "reorder_iterative_debug_limit_to_reorder"),
                    .multipliers = multipliers_of(given)},
        group_collectives(given.boolean("reorder_iterative_group_with_collectives")),
        prefetch_limit(optional_integer(given, "reorder_prefetch_limit")) {}
};

class Raiser final : public GroupMover {
 public:
  Raiser(const Graph& graph, const Calls& calls, const RaiseOptions& options, LiveOrder& order)
      : GroupMover(graph, calls, options, order, Direction::earlier), raise_(options) {}

 private:
  [[nodiscard]] bool is_moved(Call call) const override { return calls_.is_asynchronous(call); }

  Overlap begin(Call start) override {
    group_waits_.clear();
    group_ns_ = 0;
    return estimate_.of(order_, start, stretch_);
  }

  bool may_go_on() override {
    if (!raise_.prefetch_limit || move_.moves < *raise_.prefetch_limit) return true;
    return stop(fmt::format("the limit of {}", calls_text(*raise_.prefetch_limit)));
  }

  bool meet(Call candidate) override {
    if (is_tied(candidate)) return take_along(candidate);
    if (!options_.unsafe && is_ordered(candidate))
      return stop(fmt::format("{} is a collective on the same stream", name(candidate)));
    if (options_.use_runtimes && !pays_off(candidate)) return false;
    return pass(candidate);
  }

  bool take_along(Call candidate) {
    if (!raise_.group_collectives && calls_.is_asynchronous(candidate))
      return stop(fmt::format("it needs {}, a collective", name(candidate)));
    if (!options_.use_runtimes && calls_.is_gemm_like(candidate))
      return stop(fmt::format("it needs {}, which runs a while", name(candidate)));
    join(candidate);
    if (options_.use_runtimes) {
      if (calls_.is_wait(candidate)) group_waits_.push_back(overlap_of_wait(candidate));
      if (!calls_.is_asynchronous(candidate)) group_ns_ += estimate_.ns(candidate);
    }
    return true;
  }

  [[nodiscard]] Overlap overlap_of_wait(Call wait) const {
    const Call start = calls_.partner(wait);
    const bool is_here =
        start != kNoCall && order_.place(start) >= stretch_.first && order_.place(start) < first_;
    return is_here ? estimate_.of(order_, start, stretch_) : Overlap();
  }

  bool pays_off(Call candidate) {
    if (calls_.is_asynchronous(candidate)) {
      const std::int64_t worse = estimate_.of(order_, candidate, stretch_).change(-group_ns_);
      if (worse <= 0) return true;
      return stop(fmt::format("{} would show {} more", name(candidate), format_ns(worse)));
    }
    const std::int64_t ns = estimate_.ns(candidate);
    if (ns == 0 || group_waits_.empty()) return true;
    std::int64_t worse = move_.after.change(ns);
    for (const Overlap& waited : group_waits_) worse += waited.change(-ns);
    if (worse > 0)
      return stop(
          fmt::format("waits that go with it would show {} more than it gains", format_ns(worse)));
    for (Overlap& waited : group_waits_) waited.compute -= ns;
    return true;
  }

  bool pass(Call candidate) {
    if (!change_places(candidate)) return false;
    if (calls_.is_asynchronous(candidate)) {
      if (calls_.stream(candidate) == calls_.stream(move_.call))
        move_.after = estimate_.of(order_, move_.call, stretch_);
    } else if (calls_.is_sync(candidate)) {
      move_.after.compute = 0;
    } else {
      move_.after.compute += estimate_.ns(candidate);
    }
    return true;
  }

  const RaiseOptions& raise_;
  std::vector<Overlap> group_waits_;
  std::int64_t group_ns_ = 0;
};

Result<void> run(Graph& graph, const Arguments& arguments, PassContext& context) {
  const RaiseOptions options(arguments);
  JOINTER_TRY(const Calls calls, Calls::of(graph, context.analysis()));
  LiveOrder order(graph, context.analysis().memory, calls);
  return Raiser(graph, calls, options, order).move_all(graph, "Collectives, raised", context);
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> made{
      flag("reorder_iterative_use_runtime_estimations", false,
           "Stop where the estimate says that a collective is hidden."),
      number("reorder_iterative_extra_comm_comp_overlap", 0.5,
             "With estimates: hidden means that compute beside it is longer than the collective by "
             "this share of it."),
      number("reorder_iterative_peak_memory_budget", 0.2,
             "By which share of itself the peak may grow."),
      flag("reorder_iterative_unsafe_collectives_reorder", false,
           "Collectives of one process group may change their order. Ranks that decide "
           "differently then hang."),
      flag("reorder_iterative_group_with_collectives", false,
           "A collective that another one needs goes with it."),
      optional_count("reorder_prefetch_limit",
                     "Over how many calls a collective may go; none: any number."),
      optional_count("reorder_iterative_debug_limit_to_reorder",
                     "How many collectives are looked at; none: all.")};
  std::ranges::move(multiplier_parameters(), std::back_inserter(made));
  return made;
}

}  // namespace

Pass reorder_communication_preserving_peak_memory_pass() {
  return {.info = {.name = "reorder_communication_preserving_peak_memory",
                   .summary = "Starts collectives earlier, one after the other, as far as memory "
                              "allows.",
                   .source = "torch/_inductor/comms.py",
                   .stage = PassStage::reordering,
                   .parameters = parameters()},
          .run = or_kept("There is no collective in it that may move.", run)};
}

}  // namespace jointer
