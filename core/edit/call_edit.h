#pragma once

// Recognizes edits that merge, split or replace calls, so that they can be made for other calls.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

struct CallEdit {
  enum class Kind : std::uint8_t { merge, split, replace };
  Kind kind = Kind::replace;
  std::vector<NodeId> nodes;  // the collectives to merge, or the one call
  std::string target;         // the operator that replaces the call's
};

// Makes the edit for other nodes of a graph. Errors: those of merge_collectives and
// split_collective (merge.h), and of replace_call (replace.h).
Result<Edit> made_for(const CallEdit& call_edit, const Graph& graph, std::span<const NodeId> nodes);

// Returns what `edit` does to calls of `graph`, the graph before it. nullopt if none of these three
// functions makes this edit. Cost: that of making it.
std::optional<CallEdit> call_edit_of(const Graph& graph, const Edit& edit);

}  // namespace jointer
