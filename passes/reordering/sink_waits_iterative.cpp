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
//     be in it, which nothing runs beside, and it drops a term of the sum; here nothing is weighed.
//   - How much compute is beside a collective: overlap_estimate.h. Upstream sums from the right
//     where it sums from the left for collectives, with other results.
//   - Memory and dependencies are this program's, the peak that is checked is exact, and the run's
//     own limit holds too. A wait for a copy to the host or back is moved like any other.

#include <fmt/format.h>

#include "core/base/units.h"
#include "passes/reordering/collective_moves.h"
#include "passes/reordering/reordering.h"

namespace jointer {
namespace {

struct Options {
  bool use_runtimes = false, unsafe = false, swap_with_collectives = false;
  double extra_overlap = 0, budget = 0;
  std::optional<std::int64_t> sink_limit;
  OverlapEstimate::Multipliers multipliers;

  explicit Options(const Arguments& given)
      : use_runtimes(given.boolean("sink_iterative_use_runtime_estimations")),
        unsafe(given.boolean("sink_waits_iterative_unsafe_collectives_reorder")),
        swap_with_collectives(given.boolean("sink_waits_iterative_swap_with_collectives")),
        extra_overlap(given.number("sink_iterative_extra_comm_comp_overlap")),
        budget(given.number("sink_iterative_peak_memory_budget")),
        multipliers{given.number("reorder_sink_runtime_estimations_comm_mult"),
                    given.number("reorder_sink_runtime_estimations_non_comm_mult")} {
    if (given.is_given("sink_waits_iterative_debug_limit_to_sink"))
      sink_limit = given.integer("sink_waits_iterative_debug_limit_to_sink");
  }
};

class Sinker {
 public:
  Sinker(const Graph& graph, const Calls& calls, const Options& options, LiveOrder& order)
      : graph_(graph),
        calls_(calls),
        options_(options),
        order_(order),
        estimate_(calls, options.multipliers),
        needs_(calls.size(), kNoCall) {}

  CollectiveMove run(Call wait, Stretch stretch, std::int64_t allowed) {
    stretch_ = stretch;
    allowed_ = allowed;
    first_ = order_.place(wait);
    count_ = 1;
    group_ns_ = 0;
    start_ = start_of(wait);
    need(wait, wait);
    move_ = {.call = wait, .limit = {}, .bytes_before = order_.bytes(wait)};
    move_.before = move_.after = overlap(start_);
    while (step()) {
    }
    move_.bytes_after = order_.bytes(wait);
    return move_;
  }

 private:
  [[nodiscard]] std::string_view name(Call call) const { return graph_.name(calls_.node(call)); }
  bool stop(std::string limit) {
    move_.limit = std::move(limit);
    return false;
  }
  void need(Call member, Call wait) {
    for (const Call after : calls_.after(member)) needs_[after] = wait;
  }
  // None where it is in another stretch: in the other half of a pair.
  [[nodiscard]] Call start_of(Call wait) const {
    const Call start = calls_.partner(wait);
    return start != kNoCall && start >= stretch_.first && start < stretch_.last ? start : kNoCall;
  }
  [[nodiscard]] Overlap overlap(Call start) const {
    return start == kNoCall ? Overlap() : estimate_.of(order_, start, stretch_);
  }

  // Whether it goes on.
  bool step() {
    const std::size_t next = first_ + count_;
    if (next == stretch_.last) return stop("nothing that it could pass is behind it");
    if (options_.use_runtimes && is_hidden())
      return stop(
          fmt::format("it is hidden: {} of compute is beside it", format_ns(move_.after.compute)));
    const Call candidate = order_.at(next);
    if (!options_.swap_with_collectives && calls_.is_asynchronous(candidate))
      return stop(fmt::format("{} is a collective", name(candidate)));
    const bool needs = needs_[candidate] == move_.call;
    const bool is_second = is_ordered(candidate);
    if (needs || is_second) {
      const std::string_view bar = bar_to_join(candidate);
      if (bar.empty()) return join(candidate);
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

  [[nodiscard]] bool is_hidden() const {
    return static_cast<double>(move_.after.exposed()) <
           -options_.extra_overlap * static_cast<double>(move_.after.communication);
  }

  // A start that the group has one of the same stream for.
  [[nodiscard]] bool is_ordered(Call candidate) const {
    if (!calls_.is_start(candidate)) return false;
    for (std::size_t i = first_; i < first_ + count_; ++i) {
      const Call member = order_.at(i);
      if (calls_.is_start(member) && calls_.stream(member) == calls_.stream(candidate)) return true;
    }
    return false;
  }

  [[nodiscard]] std::string_view bar_to_join(Call candidate) const {
    if (calls_.is_wait(candidate)) return "a wait";
    if (calls_.is_asynchronous(candidate)) return "a collective";
    if (options_.use_runtimes) return "";
    if (calls_.is_start(candidate)) return "a collective";
    return calls_.is_gemm_like(candidate) ? "which runs a while" : "";
  }

  bool join(Call candidate) {
    ++count_;
    ++move_.grouped;
    need(candidate, move_.call);
    group_ns_ += estimate_.ns(candidate);
    return true;
  }

  bool pass(Call candidate) {
    const std::int64_t most = order_.sink(first_, count_);
    ++first_;
    if (most > allowed_) {
      order_.raise(first_, count_);
      return stop(fmt::format("memory: {} live instead of at most {} behind {}", format_bytes(most),
                              format_bytes(allowed_), name(candidate)));
    }
    ++move_.moves;
    if (start_ == kNoCall || move_.after.is_cut) return true;
    if (estimate_.ends(order_, start_, candidate))
      move_.after.is_cut = true;
    else if (!calls_.is_start(candidate))
      move_.after.compute += estimate_.ns(candidate);
    return true;
  }

  const Graph& graph_;
  const Calls& calls_;
  const Options& options_;
  LiveOrder& order_;
  OverlapEstimate estimate_;
  std::vector<Call> needs_;  // by call: the last wait whose group it was found to need
  Stretch stretch_;
  std::int64_t allowed_ = 0;
  std::size_t first_ = 0, count_ = 0;  // the group's places
  Call start_ = kNoCall;
  std::int64_t group_ns_ = 0;
  CollectiveMove move_;
};

Result<void> run(Graph& graph, const Arguments& arguments, PassContext& context) {
  const Options options(arguments);
  JOINTER_TRY(const Calls calls, Calls::of(graph, context.analysis()));
  LiveOrder order(graph, context.analysis().memory, calls);
  Sinker sinker(graph, calls, options, order);
  CollectiveReport report{.title = "Waits, sunk", .direction = "later", .moves = {}};
  std::int64_t processed = 0;
  std::size_t done = 0;
  for (std::size_t s = calls.stretches().size(); s-- > 0;) {
    const Stretch stretch = calls.stretches()[s];
    const std::int64_t peak = order.peak(stretch);
    const std::int64_t allowed = allowed_bytes(peak, options.budget, context);
    for (std::size_t i = stretch.last; i-- > stretch.first; ++done) {
      const Call call = static_cast<Call>(i);
      if (!calls.is_wait(call)) continue;
      if (options.sink_limit && processed >= *options.sink_limit) break;
      ++processed;
      JOINTER_CHECK(context.report(static_cast<double>(done) / static_cast<double>(calls.size())));
      report.moves.push_back(sinker.run(call, stretch, allowed));
    }
    report.peak_before = std::max(report.peak_before, peak);
    report.peak_after = std::max(report.peak_after, order.peak(stretch));
  }
  set_call_order(graph, calls, order.order());
  report_moves(graph, calls, report, context);
  if (options.unsafe) flag_overtaken(graph, calls, order.order(), context);
  return {};
}

}  // namespace

Pass sink_waits_iterative_pass() {
  using Type = Parameter::Type;
  return {.info = {.name = "sink_waits_iterative",
                   .summary = "Waits come later, one after the other, as far as memory allows.",
                   .source = "torch/_inductor/comms.py",
                   .stage = PassStage::reordering,
                   .parameters =
                       {{.name = "sink_iterative_use_runtime_estimations",
                         .type = Type::boolean,
                         .otherwise = false,
                         .doc = "Stop where the estimate says that a collective is hidden."},
                        {.name = "sink_iterative_extra_comm_comp_overlap",
                         .type = Type::number,
                         .otherwise = 0.5,
                         .least = 0,
                         .doc = "With estimates: hidden means that compute beside it is longer "
                                "than the collective by this share of it."},
                        {.name = "sink_iterative_peak_memory_budget",
                         .type = Type::number,
                         .otherwise = 0.2,
                         .least = 0,
                         .doc = "By which share of itself the peak may grow."},
                        {.name = "sink_waits_iterative_swap_with_collectives",
                         .type = Type::boolean,
                         .otherwise = false,
                         .doc = "A wait may go behind the next collective's start."},
                        {.name = "sink_waits_iterative_unsafe_collectives_reorder",
                         .type = Type::boolean,
                         .otherwise = false,
                         .doc = "Collectives of one process group may change their order. Ranks "
                                "that decide differently then hang."},
                        {.name = "sink_waits_iterative_debug_limit_to_sink",
                         .type = Type::integer,
                         .otherwise = {},
                         .least = 0,
                         .doc = "How many waits are looked at; none: all."},
                        {.name = "reorder_sink_runtime_estimations_comm_mult",
                         .type = Type::number,
                         .otherwise = 2.0,
                         .least = 0,
                         .doc = "What estimates of collectives are multiplied by."},
                        {.name = "reorder_sink_runtime_estimations_non_comm_mult",
                         .type = Type::number,
                         .otherwise = 1.0,
                         .least = 0,
                         .doc = "What estimates of everything else are multiplied by."}}},
          .run = run};
}

}  // namespace jointer
