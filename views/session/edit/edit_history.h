#pragma once

// An edit history is the list of edits that lead from the opened graph to one of its states.

#include <memory>
#include <vector>

#include "core/edit/edit.h"
#include "views/session/snapshot/state_queue.h"

namespace jointer::views {

// An applied edit and its inverse. Histories share these objects: two histories with a common
// prefix lead to the same graph at the end of that prefix.
struct DoneEdit {
  const Edit edit;
  Edit inverse;  // updated on redo, since added nodes may get new ids
};
using DoneEditPtr = std::shared_ptr<DoneEdit>;
using EditHistory = std::vector<DoneEditPtr>;

std::vector<Edit> edits_of(const EditHistory& history);

// How to get from one history to another: undo back to their common prefix, then apply the rest of
// the second history. Holds copies, so it can be used on a worker thread.
struct Transition {
  Transition(const EditHistory& from, const EditHistory& to);

  std::vector<Edit> edits;     // inverses first, then edits
  std::size_t back_count = 0;  // number of inverses
  bool ends_at_baseline = false;
};

struct Transformed {
  SnapshotPtr now;
  std::vector<Edit> inverses;  // of the newly applied edits
};

// Runs on a worker thread. Error (usage): one sentence about the edit that is not legal.
Result<Transformed> transform(const DocumentState& state, const Transition& transition);

// The analysis or snapshot of `graph`, which edits made from the graph of `from`. `same_calls`: the
// edits keep all calls, so results that do not depend on the order are reused. Error (usage): see
// `analyze`.
Result<Analysis> analysis_after(const Analysis& from, const Graph& graph, bool same_calls);
Result<SnapshotPtr> snapshot_after(const Snapshot& from, Graph graph, bool same_calls);

// Returns true if an edit keeps all calls, that is, if it only moves nodes or sets policies.
bool keeps_calls(const Edit& edit);

}  // namespace jointer::views
