#pragma once

// One step that a person can undo: some changes under a title. Merging collectives, moving a wait
// with the chain that feeds it, or what a pass did is one edit.

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
  std::string by;     // who decided it: empty for a person, else a pass as the pipeline names it
  std::vector<Change> changes;
  std::vector<std::string> notes;  // what it carried along, what other ranks must do too
  std::string extra = {};          // members of a recipe that this version does not know
  // Why a pass did it, or did not, node by node: what kept_decisions leaves of what it said.
  std::vector<Decision> decisions = {};
  friend bool operator==(const Edit&, const Edit&) = default;
};

// Does it to the graph. Returns the inverse: applied next, it gives the graph as it was, with the
// same hash and the same capture. Error (usage), in one sentence: a change is not legal and why;
// the graph is then as it was before. What is legal is at the top of editor.cpp. For many edits in
// a row, Editor does the same with less work.
Result<Edit> apply(Graph& graph, const Edit& edit);
// The same for a caller that has the dependencies of the graph as it is: finding them takes longer
// than a move.
Result<Edit> apply(Graph& graph, const Edit& edit, const Dependencies& dependencies);

// What an edit calls the node: its name, in the backward of a pair with `backward:` before it.
std::string edit_name(const Graph& graph, NodeId id);

}  // namespace jointer
