#pragma once

// Support for passes whose edits are computed in core. If `edit` is an error, these functions
// return it.

#include <functional>
#include <string>
#include <string_view>

#include "core/edit/edit.h"
#include "core/pass/pass.h"

namespace jointer {

// Applies an edit. Its notes become decisions about the whole graph.
Result<void> apply_edit(Graph& graph, const Result<Edit>& edit, PassContext& context);

// Applies an edit that changes tags. For each node whose tag or ac_graph_id changed, adds a
// decision with the new tag ("untagged" if it has none) and the reason that `reason` returns.
Result<void> apply_tags(Graph& graph, const Result<Edit>& edit, PassContext& context,
                        const std::function<std::string(NodeId node)>& reason);

// The reason for each kind of change.
struct ChangeReasons {
  std::string_view inserted, moved, replaced, removed;
};

// Applies an edit that inserts, moves, changes and removes calls. Adds a decision for each of these
// calls, with the reason for that kind of change.
Result<void> apply_changes(Graph& graph, const Result<Edit>& edit, PassContext& context,
                           const ChangeReasons& reasons);

}  // namespace jointer
