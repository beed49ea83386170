#pragma once

// Repeats an edit of a history in all identical layers.

#include <optional>
#include <span>
#include <vector>

#include "core/edit/edit.h"
#include "views/session/edit/edit_history.h"

namespace jointer::views {

// An edit of a history, with the inverses that lead from the end of the history to the graph before
// the edit.
struct PastEdit {
  Edit edit;
  std::vector<Edit> inverses;
};

// The last edit that moves one of these nodes or sets its policy by name or, if there is none, the
// last edit. nullopt if the history is empty. `graph`: the graph at the end of the history.
std::optional<PastEdit> last_edit_of(const EditHistory& history, const Graph& graph,
                                     std::span<const NodeId> nodes);

// The edit that repeats `past` in the identical layers. `now`: the graph at the end of the history.
// Error (usage): see jointer::repeat_in_layers.
Result<Edit> repeated(const PastEdit& past, const Graph& now);

}  // namespace jointer::views
