#pragma once

#include <QString>
#include <QStringList>
#include <optional>

#include "core/workspace/history.h"
#include "views/edit/edit_line.h"
#include "views/edit/metrics.h"

namespace jointer::views {

// A step of the history: one thing that a person, a pass or a recipe did.
struct EditStep {
  QString title, by;  // by: empty for a person
  QStringList notes;
  EditLine before, after;
  std::optional<Metrics> metrics;  // afterwards; none while they are being computed
};

// A state that a person gave a name to.
struct NamedState {
  QString name;
  EditLine line;
  std::optional<Metrics> metrics;
};

// The step that adds one edit.
EditStep step_of(const DoneEditPtr& done, const EditLine& before);

// A history that a workspace kept, done again on the graph as it was opened.
struct Restored {
  std::vector<EditStep> steps;
  std::size_t place = 0;
  std::vector<NamedState> named;
  SnapshotPtr now;                   // at `place`
  std::vector<std::string> refused;  // a sentence for each edit that is no longer legal
};

// On a working thread. What is not legal is left out. Error (usage): as analyze.
Result<Restored> restore_history(const DocumentState& state, const History& history);

// The history as a workspace keeps it.
History to_history(const std::vector<const EditStep*>& steps, std::size_t place,
                   const std::vector<NamedState>& named);

}  // namespace jointer::views
