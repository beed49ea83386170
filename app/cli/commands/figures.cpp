#include "app/cli/commands/figures.h"

#include <nlohmann/json.hpp>

#include "core/base/units.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/simulation.h"

namespace jointer::cli {

Figures figures_of(const Graph& graph, const Estimator& estimator, const std::string& optimizer) {
  MemoryOptions memory;
  if (optimizer == "adamw") memory.optimizer = OptimizerState::adamw;
  const MemoryTimeline timeline(graph, memory);
  const Simulation simulation(graph, estimate_all(graph, estimator));
  return {.nodes = graph.order().size(),
          .peak_bytes = timeline.peak_bytes(),
          .step_ns = simulation.step_ns(),
          .communication_ns = simulation.communication_ns(),
          .exposed_ns = simulation.exposed_ns(),
          .hidden = simulation.hidden_count(),
          .collectives = simulation.collective_count()};
}

Json to_json(const Figures& f) {
  return {{"nodes", f.nodes},
          {"peak_bytes", f.peak_bytes},
          {"step_ms", to_ms(f.step_ns)},
          {"communication_ms", to_ms(f.communication_ns)},
          {"exposed_ms", to_ms(f.exposed_ns)},
          {"hidden_count", f.hidden},
          {"collective_count", f.collectives}};
}

Json to_json(const Figures& a, const Figures& b) {
  const Json first = to_json(a), second = to_json(b);
  Json json = Json::object();
  for (const auto& figure : first.items())
    json[figure.key()] = Json::array({figure.value(), second[figure.key()]});
  return json;
}

Table compare_table(const Figures& a, const Figures& b, const std::string& first,
                    const std::string& second) {
  using enum Table::Align;
  Table table({{"", left}, {first, right}, {second, right}, {"difference", right}});
  const auto row = [&](const char* name, std::int64_t x, std::int64_t y, auto format) {
    std::string change = "none";
    if (x != y) {
      change = fmt::format("{}{}", y > x ? "+" : "-", format(y > x ? y - x : x - y));
      if (x > 0)
        change +=
            fmt::format(" ({:+.1f}%)", 100.0 * static_cast<double>(y - x) / static_cast<double>(x));
    }
    table.add({name, format(x), format(y), std::move(change)});
  };
  const auto count = [](std::int64_t n) { return format_count(n); };
  const auto bytes = [](std::int64_t n) { return format_bytes(n); };
  const auto time = [](std::int64_t ns) { return format_ns(ns); };
  row("nodes", static_cast<std::int64_t>(a.nodes), static_cast<std::int64_t>(b.nodes), count);
  row("peak memory", a.peak_bytes, b.peak_bytes, bytes);
  row("step", a.step_ns, b.step_ns, time);
  row("communication", a.communication_ns, b.communication_ns, time);
  row("exposed", a.exposed_ns, b.exposed_ns, time);
  row("collectives", static_cast<std::int64_t>(a.collectives),
      static_cast<std::int64_t>(b.collectives), count);
  row("hidden collectives", static_cast<std::int64_t>(a.hidden),
      static_cast<std::int64_t>(b.hidden), count);
  return table;
}

}  // namespace jointer::cli
