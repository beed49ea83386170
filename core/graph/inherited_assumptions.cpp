#include "core/graph/inherited_assumptions.h"

#include <set>
#include <string_view>

#include "core/graph/group_argument.h"

namespace jointer {
Assumptions inherited_assumptions(const Assumptions& given, const Graph& made) {
  Assumptions held;
  held.fallback = given.fallback;
  if (given.named.empty()) return held;
  for (const SymbolValue& symbol : made.symbols())
    if (const auto found = given.named.find(symbol.name); found != given.named.end())
      held.named.insert(*found);
  std::set<std::string_view> used;
  for (const NodeId id : made.order())
    if (const GroupId group = made.node(id).group) used.insert(made.text(made.group(group).name));
  for (std::size_t i = 0; i < made.group_count(); ++i) {
    const ProcessGroup& group = made.group(GroupId(i));
    const std::string_view name = made.text(group.name);
    if (!used.contains(name) || !has_guessed_ranks(made, group)) continue;
    for (const ProcessGroup* each = &group; each != nullptr; each = original_of(made, *each)) {
      const std::string_view known = made.text(each->name);
      const auto found = given.named.find(stride_name(known));
      if (found == given.named.end()) continue;
      held.named.emplace(stride_name(used.contains(known) ? known : name), found->second);
      break;
    }
  }
  for (const UnsizedGroup& unsized : unsized_groups(made)) {
    if (!unsized.group) {
      if (const auto found = given.named.find(ranks_name({})); found != given.named.end())
        held.named.insert(*found);
      continue;
    }
    for (const ProcessGroup* each = &made.group(unsized.group); each != nullptr;
         each = original_of(made, *each)) {
      const std::string_view known = made.text(each->name);
      const auto found = given.named.find(ranks_name(known));
      if (found == given.named.end()) continue;
      held.named.emplace(ranks_name(used.contains(known) ? known : unsized.name), found->second);
      break;
    }
  }
  return held;
}

Result<void> inherit_assumptions(Graph& made, const Graph& from) {
  if (from.assumptions().empty()) return {};
  return made.assume(inherited_assumptions(from.assumptions(), made));
}

}  // namespace jointer
