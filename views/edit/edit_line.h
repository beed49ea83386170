#pragma once

// How a state of the graph is reached: the edits that lead to it from the graph as it was opened.

#include <memory>
#include <vector>

#include "core/edit/edit.h"
#include "views/document/state_queue.h"

namespace jointer::views {

// An edit that was applied, and what takes it back. Lines share them: where two lines begin with
// the same ones, they are the same graph up to there.
struct DoneEdit {
  const Edit edit;
  Edit inverse;  // changes when it is done again: what it added may have another id then
};
using DoneEditPtr = std::shared_ptr<DoneEdit>;
using EditLine = std::vector<DoneEditPtr>;

std::vector<Edit> edits_of(const EditLine& line);

// From one line to another: what both begin with stays, the rest of the first is taken back, then
// the rest of the second is done. Holds copies, for a working thread.
struct Transition {
  Transition(const EditLine& from, const EditLine& to);

  std::vector<Edit> edits;     // inverses, then edits
  std::size_t back_count = 0;  // how many of them are inverses
  bool ends_at_baseline = false;
};

struct Transformed {
  SnapshotPtr now;
  std::vector<Edit> inverses;  // of the edits that were done, not of those taken back
};

// On a working thread. Error (usage): an edit is not legal, in a sentence.
Result<Transformed> transform(const DocumentState& state, const Transition& transition);

// Of the graph of `from` after edits. `same_calls`: they keep all calls, so that what does not
// depend on the order is that of `from`. Error (usage): as analyze.
Result<Analysis> analysis_after(const Analysis& from, const Graph& graph, bool same_calls);
Result<SnapshotPtr> snapshot_after(const Snapshot& from, Graph graph, bool same_calls);

// Whether an edit leaves every call as it is: it moves nodes or sets policies.
bool keeps_calls(const Edit& edit);

}  // namespace jointer::views
