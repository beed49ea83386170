#pragma once

// Determines who decided what is saved, recomputed or offloaded.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace jointer {

enum class Decider : std::uint8_t {
  partitioner,  // solved the graph, possibly under an activation budget
  search,       // a search for the best plan within a limit
  preset,       // one of upstream's policies
  list,         // operators or selectors from the user, or an imported policy
  user,         // one value at a time
  capture,      // a tag in the capture, or an already partitioned capture
  untagged,     // a flat training step as captured, without tags
};
inline constexpr std::size_t kDeciders = 7;

// "partitioner", "search", "preset", "list", "user", "tag", "untagged".
std::string_view to_string(Decider decider);
// As in `sac --json`: "solved", "searched", "preset", "list", "person", "tag", "nobody".
std::string_view decided_by(Decider decider);

// Edit::by of a plan that a search found.
inline constexpr std::string_view kSearch = "search";
// Edit::by of a plan that was found together with an order. `order`: the passes that reorder the
// graph, as a pipeline; may be empty.
std::string searched_with(std::string_view order);
// Edit::by of the user's own decisions, if they come with an order of the graph. `order`: as for
// searched_with. An edit with an empty `by` leaves the order as it is.
std::string decided_with(std::string_view order);
// Returns true if the edit determines the order of the graph: its `by` is from searched_with or
// decided_with.
bool sets_order(std::string_view by);
// Returns the passes that searched_with or decided_with added to `by`; empty if there are none.
std::string_view order_of(std::string_view by);
// Edit::by of an imported plan.
inline constexpr std::string_view kImport = "import_policy";

// Returns who decided about the nodes that an edit tags. `by`: its Edit::by.
Decider decider_of(std::string_view by);

}  // namespace jointer
