#pragma once

#include <QString>
#include <QStringList>
#include <optional>

#include "core/workspace/history.h"
#include "views/session/edit/edit_history.h"
#include "views/session/edit/metrics.h"

namespace jointer::views {

// A history entry: one action of a user, a pass or a recipe.
struct EditStep {
  QString title, by;  // by: empty for the user
  QStringList notes;
  EditHistory before, after;
  std::optional<Metrics> metrics;  // afterwards; empty while being computed
};

// A state that the user named.
struct NamedState {
  QString name;
  EditHistory history;
  std::optional<Metrics> metrics;
};

// Makes the history entry for a single edit.
EditStep step_of(const DoneEditPtr& done, const EditHistory& before);

// A history from a workspace, replayed on the graph as opened.
struct Restored {
  std::vector<EditStep> steps;
  std::size_t place = 0;
  std::vector<NamedState> named;
  SnapshotPtr now;                   // at `place`
  std::vector<std::string> refused;  // one sentence per edit that is no longer legal
};

// Runs on a worker thread and skips edits that are not legal. Error (usage): see `analyze`.
Result<Restored> restore_history(const DocumentState& state, const History& history);

// Converts the history to its workspace form.
History to_history(const std::vector<const EditStep*>& steps, std::size_t place,
                   const std::vector<NamedState>& named);

}  // namespace jointer::views
