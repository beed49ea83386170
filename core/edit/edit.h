#pragma once

// An edit: a list of changes with one title, undone as a unit. Examples: merging collectives,
// moving a wait and the chain that reads it, the result of a pass.

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/edit/change.h"
#include "core/edit/decision.h"
#include "core/graph/dependencies.h"
#include "core/graph/graph.h"

namespace jointer {

struct Edit {
  std::string title;  // "Move all_gather_77 and 2 nodes 412 places earlier"
  std::string by;     // author: a pass, as the pipeline names it; empty for the user
  std::vector<Change> changes;
  std::vector<std::string> notes;  // nodes moved along, what other ranks must do too
  std::string extra = {};          // members of a recipe that this version does not know
  // The pass's decisions about each node, limited by kept_decisions.
  std::vector<Decision> decisions = {};
  friend bool operator==(const Edit&, const Edit&) = default;
};

// Applies the edit to the graph. Returns the inverse, which restores the graph so that its hash and
// its capture are the same as before. Error (usage), in one sentence: a change is not legal; says
// why and leaves the graph unchanged. editor.cpp states what is legal. To apply several edits in a
// row, use Editor, which is faster.
Result<Edit> apply(Graph& graph, const Edit& edit);
// The same with given dependencies of the graph: computing them takes longer than a move.
Result<Edit> apply(Graph& graph, const Edit& edit, const Dependencies& dependencies);

// The node's name in edits. In a pair, nodes of the backward have the prefix `backward:`.
std::string edit_name(const Graph& graph, NodeId id);

}  // namespace jointer
