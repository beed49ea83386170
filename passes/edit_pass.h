#pragma once

// Passes that core makes as edits.

#include <functional>
#include <string>
#include <string_view>

#include "core/edit/edit.h"
#include "core/pass/pass.h"

namespace jointer {

// Applies an edit. Its notes become decisions about the whole graph.
Result<void> apply_edit(Graph& graph, const Result<Edit>& edit, PassContext& context);

// Applies an edit of tags; every call whose tag is another then becomes a decision: what it is
// tagged with, and why, as `reason` says of the tagged node.
Result<void> apply_tags(Graph& graph, const Result<Edit>& edit, PassContext& context,
                        const std::function<std::string(NodeId node)>& reason);

// Applies an edit that inserts, moves, changes and removes calls; each becomes a decision, with one
// reason for each kind of change.
struct ChangeReasons {
  std::string_view inserted, moved, replaced, removed;
};
Result<void> apply_changes(Graph& graph, const Result<Edit>& edit, PassContext& context,
                           const ChangeReasons& reasons);

}  // namespace jointer
