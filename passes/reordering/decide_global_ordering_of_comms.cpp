// decide_global_ordering_of_comms: reports the order of collectives in the graph, which must be the
// same on every rank.
//
// For each collective, reports the previous collective and whether there is a dependency between
// the two.
// Cost: linear in the calls and their dependencies.
//
// Source: torch 2.11, torch/_inductor/comms.py. Deviation: upstream adds false dependencies that
// exist until the scheduler is done. A graph cannot represent these, so nothing changes here;
// instead, the passes that reorder calls (sink_waits, raise_comms, reorder_compute_for_overlap,
// reorder_for_peak_memory) preserve this order.

#include <fmt/core.h>

#include <algorithm>

#include "core/base/units.h"
#include "passes/reordering/calls.h"
#include "passes/reordering/reordering.h"
#include "passes/support/kept.h"

namespace jointer {
namespace {

Result<void> run_decide_global_ordering_of_comms(Graph& graph, const Arguments&,
                                                 PassContext& context) {
  JOINTER_TRY(const Calls calls, Calls::of(graph, context.analysis()));
  JOINTER_CHECK(context.report(0));
  PassTable table{.title = "Order of collectives",
                  .columns = {{"number", PassTable::Unit::count},
                              {"process group", PassTable::Unit::text},
                              {"follows", PassTable::Unit::text},
                              {"depends on it", PassTable::Unit::text}}};
  std::int64_t number = 0;
  Call previous = kNoCall;
  for (const Stretch stretch : calls.stretches()) {
    for (std::size_t i = stretch.first; i < stretch.last; ++i) {
      const Call call = static_cast<Call>(i);
      if (!calls.is_start(call) || calls.is_transfer(call)) continue;
      ++number;
      const auto before = calls.before(call);
      const bool depends = std::ranges::find(before, previous) != before.end();
      const std::string behind(previous == kNoCall ? std::string_view()
                                                   : graph.name(calls.node(previous)));
      context.decide(
          graph, calls.node(call), "kept",
          behind.empty()
              ? fmt::format("Number {}: it follows no other collective.", format_count(number))
              : fmt::format("Number {}: it follows {}.", format_count(number), behind));
      table.rows.push_back({context.decisions().back().node,
                            {number, std::string(calls.stream_name(graph, call)), behind,
                             std::string(previous == kNoCall || previous < stretch.first ? ""
                                         : depends                                       ? "yes"
                                                                                         : "no")}});
      previous = call;
    }
  }
  context.add_table(std::move(table));
  return {};
}

}  // namespace

Pass decide_global_ordering_of_comms_pass() {
  return {
      .info = {.name = "decide_global_ordering_of_comms",
               .summary = "Reports the order of collectives, which must be the same on every rank.",
               .source = "torch/_inductor/comms.py",
               .stage = PassStage::reordering,
               .is_idempotent = true},
      .run =
          with_kept_decision("The graph has no collectives.", run_decide_global_ordering_of_comms)};
}

}  // namespace jointer
