#pragma once

// Edit histories in the form in which workspaces store them.

#include <string>
#include <vector>

#include "core/workspace/history.h"
#include "views/session/edit/edit_history.h"

namespace jointer::views {

// A history from a workspace, replayed on the graph as opened.
struct Restored {
  std::vector<EditEntry> entries;
  std::size_t place = 0;
  std::vector<NamedState> named;
  SnapshotPtr now;                   // the graph at `place`
  std::vector<std::string> refused;  // one sentence per edit that is no longer legal
};

// Call it on a worker thread. Skips edits that are not legal. Errors: see `analyze_step`.
Result<Restored> restore_history(const DocumentState& state, const History& history);

HistoryEntry to_history_entry(const EditEntry& entry);
History to_history(const std::vector<const EditEntry*>& entries, std::size_t place,
                   const std::vector<NamedState>& named);

}  // namespace jointer::views
