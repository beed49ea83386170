#include "core/graph/group_argument.h"

#include <array>

namespace jointer {
namespace {

constexpr std::array<std::string_view, 2> kNames{"group_name", "group"};

}  // namespace

bool names_group(std::string_view argument) {
  return argument == kNames[0] || argument == kNames[1];
}

const Argument* group_argument(const Graph& graph, const Node& call) {
  for (const std::string_view name : kNames)
    if (const Argument* given = graph.argument(call, name);
        given != nullptr && given->kind == Argument::Kind::string)
      return given;
  return nullptr;
}

const ProcessGroup* twin_of(const Graph& graph, const Part& part, std::string_view name,
                            std::int64_t size) {
  const ProcessGroup* longest = nullptr;
  for (const GroupId id : part.groups) {
    const ProcessGroup& group = graph.group(id);
    const std::string_view first = graph.text(group.name);
    if (std::ssize(group.ranks) == size && name.size() > first.size() && name.starts_with(first) &&
        name[first.size()] == '_' &&
        (longest == nullptr || first.size() > graph.text(longest->name).size()))
      longest = &group;
  }
  return longest;
}

}  // namespace jointer
