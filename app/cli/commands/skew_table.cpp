#include "app/cli/commands/skew_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/commands/table.h"
#include "core/base/units.h"
#include "core/bench/skew.h"

namespace jointer::cli {
namespace {

std::string ranks_of(const CollectiveSkew& skew) {
  std::string text;
  for (const RankSpan& span : skew.spans)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", span.rank);
  return text;
}

}  // namespace

std::string skew_table(const BenchmarkResult& result, const Graph& graph) {
  using enum Table::Align;
  constexpr std::size_t kMaxRows = 10;
  const SkewReport report = collective_skew(graph, result.ranks);
  const auto is_real = [&](const CollectiveSkew& skew) {
    return skew.skew_ns > report.clock_error_ns;
  };
  if (report.collectives.empty() || !is_real(report.collectives.front())) return {};
  Table table({{"collective", left},
               {"operator", left},
               {"ranks", left},
               {"last to start", left},
               {"wait", right},
               {"communication", right}});
  for (std::size_t i = 0; i < std::min(kMaxRows, report.collectives.size()); ++i) {
    const CollectiveSkew& skew = report.collectives[i];
    if (!is_real(skew)) break;  // nor are the following ones, which are shorter
    table.add({std::string(graph.name(skew.node)), std::string(graph.target(graph.node(skew.node))),
               ranks_of(skew), fmt::format("rank {}", skew.last_rank), format_ns(skew.skew_ns),
               format_ns(skew.transfer_ns)});
  }
  return fmt::format(
      "\nlongest waits for other ranks, with clocks aligned at the ends of collectives to within "
      "{}\n{}",
      format_ns(report.clock_error_ns), table.text());
}

Json skew_json(const BenchmarkResult& result, const Graph& graph) {
  const SkewReport report = collective_skew(graph, result.ranks);
  if (report.collectives.empty()) return {};
  Json collectives = Json::array();
  for (const CollectiveSkew& skew : report.collectives) {
    Json spans = Json::array();
    for (const RankSpan& span : skew.spans)
      spans.push_back({{"rank", span.rank},
                       {"start_ms", to_ms(span.start_ns)},
                       {"end_ms", to_ms(span.end_ns)}});
    collectives.push_back({{"node", std::string(graph.name(skew.node))},
                           {"last_rank", skew.last_rank},
                           {"skew_ms", to_ms(skew.skew_ns)},
                           {"transfer_ms", to_ms(skew.transfer_ns)},
                           {"spans", std::move(spans)}});
  }
  return {{"clock_error_ms", to_ms(report.clock_error_ns)},
          {"collectives", std::move(collectives)}};
}

}  // namespace jointer::cli
