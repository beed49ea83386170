#include "passes/reordering/collective_moves.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/checked.h"
#include "core/base/units.h"

namespace jointer {
namespace {

using Unit = PassTable::Unit;

std::string sentence(const CollectiveMove& move, std::string_view direction) {
  const std::string shown = format_ns(std::max<std::int64_t>(move.after.exposed(), 0));
  if (move.moves == 0) return fmt::format("It stays in place: {}. Exposed: {}.", move.limit, shown);
  const std::string group = move.grouped == 0
                                ? std::string()
                                : fmt::format(", together with {}", calls_text(move.grouped));
  return fmt::format("It moved {} {}{}; limit: {}. Exposed: {}, before: {}.",
                     calls_text(move.moves), direction, group, move.limit, shown,
                     format_ns(std::max<std::int64_t>(move.before.exposed(), 0)));
}

}  // namespace

void report_moves(const Graph& graph, const Calls& calls, const CollectiveReport& report,
                  PassContext& context) {
  PassTable table{.title = report.title,
                  .columns = {{"process group", Unit::text},
                              {"initial exposed", Unit::nanoseconds},
                              {"final exposed", Unit::nanoseconds},
                              {"improvement", Unit::nanoseconds},
                              {"moves", Unit::count},
                              {"limiting factor", Unit::text},
                              {"memory before", Unit::bytes},
                              {"memory after", Unit::bytes},
                              {"grouped", Unit::count},
                              {"communication", Unit::nanoseconds},
                              {"overlapping compute before", Unit::nanoseconds},
                              {"overlapping compute after", Unit::nanoseconds}}};
  std::int64_t improvement = 0, moved = 0, grouped = 0;
  for (const CollectiveMove& move : report.moves) {
    const NodeId node = calls.node(move.call);
    context.decide(graph, node, move.moves > 0 ? "moved" : "kept",
                   sentence(move, report.direction));
    const Call start = calls.is_wait(move.call) ? calls.partner(move.call) : move.call;
    const std::int64_t better = move.before.exposed() - move.after.exposed();
    improvement = saturating_add(improvement, better);
    moved += move.moves;
    grouped += move.grouped;
    table.rows.push_back(
        {context.decisions().back().node,
         {start == kNoCall ? std::string() : std::string(calls.stream_name(graph, start)),
          move.before.exposed(), move.after.exposed(), better, move.moves, move.limit,
          move.bytes_before, move.bytes_after, move.grouped, move.before.communication,
          move.before.compute, move.after.compute}});
  }
  table.rows.push_back({"",
                        {std::string("all"),
                         {},
                         {},
                         improvement,
                         moved,
                         std::string(),
                         report.peak_before,
                         report.peak_after,
                         grouped,
                         {},
                         {},
                         {}}});
  context.add_table(std::move(table));
}

std::int64_t allowed_bytes(std::int64_t peak, double budget, const PassContext& context) {
  constexpr std::int64_t kMax = std::int64_t{1} << 62;
  const std::int64_t more = saturating_whole(static_cast<double>(peak) * budget);
  const std::int64_t allowed = std::max(peak, std::min(saturating_add(peak, more), kMax));
  if (!context.peak_limit()) return allowed;
  return std::min(allowed, std::max(*context.peak_limit(), peak));
}

}  // namespace jointer
