#include "views/window/first_answers.h"

#include <algorithm>

#include "core/base/checked.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"
#include "views/theme/theme.h"

namespace jointer::views {
namespace {

QString name_of(const Graph& graph, NodeId node) {
  return to_qstring(graph.name(node));
}

// The collective, or copy to or from the host, with the longest exposed time; null if none is
// exposed.
const CollectiveTiming* most_exposed(const Simulation& simulation) {
  const auto all = simulation.collectives();
  const auto collective = std::ranges::max_element(all, {}, &CollectiveTiming::exposed_ns);
  return collective == all.end() || !collective->is_exposed() ? nullptr : &*collective;
}

QString nothing_exposed(const Simulation& simulation) {
  const auto all = simulation.collectives();
  if (all.empty()) return tr("This graph does not communicate: it has no collectives.");
  if (std::ranges::all_of(all, &CollectiveTiming::is_transfer))
    return tr("This graph has no collectives, and no copy to or from the host is exposed.");
  return tr("No communication is exposed: compute hides all %1 of it.")
      .arg(time_text(saturating_add(simulation.communication_ns(), simulation.transfer_ns())));
}

}  // namespace

FirstAnswer answer_peak(const Snapshot& snapshot) {
  const MemoryTimeline& memory = snapshot.analysis.memory;
  const std::vector<std::size_t> alive = memory.alive_at(memory.peak_index());
  if (alive.empty()) return {.text = tr("This graph allocates no memory.")};
  const BytesByCategory bytes = memory.at(memory.peak_index());
  const auto largest = std::ranges::max_element(bytes);
  const auto category = static_cast<MemoryCategory>(largest - bytes.begin());
  const Lifetime& tensor = memory.lifetimes()[alive.front()];
  const NodeId at = memory.node_at(memory.peak_index());
  QString text = tr("Memory peaks at %1 %2; the largest category, “%4”, accounts for %3 of it.")
                     .arg(bytes_text(memory.peak_bytes()),
                          at ? tr("in %1").arg(name_of(snapshot.graph, at)) : tr("at the start"),
                          bytes_text(*largest), category_label(category).toLower());
  if (tensor.producer)
    text += u' ' + tr("The largest tensor, %1, occupies %2.")
                       .arg(name_of(snapshot.graph, tensor.producer), bytes_text(tensor.bytes));
  text += u' ' + tr("The Alive Now pane lists everything that is allocated at this moment. Click "
                    "another moment on the curve to update the list.");
  return {.text = text, .node = tensor.producer};
}

FirstAnswer answer_communication(const Snapshot& snapshot) {
  const Simulation& simulation = snapshot.analysis.simulation;
  const CollectiveTiming* collective = most_exposed(simulation);
  if (collective == nullptr) return {.text = nothing_exposed(simulation)};
  return {.text = tr("%1 costs most: the step waits %2 for it. In total, %3 of the step's %4 is "
                     "exposed communication. Reason: %5. Press E for the next exposed collective.")
                      .arg(name_of(snapshot.graph, collective->start),
                           time_text(collective->exposed_ns), time_text(simulation.exposed_ns()),
                           time_text(simulation.step_ns()),
                           to_qstring(reason_text(snapshot.graph, *collective))),
          .node = collective->start};
}

FirstAnswer answer_what_if(const Snapshot& snapshot) {
  const Simulation& simulation = snapshot.analysis.simulation;
  const CollectiveTiming* collective = most_exposed(simulation);
  if (collective == nullptr || collective->is_transfer)
    return {.text =
                tr("%1 Try a pass instead: add one in the Pipeline pane, run it, and compare "
                   "the numbers at the top. Ctrl+Z undoes its edit.")
                    .arg(collective == nullptr
                             ? nothing_exposed(simulation)
                             : tr("The longest exposed time is that of %1, a copy to or from the "
                                  "host.")
                                   .arg(name_of(snapshot.graph, collective->start)))};
  return {.text = tr("%1 is picked up. Drag it, or press Left or Right: the numbers at the top "
                     "show the result of each position. Enter drops it, B moves it to the best "
                     "position, Esc cancels. Ctrl+Z undoes the move.")
                      .arg(name_of(snapshot.graph, collective->start)),
          .node = collective->start};
}

}  // namespace jointer::views
