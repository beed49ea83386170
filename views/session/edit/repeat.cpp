#include "views/session/edit/repeat.h"

#include <algorithm>
#include <set>

#include "core/edit/repeat_in_layers.h"

namespace jointer::views {
namespace {

bool names_any(const Edit& edit, const std::set<std::string>& names) {
  const auto is_named = [&](const std::string& name) { return names.contains(name); };
  return std::ranges::any_of(edit.changes, [&](const Change& change) {
    if (const auto* move = std::get_if<MoveNodes>(&change))
      return std::ranges::any_of(move->nodes, is_named);
    if (const auto* insert = std::get_if<InsertNode>(&change))
      return is_named(insert->in_half(insert->node->name));
    if (const auto* replace = std::get_if<ReplaceCall>(&change)) return is_named(replace->node);
    const auto* set = std::get_if<SetPolicy>(&change);
    return set != nullptr && (is_named(set->select) || std::ranges::any_of(set->nodes, is_named));
  });
}

}  // namespace

std::optional<PastEdit> last_edit_of(const EditHistory& history, const Graph& graph,
                                     std::span<const NodeId> nodes) {
  if (history.empty()) return std::nullopt;
  std::set<std::string> names;
  for (const NodeId node : nodes) names.insert(edit_name(graph, node));
  std::size_t at = history.size() - 1;
  for (std::size_t i = history.size(); i-- > 0;) {
    if (!names_any(history[i]->edit, names)) continue;
    at = i;
    break;
  }
  PastEdit past{.edit = history[at]->edit};
  for (std::size_t i = history.size(); i-- > at;) past.inverses.push_back(history[i]->inverse);
  return past;
}

Result<Edit> repeated(const PastEdit& past, const Graph& now) {
  Graph before = now;
  Editor editor(before);
  for (const Edit& inverse : past.inverses)
    JOINTER_CHECK(editor.apply(inverse).map([](const Edit& /*unused*/) {}));
  const LayerCounterparts counterparts(before, ModuleTree(before));
  return repeat_in_layers(before, counterparts, past.edit, now, Dependencies(now))
      .map([](RepeatedEdit&& found) { return std::move(found.edit); });
}

}  // namespace jointer::views
