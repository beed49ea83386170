#include <algorithm>

#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/cost/collective_model.h"
#include "core/report/export.h"

namespace jointer {
namespace {

constexpr std::size_t kRows = 15;

// Formats names as code, since they may contain Markdown syntax.
std::string code(std::string_view text) {
  return fmt::format("`{}`", text);
}

void memory_section(const Graph& graph, const Analysis& a, std::string& out) {
  const MemoryTimeline& memory = a.memory;
  const BytesByCategory bytes = memory.at(memory.peak_index());
  out += "\n## Memory at the peak\n\n| category | bytes | share |\n|---|---:|---:|\n";
  for (std::size_t c = 0; c < kMemoryCategories; ++c)
    if (bytes[c] > 0)
      out += fmt::format(
          "| {} | {} | {} |\n", to_string(static_cast<MemoryCategory>(c)), format_bytes(bytes[c]),
          format_percent(static_cast<double>(bytes[c]) / static_cast<double>(memory.peak_bytes())));
  out += "\n| largest live tensors | bytes | category | module |\n|---|---:|---|---|\n";
  const auto alive = memory.alive_at(memory.peak_index());
  for (std::size_t i = 0; i < std::min(kRows, alive.size()); ++i) {
    const Lifetime& l = memory.lifetimes()[alive[i]];
    out +=
        fmt::format("| {} | {} | {} | {} |\n", code(graph.name(l.producer)), format_bytes(l.bytes),
                    to_string(l.category), code(a.modules.module(a.modules.of(l.producer)).path));
  }
}

void exposed_section(const Graph& graph, const Analysis& a, std::string& out) {
  std::vector<const CollectiveTiming*> exposed;
  for (const CollectiveTiming& c : a.simulation.collectives())
    if (c.is_exposed()) exposed.push_back(&c);
  if (exposed.empty()) return;
  std::ranges::stable_sort(exposed, std::ranges::greater{}, &CollectiveTiming::exposed_ns);
  out +=
      "\n## Exposed communication\n\n| collective | message | time | exposed | reason |\n"
      "|---|---:|---:|---:|---|\n";
  for (std::size_t i = 0; i < std::min(kRows, exposed.size()); ++i) {
    const CollectiveTiming& c = *exposed[i];
    out += fmt::format("| {} | {} | {} | {} | {} |\n", code(graph.name(c.start)),
                       format_bytes(collective_bytes(graph, graph.node(c.start))),
                       format_ns(c.end_ns - c.start_ns), format_ns(c.exposed_ns),
                       reason_text(graph, c));
  }
  if (exposed.size() > kRows) out += fmt::format("\nand {} more\n", exposed.size() - kRows);
}

}  // namespace

std::string export_markdown(const Graph& graph, const Analysis& a) {
  const Simulation& s = a.simulation;
  std::string out = fmt::format("# {}\n\n| | |\n|---|---|\n", graph.title());
  const auto row = [&](std::string_view name, const std::string& value) {
    out += fmt::format("| {} | {} |\n", name, value);
  };
  row("nodes", format_count(static_cast<std::int64_t>(graph.order().size())));
  row("estimate", a.estimator);
  row("peak memory", format_bytes(a.memory.peak_bytes()));
  row("reserved (allocator model)", format_bytes(a.reserved.peak_bytes));
  row("step", format_ns(s.step_ns()));
  row("compute", format_ns(s.compute_ns()));
  row("communication", format_ns(s.communication_ns()));
  row("exposed", fmt::format("{} ({} of {} hidden)", format_ns(s.exposed_ns()), s.hidden_count(),
                             counted(s.collective_count(), "collective")));
  row("FLOPs", format_flops(static_cast<double>(a.total_flops.total)));
  if (a.throughput.tokens_per_second)
    row("tokens/s per device", format_significant(*a.throughput.tokens_per_second));
  if (a.throughput.mfu) row("MFU", format_percent(*a.throughput.mfu));
  memory_section(graph, a, out);
  exposed_section(graph, a, out);
  if (!graph.facts().empty()) out += "\n## Derived and assumed\n\n";
  for (const Fact& fact : graph.facts()) out += fmt::format("- {}\n", fact.text);
  return out;
}

}  // namespace jointer
