#include "app/cli/commands/figures.h"

#include <nlohmann/json.hpp>

#include "core/base/units.h"
#include "core/schedule/simulation.h"

namespace jointer::cli {

MemoryOptions memory_options(const std::string& optimizer) {
  MemoryOptions memory;
  if (optimizer == "adamw") memory.optimizer = OptimizerState::adamw;
  return memory;
}

GraphFigures figures_of(const Graph& graph, const Estimator& estimator,
                        const std::string& optimizer) {
  return figures_of(graph, MemoryTimeline(graph, memory_options(optimizer)),
                    Simulation(graph, estimate_all(graph, estimator)));
}

GraphFigures figures_of(const Graph& graph, const MemoryTimeline& timeline,
                        const Simulation& simulation) {
  return {.nodes = graph.order().size(),
          .peak_bytes = timeline.peak_bytes(),
          .step_ns = simulation.step_ns(),
          .communication_ns = simulation.communication_ns(),
          .exposed_ns = simulation.exposed_ns(),
          .hidden = simulation.hidden_count(),
          .collectives = simulation.collective_count()};
}

Json to_json(const GraphFigures& f) {
  return {{"nodes", f.nodes},
          {"peak_bytes", f.peak_bytes},
          {"step_ms", to_ms(f.step_ns)},
          {"communication_ms", to_ms(f.communication_ns)},
          {"exposed_ms", to_ms(f.exposed_ns)},
          {"hidden_count", f.hidden},
          {"collective_count", f.collectives}};
}

Json to_json(const GraphFigures& a, const GraphFigures& b) {
  const Json first = to_json(a), second = to_json(b);
  Json json = Json::object();
  for (const auto& figure : first.items())
    json[figure.key()] = Json::array({figure.value(), second[figure.key()]});
  return json;
}

std::string signed_text(std::int64_t change, std::string (*format)(std::int64_t)) {
  return (change < 0 ? "" : "+") + format(change);
}

ComparedFigures::ComparedFigures(const std::string& first, const std::string& second)
    : table_({{"", Table::Align::left},
              {first, Table::Align::right},
              {second, Table::Align::right},
              {"difference", Table::Align::right}}) {}

void ComparedFigures::add(const char* name, std::int64_t before, std::int64_t after,
                          std::string (*format)(std::int64_t)) {
  std::string change = "none";
  if (before != after) {
    change = signed_text(after - before, format);
    if (before > 0)
      change += fmt::format(
          " ({:+.1f}%)", 100.0 * static_cast<double>(after - before) / static_cast<double>(before));
  }
  table_.add({name, format(before), format(after), std::move(change)});
}

Table compare_table(const GraphFigures& a, const GraphFigures& b, const std::string& first,
                    const std::string& second) {
  ComparedFigures figures(first, second);
  figures.add("nodes", static_cast<std::int64_t>(a.nodes), static_cast<std::int64_t>(b.nodes),
              format_count);
  figures.add("peak memory", a.peak_bytes, b.peak_bytes, format_bytes);
  figures.add("step", a.step_ns, b.step_ns, format_ns);
  figures.add("communication", a.communication_ns, b.communication_ns, format_ns);
  figures.add("exposed", a.exposed_ns, b.exposed_ns, format_ns);
  figures.add("collectives", static_cast<std::int64_t>(a.collectives),
              static_cast<std::int64_t>(b.collectives), format_count);
  figures.add("hidden collectives", static_cast<std::int64_t>(a.hidden),
              static_cast<std::int64_t>(b.hidden), format_count);
  return figures.table();
}

}  // namespace jointer::cli
