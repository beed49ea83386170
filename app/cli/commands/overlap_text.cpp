// jointer overlap --text: the calls in program order, each with the communication in flight.
//
// There is one line per call that takes time, per start of a collective and per wait. Each line
// contains the call's position in program order, its start time and duration, one lane per
// communication stream, and the call's name and operator. In a lane, `o` is the start of a
// collective, `x` the wait for it, `|` one collective in flight, a digit the number in flight if
// there are several, and `+` more than nine. The last line is the step time.
//
// Source: torch 2.11, torch/_inductor/comms.py, visualize_overlap, which draws `| ` before compute
// that overlaps a collective. Deviations: one lane per stream (upstream assumes one collective at a
// time), and the simulation's times (upstream sums estimates).

#include "app/cli/commands/overlap_text.h"

#include <fmt/core.h>

#include <cstddef>
#include <vector>

#include "core/base/counted.h"
#include "core/base/units.h"

namespace jointer::cli {
namespace {

char lane_of(int under_way) {
  if (under_way <= 0) return ' ';
  if (under_way == 1) return '|';
  return under_way > 9 ? '+' : static_cast<char>('0' + under_way);
}

}  // namespace

std::string schedule_text(const Graph& graph, const Simulation& simulation) {
  const auto streams = simulation.streams();
  std::string text = fmt::format("{}\n", graph.title());
  for (std::size_t i = 1; i < streams.size(); ++i)
    text += fmt::format("lane {}: {}\n", i, streams[i].name);
  text += fmt::format("{:>7}  {:>10}  {:>10}\n", "index", "start", "time");
  std::vector<int> under_way(streams.size(), 0);
  std::int64_t left_out = 0;
  const auto order = graph.order();
  for (std::size_t index = 0; index < order.size(); ++index) {
    const NodeId id = order[index];
    const Node& node = graph.node(id);
    if (node.kind != NodeKind::call) continue;
    const NodeTiming& timing = simulation.timing(id);
    const std::int32_t number = simulation.collective_of(id);
    if (number < 0 && timing.end == timing.start) {
      ++left_out;
      continue;
    }
    std::size_t lane = 0;  // of the collective that starts or ends here
    bool is_start = false;
    if (number >= 0) {
      const CollectiveTiming& c = simulation.collectives()[static_cast<std::size_t>(number)];
      lane = static_cast<std::size_t>(simulation.timing(c.start).stream);
      is_start = c.start == id;
      if (is_start && c.wait) ++under_way[lane];
      if (c.wait == id) --under_way[lane];
    }
    std::string lanes;
    for (std::size_t i = 1; i < streams.size(); ++i)
      lanes += i == lane ? (is_start ? 'o' : 'x') : lane_of(under_way[i]);
    text += fmt::format("{:>6}:  {:>10}  {:>10}  {}  {} {}\n", index, format_ns(timing.start),
                        format_ns(timing.end - timing.start), lanes, graph.name(id),
                        graph.target(node));
  }
  if (left_out > 0)
    text += counted(static_cast<std::size_t>(left_out), "call that takes no time is not listed",
                    "calls that take no time are not listed") +
            '\n';
  return text + fmt::format("step: {}\n", format_ns(simulation.step_ns()));
}

}  // namespace jointer::cli
