#pragma once

// An edit history is the list of edits that lead from the opened graph to one of its states.
// History entries, the actions that undo and redo act on, lead from one history to another. The
// functions that apply edits, and those that analyze the result, run on a worker thread.

#include <QString>
#include <QStringList>
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/edit/edit.h"
#include "views/session/edit/metrics.h"
#include "views/session/snapshot/snapshot.h"

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

// Returns true if an edit keeps all calls, that is, if it only moves nodes or sets policies.
bool keeps_calls(const Edit& edit);

// --- History entries ---

// A history entry: one action of a user, a pass or a recipe.
struct EditEntry {
  QString title, by;  // `by`: as Edit::by
  QStringList notes;
  EditHistory before, after;
  std::optional<Metrics> metrics;  // after this entry; nullopt until they are computed
};

// The number of edits that this entry replaces: those that are in `before` but not in `after`.
std::size_t replaced_edits(const EditEntry& entry);

// The history entry that adds one edit to `before`.
EditEntry entry_of(const DoneEditPtr& done, const EditHistory& before);

// The history entries and the current position among them: entries before the position are applied,
// and those after it have been undone.
class EntryStack {
 public:
  EntryStack() = default;
  EntryStack(std::vector<EditEntry> entries, int place) : entries_(std::move(entries)) {
    go_to(place);
  }

  [[nodiscard]] int count() const { return static_cast<int>(entries_.size()); }
  [[nodiscard]] int place() const { return place_; }
  [[nodiscard]] const EditEntry& entry(int index) const {
    return entries_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] EditEntry& entry(int index) { return entries_[static_cast<std::size_t>(index)]; }
  // The entries right before and right after the position, or null.
  [[nodiscard]] const EditEntry* undoable() const {
    return place_ == 0 ? nullptr : &entry(place_ - 1);
  }
  [[nodiscard]] const EditEntry* redoable() const {
    return place_ == count() ? nullptr : &entry(place_);
  }

  // Replaces the entries after the position with this one, which counts as applied.
  void push(EditEntry entry) {
    entries_.erase(entries_.begin() + place_, entries_.end());
    entries_.push_back(std::move(entry));
    ++place_;
  }
  void go_to(int place) { place_ = std::clamp(place, 0, count()); }

 private:
  std::vector<EditEntry> entries_;
  int place_ = 0;
};

// A state that the user named.
struct NamedState {
  QString name;
  EditHistory history;
  std::optional<Metrics> metrics;
};

// --- Applying edits ---

struct EditRun {
  EditHistory done;
  std::vector<std::string> refused;  // one sentence per edit that is not legal
  bool same_calls = true;            // all applied edits keep the calls
};

// Applies `edits` in order, and skips those that are not legal.
EditRun run_edits(Graph& graph, const std::vector<Edit>& edits);

// The path from one history to another: undo the edits after their common prefix, then apply the
// rest of the second history. Holds copies, so it can be used on a worker thread.
struct Transition {
  Transition(const EditHistory& from, const EditHistory& to);

  std::vector<Edit> edits;        // inverses first, then edits
  std::size_t back_count = 0;     // number of inverses
  bool ends_at_baseline = false;  // the second history is empty
};

struct Transformed {
  SnapshotPtr now;
  std::vector<Edit> inverses;  // of the newly applied edits
};

// Follows the transition from `state`. Error (usage): an edit is not legal; for others, see
// `analyze_step`.
Result<Transformed> transform(const DocumentState& state, const Transition& transition);

// --- The state after edits ---

// The snapshot of `graph`, the result of edits to the graph of `from`. `same_calls`: the edits keep
// all calls, so results that do not depend on the order are reused. Errors: see `analyze_step`.
Result<SnapshotPtr> snapshot_after(const Snapshot& from, Graph graph, bool same_calls);

using MetricsByHistory = std::map<EditHistory, Metrics>;

// The metrics of each history, starting from `baseline`. Omits histories with an edit that is not
// legal, or whose graph cannot be analyzed. A history that extends the one before it costs only the
// additional edits and an analysis. Returns early once `cancel` is true.
MetricsByHistory metrics_of_histories(const Snapshot& baseline,
                                      const std::vector<EditHistory>& histories,
                                      const std::atomic<bool>& cancel);

// The snapshot after these edits to the graph of `baseline`. Error (usage): an edit is not legal;
// see also `analyze_step`.
Result<SnapshotPtr> snapshot_of_history(const SnapshotPtr& baseline,
                                        const std::vector<Edit>& edits);

}  // namespace jointer::views
