#pragma once

// Selects process groups by name or description.

#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/pass/parameter.h"

namespace jointer {

// The names of the groups that have the given name or description. Error (usage): the graph has no
// such group; the message begins with the name of the parameter.
Result<std::vector<StringId>> groups_called(const Graph& graph, std::string_view parameter,
                                            std::string_view wanted);

// The pass parameter `groups`: a list of names or descriptions. An empty list selects all groups.
class ChosenGroups {
 public:
  // Error (usage): the graph has no such group.
  static Result<ChosenGroups> read(const Graph& graph, const Arguments& arguments);

  // True if the collective runs in one of the selected groups.
  [[nodiscard]] bool has(const Graph& graph, NodeId start) const;

 private:
  std::vector<StringId> names_;
};

}  // namespace jointer
