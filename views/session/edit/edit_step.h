#pragma once

// History entries, the stack of entries that undo and redo move through, named states, and the form
// in which workspaces store them.

#include <QString>
#include <QStringList>
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/workspace/history.h"
#include "views/session/edit/edit_history.h"
#include "views/session/edit/metrics.h"

namespace jointer::views {

// A history entry: one action of a user, a pass or a recipe.
struct EditStep {
  QString title, by;  // by: empty for the user
  QStringList notes;
  EditHistory before, after;
  std::optional<Metrics> metrics;  // after this entry; nullopt until they are computed
};

// The number of edits that this entry replaces: those that are in `before` but not in `after`.
std::size_t replaced_edits(const EditStep& step);

// The history entry that adds one edit to `before`.
EditStep step_of(const DoneEditPtr& done, const EditHistory& before);

// The history entries and the current position among them: entries before the position are applied,
// and those after it have been undone.
class StepStack {
 public:
  StepStack() = default;
  StepStack(std::vector<EditStep> steps, int place) : steps_(std::move(steps)) { go_to(place); }

  [[nodiscard]] int count() const { return static_cast<int>(steps_.size()); }
  [[nodiscard]] int place() const { return place_; }
  [[nodiscard]] const EditStep& step(int index) const {
    return steps_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] EditStep& step(int index) { return steps_[static_cast<std::size_t>(index)]; }
  // The entries right before and right after the position, or null.
  [[nodiscard]] const EditStep* undoable() const {
    return place_ == 0 ? nullptr : &step(place_ - 1);
  }
  [[nodiscard]] const EditStep* redoable() const {
    return place_ == count() ? nullptr : &step(place_);
  }

  // Replaces the entries after the position with this one, which counts as applied.
  void push(EditStep step) {
    steps_.erase(steps_.begin() + place_, steps_.end());
    steps_.push_back(std::move(step));
    ++place_;
  }
  void go_to(int place) { place_ = std::clamp(place, 0, count()); }

 private:
  std::vector<EditStep> steps_;
  int place_ = 0;
};

// A state that the user named.
struct NamedState {
  QString name;
  EditHistory history;
  std::optional<Metrics> metrics;
};

// --- Workspaces ---

// A history from a workspace, replayed on the graph as opened.
struct Restored {
  std::vector<EditStep> steps;
  std::size_t place = 0;
  std::vector<NamedState> named;
  SnapshotPtr now;                   // the graph at `place`
  std::vector<std::string> refused;  // one sentence per edit that is no longer legal
};

// For worker threads. Skips edits that are not legal. Error (usage): see `analyze`.
Result<Restored> restore_history(const DocumentState& state, const History& history);

HistoryEntry to_history_entry(const EditStep& step);
History to_history(const std::vector<const EditStep*>& steps, std::size_t place,
                   const std::vector<NamedState>& named);

}  // namespace jointer::views
