// reorder_communication_preserving_peak_memory: starts collectives earlier, one at a time, as
// far as memory allows.
//
// Terms
//   group      the collective that is being moved and the calls that move with it because it
//              depends on them. The calls are adjacent; the collective comes last.
//   candidate  the call directly before the group.
//
// Steps. Visit the collectives in program order, separately in each stretch between placeholders
// and outputs (and so in each half of a pair). If estimates are used, a collective stops once it is
// hidden with enough surplus compute. Until then, for each candidate:
//   1. If the group depends on a candidate, the candidate joins the group, unless it is another
//      collective (which may join if reorder_iterative_group_with_collectives is set) or, if
//      estimates are not used, a long-running call such as a matrix product.
//   2. Any other candidate swaps with the group, unless
//      - the candidate is a collective on the same stream, and
//        reorder_iterative_unsafe_collectives_reorder is not set;
//      - estimates are used, and more time would become exposed elsewhere than hidden here: the
//        candidate's compute would no longer hide waits in the group, or the group's compute would
//        no longer hide a candidate that is a collective;
//      - the peak would exceed the budget.
//   3. The collective stops at the first candidate that neither joins nor swaps, which is the
//      limiting factor, or once it has passed reorder_prefetch_limit calls.
//
// Cost: linear in the size of the group for each swap, regardless of the graph's size
// (live_order.cpp), and for each collective, linear in the number of calls between it and its wait.
//
// Source: torch 2.11, torch/_inductor/comms.py and config_comms.py. Deviations:
//   - reorder_iterative_unsafe_collectives_reorder is off by default, because ranks with different
//     estimates could order them differently. If it is off, the collectives on each stream stay in
//     order, that is, the collectives in each process group, or all collectives if the simulation
//     has one stream for them. In upstream, all collectives then stay in order.
//   - Memory is counted as elsewhere in Jointer: by real storages (views and waits allocate none),
//     and a collective's inputs are live until its wait. The peak that is checked is exact
//     (upstream's becomes outdated), and the run's limit applies, too.
//   - Compute overlaps with a collective until the wait of a later collective on the same stream;
//     upstream intends to check that, but checks the wrong collective.
//   - Nothing moves across placeholders and outputs, and all dependencies that edits respect apply:
//     writes, random operators, tokens, checks.
//   - A copy to or from the host moves like a collective.
//   - reorder_prefetch_limit, which upstream no longer reads, still applies. Upstream's options for
//     debugging and logging are left out, because the table and the decisions are always reported.

#include <fmt/core.h>

#include "core/base/units.h"
#include "passes/reordering/group_mover.h"
#include "passes/reordering/reordering.h"
#include "passes/support/kept.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

struct RaiseOptions : IterativeOptions {
  std::optional<std::int64_t> prefetch_limit;

  explicit RaiseOptions(const Arguments& given)
      : IterativeOptions(raise_options(given)),
        prefetch_limit(given.optional_integer("reorder_prefetch_limit")) {}
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
    return stop(fmt::format("reorder_prefetch_limit ({})", calls_text(*raise_.prefetch_limit)));
  }

  bool meet(Call candidate) override {
    if (is_tied(candidate)) return take_along(candidate);
    if (!options_.unsafe && is_ordered(candidate))
      return stop(fmt::format("{} is {} on the same stream", name(candidate), kind(candidate)));
    if (options_.use_times && !pays_off(candidate)) return false;
    return pass(candidate);
  }

  bool take_along(Call candidate) {
    if (!raise_.with_collectives && calls_.is_asynchronous(candidate))
      return stop(fmt::format("it depends on {}, {}", name(candidate), kind(candidate)));
    if (!options_.use_times && calls_.is_gemm_like(candidate))
      return stop(fmt::format("it depends on {}, a long-running call", name(candidate)));
    join(candidate);
    if (options_.use_times) {
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
      return stop(
          fmt::format("{} would be exposed for {} longer", name(candidate), format_ns(worse)));
    }
    const std::int64_t ns = estimate_.ns(candidate);
    if (ns == 0 || group_waits_.empty()) return true;
    std::int64_t worse = move_.after.change(ns);
    for (const Overlap& waited : group_waits_) worse += waited.change(-ns);
    if (worse > 0)
      return stop(fmt::format("waits in its group would lose {} more overlap than it would gain",
                              format_ns(worse)));
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

Result<void> run_reorder_communication_preserving_peak_memory(Graph& graph,
                                                              const Arguments& arguments,
                                                              PassContext& context) {
  const RaiseOptions options(arguments);
  JOINTER_TRY(const Calls calls, Calls::of(graph, context.analysis()));
  LiveOrder order(graph, context.analysis().memory, calls);
  return Raiser(graph, calls, options, order).move_all(graph, "Collectives, raised", context);
}

std::vector<Parameter> peak_parameters() {
  std::vector<Parameter> made = raise_parameters(false);
  made.push_back(optional_count("reorder_prefetch_limit",
                                "Maximum number of calls that a collective may pass; none: any "
                                "number."));
  return made;
}

}  // namespace

Pass reorder_communication_preserving_peak_memory_pass() {
  return {.info = {.name = "reorder_communication_preserving_peak_memory",
                   .summary = "Starts collectives earlier, one at a time, as far as memory allows.",
                   .source = "torch/_inductor/comms.py",
                   .stage = PassStage::reordering,
                   .parameters = peak_parameters()},
          .run = with_kept_decision("The graph has no collective that may move.",
                                    run_reorder_communication_preserving_peak_memory)};
}

}  // namespace jointer
