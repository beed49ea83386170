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

}  // namespace jointer
