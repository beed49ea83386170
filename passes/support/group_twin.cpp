#include "passes/support/group_twin.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

namespace jointer {
namespace {

// Replaces one text argument of a call.
void rename(Graph& graph, NodeId id, const Argument* old, StringId name) {
  Node& n = graph.node(id);
  for (Argument* list : {&n.args, &n.kwargs}) {
    const auto children = graph.children(*list);
    std::vector<Argument> copy(children.begin(), children.end());
    bool is_here = false;
    for (std::size_t i = 0; i < children.size(); ++i)
      if (&children[i] == old) {
        copy[i] = Argument::of_text(Argument::Kind::string, name);
        is_here = true;
      }
    if (!is_here) continue;
    *list = graph.make_children(list->kind, copy);
    break;
  }
  n.group = {};
  graph.refresh(id);
}

// Adds the twin of a group to a part of the graph, unless the part already has it.
void provide_twin(Graph& graph, PartId part, GroupId of, StringId twin, std::string_view suffix) {
  for (const GroupId id : graph.part(part).groups)
    if (graph.group(id).name == twin) return;
  ProcessGroup copy = graph.group(of);
  copy.name = twin;
  if (copy.desc) copy.desc = graph.intern(fmt::format("{}{}", graph.text(copy.desc), suffix));
  const GroupId made = graph.add_group(std::move(copy));
  graph.part(part).groups.push_back(made);
}

}  // namespace

Result<std::string> twin_suffix(const Arguments& arguments) {
  std::string suffix = arguments.text("suffix");
  if (suffix.empty())
    return fail(Error::Kind::usage,
                "suffix must not be empty: the twin's name must differ from the group's");
  return suffix;
}

void move_to_twin(Graph& graph, NodeId start, StringId twin, std::string_view suffix) {
  const Node& n = graph.node(start);
  if (const GroupId group = n.group) provide_twin(graph, n.part, group, twin, suffix);
  rename(graph, start, group_argument(graph, graph.node(start)), twin);
}

}  // namespace jointer
