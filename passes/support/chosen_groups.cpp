#include "passes/support/chosen_groups.h"

#include <algorithm>

#include "passes/support/group_twin.h"
#include "passes/support/unknown_name.h"

namespace jointer {
namespace {

struct Called {
  StringId name;
  std::string_view label;
};

// The process groups with their labels. In a graph that was read from text, groups may be named
// only in the arguments of collectives.
std::vector<Called> groups_of(const Graph& graph) {
  std::vector<Called> groups;
  const auto add = [&](StringId name, std::string_view label) {
    if (std::ranges::none_of(
            groups, [&](const Called& each) { return each.name == name && each.label == label; }))
      groups.push_back({name, label});
  };
  for (std::size_t i = 0; i < graph.group_count(); ++i)
    add(graph.group(GroupId(i)).name, graph.group_label(GroupId(i)));
  for (const NodeId id : graph.order())
    if (const Node& n = graph.node(id); graph.is_collective_start(n) && !n.group)
      if (const Argument* name = group_argument(graph, n))
        add(name->text(), graph.text(name->text()));
  return groups;
}

}  // namespace

Result<std::vector<StringId>> groups_called(const Graph& graph, std::string_view parameter,
                                            std::string_view wanted) {
  std::vector<StringId> found;
  std::vector<std::string_view> known;
  for (const auto& [name, label] : groups_of(graph)) {
    if (graph.text(name) == wanted || label == wanted) found.push_back(name);
    if (std::ranges::find(known, label) == known.end()) known.push_back(label);
  }
  if (found.empty()) return unknown_name(parameter, "process group", wanted, known);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Result<ChosenGroups> ChosenGroups::read(const Graph& graph, const Arguments& arguments) {
  ChosenGroups chosen;
  for (const std::string& wanted : arguments.texts("groups")) {
    JOINTER_TRY(const std::vector<StringId> found, groups_called(graph, "groups", wanted));
    chosen.names_.insert(chosen.names_.end(), found.begin(), found.end());
  }
  return chosen;
}

bool ChosenGroups::has(const Graph& graph, NodeId start) const {
  if (names_.empty()) return true;
  const auto is_chosen = [&](StringId name) {
    return std::ranges::find(names_, name) != names_.end();
  };
  const Node& n = graph.node(start);
  if (n.group) return is_chosen(graph.group(n.group).name);
  const Argument* name = group_argument(graph, n);
  return name != nullptr && is_chosen(name->text());
}

}  // namespace jointer
