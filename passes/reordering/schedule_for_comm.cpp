// sink_waits, raise_comms, reorder_compute_for_overlap: list scheduling that hides collectives.
//
// Among calls whose dependencies have run, the one with the lowest score runs next. The score
// consists of
//   1. if collectives are raised, the index of the first collective that depends on the call (its
//      own index if the call is a collective); calls on which no collective depends come last;
//   2. if waits are sunk, 1 for a wait and 0 for other calls;
//   3. the position in the original order.
// raise_comms uses 1 and 3, sink_waits 2 and 3. reorder_compute_for_overlap uses all three; in
// addition, whenever it starts a collective, it then runs ready calls that neither communicate nor
// wait, lowest score first, until they take as long as the collective.
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
//   - For each call that it runs during a collective, upstream searches all ready calls; here two
//     heaps give the same result.

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

#include "core/base/units.h"
#include "passes/reordering/list_schedule.h"
#include "passes/reordering/reordering.h"
#include "passes/support/kept.h"

namespace jointer {
namespace {

struct Aims {
  bool raise = false, sink = false, overlap = false;
};

class Scheduler {
 public:
  Scheduler(const Graph& graph, const Calls& calls, Aims aims, PassContext& context)
      : graph_(graph),
        calls_(calls),
        aims_(aims),
        context_(context),
        rows_(calls),
        waiting_for_(calls.size()),
        blocks_(calls.size(), kNothing) {
    order_.reserve(calls.size());
  }

  Result<std::vector<Call>> run() {
    for (const Stretch stretch : calls_.stretches()) {
      number_collectives(stretch);
      for (std::size_t i = stretch.first; i < stretch.last; ++i) {
        const Call call = static_cast<Call>(i);
        waiting_for_[call] = rows_.count_before(call);
        if (waiting_for_[call] == 0) make_ready(call);
      }
      JOINTER_CHECK(schedule());
    }
    return std::move(order_);
  }

 private:
  using Score = std::tuple<std::uint32_t, bool, Call>;
  using Heap = std::priority_queue<Score, std::vector<Score>, std::greater<>>;
  static constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();

  // Readers run after their inputs, so a single backward sweep finds the first collective that
  // depends on each call.
  void number_collectives(Stretch stretch) {
    if (!aims_.raise) return;
    std::uint32_t number = 0;
    for (std::size_t i = stretch.first; i < stretch.last; ++i)
      if (calls_.is_start(static_cast<Call>(i))) blocks_[i] = number++;
    for (std::size_t i = stretch.last; i-- > stretch.first;)
      for (const Call after : calls_.after(static_cast<Call>(i)))
        blocks_[i] = std::min(blocks_[i], blocks_[after]);
  }

  [[nodiscard]] bool communicates(Call call) const {
    return calls_.is_start(call) || calls_.is_wait(call);
  }
  void make_ready(Call call) {
    (communicates(call) ? communication_ : compute_)
        .emplace(blocks_[call], aims_.sink && calls_.is_wait(call), call);
  }
  static Call take(Heap& heap) {
    const Call call = std::get<2>(heap.top());
    heap.pop();
    return call;
  }

  void place(Call call) {
    order_.push_back(call);
    rows_.for_each_after(call, [&](Call after) {
      if (--waiting_for_[after] == 0) make_ready(after);
    });
  }

  Result<void> schedule() {
    while (!communication_.empty() || !compute_.empty()) {
      const bool communicates_next =
          compute_.empty() || (!communication_.empty() && communication_.top() < compute_.top());
      const Call call = take(communicates_next ? communication_ : compute_);
      if (order_.size() % 1024 == 0)
        JOINTER_CHECK(context_.report(static_cast<double>(order_.size()) /
                                      static_cast<double>(calls_.size())));
      place(call);
      if (aims_.overlap && calls_.is_start(call)) fill(call);
    }
    return {};
  }

  // Runs ready compute during a collective until it is hidden.
  void fill(Call start) {
    std::int64_t left = calls_.ns(start);
    while (left > 0 && !compute_.empty()) {
      const Call beside = take(compute_);
      place(beside);
      left -= calls_.ns(beside);
      if (calls_.ns(beside) > 0)
        context_.decide(graph_, calls_.node(beside), "placed",
                        fmt::format("It runs during {}, of which {} are still exposed.",
                                    graph_.name(calls_.node(start)),
                                    format_ns(std::max<std::int64_t>(left, 0))));
    }
  }

  const Graph& graph_;
  const Calls& calls_;
  Aims aims_;
  PassContext& context_;
  OrderedCalls rows_;
  std::vector<std::uint32_t> waiting_for_;  // by call: number of dependencies not yet run
  std::vector<std::uint32_t> blocks_;       // by call: the first collective that depends on it
  Heap communication_, compute_;            // ready calls
  std::vector<Call> order_;
};

Pass make_pass(std::string name, std::string summary, Aims aims) {
  const auto run = [aims](Graph& graph, const Arguments&, PassContext& context) -> Result<void> {
    JOINTER_TRY(const Calls calls, Calls::of(graph, context.analysis()));
    JOINTER_TRY(const std::vector<Call> order, Scheduler(graph, calls, aims, context).run());
    explain_places(graph, calls, order, {.starts = aims.raise, .waits = aims.sink}, context);
    keep_within_limit(graph, calls, order, context);
    return {};
  };
  return {.info = {.name = std::move(name),
                   .summary = std::move(summary),
                   .source = "torch/_inductor/comms.py",
                   .stage = PassStage::reordering,
                   .is_idempotent = true},
          .run = or_kept("The graph has no collectives.", run)};
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
