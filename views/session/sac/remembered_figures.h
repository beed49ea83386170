#pragma once

#include <deque>
#include <optional>

#include "core/partition/plan_what_if.h"
#include "views/session/edit/edit_history.h"

namespace jointer::views {

// Caches the estimates of the plans at history entries, so that undo and redo show them
// immediately.
class RememberedFigures {
 public:
  // `baseline`: the graph as opened, with its estimates. Entries for a different baseline are
  // discarded.
  void add(const SnapshotPtr& baseline, const EditHistory& history, const PlanFigures& figures);
  [[nodiscard]] std::optional<PlanFigures> find(const SnapshotPtr& baseline,
                                                const EditHistory& history) const;

 private:
  struct Entry {
    EditHistory history;
    PlanFigures figures;
  };
  SnapshotPtr baseline_;
  std::deque<Entry> entries_;  // newest first
};

}  // namespace jointer::views
