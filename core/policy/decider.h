#pragma once

// Who decided what is saved, recomputed or offloaded.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace jointer {

enum class Decider : std::uint8_t {
  partitioner,  // it solved the graph, possibly under an activation budget
  search,       // a search for the best plan within a limit
  preset,       // one of upstream's policies
  list,         // a list of operators or selectors, or another imported policy
  person,       // one decision at a time
  capture,      // a tag in the capture, or an already partitioned capture
  nobody,       // a flat training step as captured
};
inline constexpr std::size_t kDeciders = 7;

// "partitioner", "search", "preset", "list", "person", "tag", "nobody".
std::string_view to_string(Decider decider);
// "solved", "searched", "preset", "list", "person", "tag", "nobody".
std::string_view decided_by(Decider decider);

// The name by which edits of a search are marked (Edit::by).
inline constexpr std::string_view kSearch = "search";
// The same for a plan that was found together with an order: the passes that reorder its graph, as
// a pipeline. `kSearch` if there are none.
std::string searched_with(std::string_view order);
// The order's passes in `by`; empty if it has none.
std::string_view order_of(std::string_view by);
// The name by which edits of an imported plan are marked.
inline constexpr std::string_view kImport = "import_policy";

// Who decided about the nodes that an edit tags. `by`: Edit::by, the passes that made the edit.
Decider decider_of(std::string_view by);

}  // namespace jointer
