#include "app/cli/commands/unchanged.h"

#include <algorithm>
#include <map>

#include "core/base/counted.h"

namespace jointer::cli {

std::string pass_of(const StepResult& step) {
  return step.step.substr(0, step.step.find('{'));
}

bool is_unchanged(const StepResult& step) {
  return step.moved + step.added + step.removed + step.changed + step.retagged == 0 &&
         step.edit.changes.empty() && step.edit_refusal.empty();
}

std::string why_unchanged(const StepResult& step) {
  const std::string* of_graph = nullptr;  // the last one, since a pass sums up at the end
  const std::string* note = nullptr;
  bool is_done_already = false;
  std::map<std::string_view, std::size_t> of_nodes;
  for (const Decision& each : step.decisions) {
    if (each.action == "note" && each.node.empty()) note = &each.reason;
    if (each.action == "note" || each.action == "warning") continue;
    if (each.node.empty())
      of_graph = &each.reason;
    else if (each.action == "kept")
      ++of_nodes[each.reason];
    else
      is_done_already = true;
  }
  if (of_graph != nullptr) return *of_graph;
  if (is_done_already) return "The graph is already in the form that the pass produces.";
  if (of_nodes.empty()) return note != nullptr ? *note : "The pass found nothing to do.";
  std::size_t all = 0;
  for (const auto& each : of_nodes) all += each.second;
  const auto largest =
      std::ranges::max_element(of_nodes, {}, [](const auto& each) { return each.second; });
  return fmt::format("{} ({} of {})", largest->first, largest->second,
                     counted(all, "node that it keeps", "nodes that it keeps"));
}

}  // namespace jointer::cli
