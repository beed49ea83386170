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

#include "core/base/units.h"
#include "passes/reordering/collective_moves.h"
#include "passes/reordering/reordering.h"

namespace jointer {
namespace {

struct Options {
  bool use_runtimes = false, unsafe = false, group_collectives = false;
  double extra_overlap = 0, budget = 0;
  std::optional<std::int64_t> prefetch_limit, reorder_limit;
  OverlapEstimate::Multipliers multipliers;

  explicit Options(const Arguments& given)
      : use_runtimes(given.boolean("reorder_iterative_use_runtime_estimations")),
        unsafe(given.boolean("reorder_iterative_unsafe_collectives_reorder")),
        group_collectives(given.boolean("reorder_iterative_group_with_collectives")),
        extra_overlap(given.number("reorder_iterative_extra_comm_comp_overlap")),
        budget(given.number("reorder_iterative_peak_memory_budget")),
        multipliers{given.number("reorder_sink_runtime_estimations_comm_mult"),
                    given.number("reorder_sink_runtime_estimations_non_comm_mult")} {
    if (given.is_given("reorder_prefetch_limit"))
      prefetch_limit = given.integer("reorder_prefetch_limit");
    if (given.is_given("reorder_iterative_debug_limit_to_reorder"))
      reorder_limit = given.integer("reorder_iterative_debug_limit_to_reorder");
  }
};

class Raiser {
 public:
  Raiser(const Graph& graph, const Calls& calls, const Options& options, LiveOrder& order)
      : graph_(graph),
        calls_(calls),
        options_(options),
        order_(order),
        estimate_(calls, options.multipliers),
        needed_(calls.size(), kNoCall) {}

  CollectiveMove run(Call start, Stretch stretch, std::int64_t allowed) {
    stretch_ = stretch;
    allowed_ = allowed;
    first_ = order_.place(start);
    count_ = 1;
    group_waits_.clear();
    group_ns_ = 0;
    need(start, start);
    move_ = {.call = start, .limit = {}, .bytes_before = order_.bytes(start)};
    move_.before = move_.after = estimate_.of(order_, start, stretch);
    while (step()) {
    }
    move_.bytes_after = order_.bytes(start);
    return move_;
  }

 private:
  [[nodiscard]] std::string_view name(Call call) const { return graph_.name(calls_.node(call)); }
  bool stop(std::string limit) {
    move_.limit = std::move(limit);
    return false;
  }
  void need(Call member, Call start) {
    for (const Call before : calls_.before(member)) needed_[before] = start;
  }

  // Whether it goes on.
  bool step() {
    if (first_ == stretch_.first) return stop("nothing that it could pass is before it");
    if (options_.prefetch_limit && move_.moves >= *options_.prefetch_limit)
      return stop(fmt::format("the limit of {}", calls_text(*options_.prefetch_limit)));
    if (options_.use_runtimes && is_hidden())
      return stop(
          fmt::format("it is hidden: {} of compute is beside it", format_ns(move_.after.compute)));
    const Call candidate = order_.at(first_ - 1);
    if (needed_[candidate] == move_.call) return join(candidate);
    if (!options_.unsafe && is_ordered(candidate))
      return stop(fmt::format("{} is a collective on the same stream", name(candidate)));
    if (options_.use_runtimes && !pays_off(candidate)) return false;
    return pass(candidate);
  }

  [[nodiscard]] bool is_hidden() const {
    return static_cast<double>(move_.after.exposed()) <
           -options_.extra_overlap * static_cast<double>(move_.after.communication);
  }

  bool join(Call candidate) {
    if (!options_.group_collectives && calls_.is_asynchronous(candidate))
      return stop(fmt::format("it needs {}, a collective", name(candidate)));
    if (!options_.use_runtimes && calls_.is_gemm_like(candidate))
      return stop(fmt::format("it needs {}, which runs a while", name(candidate)));
    --first_;
    ++count_;
    ++move_.grouped;
    need(candidate, move_.call);
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

  // A start that the group has one of the same stream for.
  [[nodiscard]] bool is_ordered(Call candidate) const {
    if (!calls_.is_start(candidate)) return false;
    for (std::size_t i = first_; i < first_ + count_; ++i) {
      const Call member = order_.at(i);
      if (calls_.is_start(member) && calls_.stream(member) == calls_.stream(candidate)) return true;
    }
    return false;
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
    const std::int64_t most = order_.raise(first_, count_);
    --first_;
    if (most > allowed_) {
      order_.sink(first_, count_);
      return stop(fmt::format("memory: {} live instead of at most {} before {}", format_bytes(most),
                              format_bytes(allowed_), name(candidate)));
    }
    ++move_.moves;
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

  const Graph& graph_;
  const Calls& calls_;
  const Options& options_;
  LiveOrder& order_;
  OverlapEstimate estimate_;
  std::vector<Call> needed_;  // by call: the last collective whose group was found to need it
  Stretch stretch_;
  std::int64_t allowed_ = 0;
  std::size_t first_ = 0, count_ = 0;  // the group's places
  std::vector<Overlap> group_waits_;
  std::int64_t group_ns_ = 0;
  CollectiveMove move_;
};

Result<void> run(Graph& graph, const Arguments& arguments, PassContext& context) {
  const Options options(arguments);
  JOINTER_TRY(const Calls calls, Calls::of(graph, context.analysis()));
  LiveOrder order(graph, context.analysis().memory, calls);
  Raiser raiser(graph, calls, options, order);
  CollectiveReport report{.title = "Collectives, raised", .direction = "earlier", .moves = {}};
  std::int64_t processed = 0;
  for (const Stretch stretch : calls.stretches()) {
    const std::int64_t peak = order.peak(stretch);
    const std::int64_t allowed = allowed_bytes(peak, options.budget, context);
    for (std::size_t i = stretch.first; i < stretch.last; ++i) {
      const Call call = static_cast<Call>(i);
      if (!calls.is_asynchronous(call)) continue;
      if (options.reorder_limit && processed >= *options.reorder_limit) break;
      ++processed;
      JOINTER_CHECK(context.report(static_cast<double>(i) / static_cast<double>(calls.size())));
      report.moves.push_back(raiser.run(call, stretch, allowed));
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

Pass reorder_communication_preserving_peak_memory_pass() {
  using Type = Parameter::Type;
  return {.info = {.name = "reorder_communication_preserving_peak_memory",
                   .summary = "Starts collectives earlier, one after the other, as far as memory "
                              "allows.",
                   .source = "torch/_inductor/comms.py",
                   .stage = PassStage::reordering,
                   .parameters =
                       {{.name = "reorder_iterative_use_runtime_estimations",
                         .type = Type::boolean,
                         .otherwise = false,
                         .doc = "Stop where the estimate says that a collective is hidden."},
                        {.name = "reorder_iterative_extra_comm_comp_overlap",
                         .type = Type::number,
                         .otherwise = 0.5,
                         .least = 0,
                         .doc = "With estimates: hidden means that compute beside it is longer "
                                "than the collective by this share of it."},
                        {.name = "reorder_iterative_peak_memory_budget",
                         .type = Type::number,
                         .otherwise = 0.2,
                         .least = 0,
                         .doc = "By which share of itself the peak may grow."},
                        {.name = "reorder_iterative_unsafe_collectives_reorder",
                         .type = Type::boolean,
                         .otherwise = false,
                         .doc = "Collectives of one process group may change their order. Ranks "
                                "that decide differently then hang."},
                        {.name = "reorder_iterative_group_with_collectives",
                         .type = Type::boolean,
                         .otherwise = false,
                         .doc = "A collective that another one needs goes with it."},
                        {.name = "reorder_prefetch_limit",
                         .type = Type::integer,
                         .otherwise = {},
                         .least = 0,
                         .doc = "Over how many calls a collective may go; none: any number."},
                        {.name = "reorder_iterative_debug_limit_to_reorder",
                         .type = Type::integer,
                         .otherwise = {},
                         .least = 0,
                         .doc = "How many collectives are looked at; none: all."},
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
