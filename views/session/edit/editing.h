#pragma once

#include <QObject>
#include <QString>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/workspace/history.h"
#include "views/session/edit/edit_history.h"
#include "views/session/open/open_graph.h"
#include "views/session/work/task.h"

namespace jointer::views {

class MovePlanner;

// Edits a document's graph, with unlimited undo and redo, and named states.
//
// Graphs that are shown never change: each edit produces a new one on a worker thread, and
// Document::changed follows. Requests are queued until then, so keys may be pressed faster than
// graphs are computed.
class Editing : public QObject {
  Q_OBJECT
 public:
  // `open` must outlive this object.
  explicit Editing(OpenGraph& open);
  ~Editing() override;

  [[nodiscard]] MovePlanner& planner() const { return *planner_; }

  // --- State ---

  // The edits that lead from the opened graph to the shown one.
  [[nodiscard]] const EditHistory& edit_history() const { return history_; }
  [[nodiscard]] std::vector<Edit> edits() const { return edits_of(history_); }
  [[nodiscard]] bool is_edited() const { return !history_.empty(); }
  // Returns true if no request is pending.
  [[nodiscard]] bool is_settled() const { return !is_working_ && requests_.empty(); }

  // The number of history entries, and the current position among them. While `is_settled`, the
  // entries before the position are those applied in the shown graph.
  [[nodiscard]] int entry_count() const { return entries_.count(); }
  [[nodiscard]] int place() const { return entries_.place(); }
  [[nodiscard]] const EditEntry& entry(int index) const { return entries_.entry(index); }
  // The edits that lead to this position.
  [[nodiscard]] EditHistory history_at(int place) const {
    return place == 0 ? EditHistory() : entry(place - 1).after;
  }
  // The first position that has this edit history; nullopt if there is none.
  [[nodiscard]] std::optional<int> place_of(const EditHistory& history) const;
  // The entries that undo and redo would act on, or null.
  [[nodiscard]] const EditEntry* undoable() const { return entries_.undoable(); }
  [[nodiscard]] const EditEntry* redoable() const { return entries_.redoable(); }
  [[nodiscard]] const std::vector<NamedState>& named() const { return named_; }

  // The history in the form that a workspace stores.
  [[nodiscard]] History history() const;
  // Writes a recipe of the edits, which training code can replay. Error (run): the file could not
  // be written.
  [[nodiscard]] Result<void> write_recipe(const QString& path) const;

  // Computes the graph that a history leads to, and its analysis. Calls `done` on this thread:
  // immediately for the shown history, otherwise later, unless `context` is destroyed first.
  // Errors: see `snapshot_of_history`.
  using Made = std::function<void(const Result<SnapshotPtr>&)>;
  void make_state(const EditHistory& history, QObject* context, Made done) const;

  // --- Changes: `changed` and Document::changed follow, or `refused` ---

  // Adds one history entry.
  void apply(const Edit& edit) {
    ask({.is_edit = true, .run = [this, edit] { do_one(given({edit})); }});
  }
  // Repeats an edit in all identical layers (core/edit/repeat_in_layers.h): the last one that moves
  // one of these nodes or sets its policy by name or, if there is none, the last edit. Adds one
  // history entry.
  void repeat_in_layers(std::vector<NodeId> nodes);
  // Applies edits, such as those of a recipe, as one history entry each. Skips edits that are not
  // legal. Emits `applied_all`.
  void apply_all(std::vector<Edit> edits);
  // Like `apply_all`, but starts from an earlier position in the history. The entries between that
  // position and the current one stay, and undoing the first new entry returns to the state shown
  // now.
  void apply_all_from(int place, std::vector<Edit> edits);
  // Replaces the history with one from a workspace. Emits `applied_all`.
  void restore(History history);
  void undo() {
    ask({.run = [this] { set_place(place() - 1); }});
  }
  void redo() {
    ask({.run = [this] { set_place(place() + 1); }});
  }
  void go_to(int place) {
    ask({.run = [this, place] { set_place(place); }});
  }

  // --- Named states ---
  void keep_state(const QString& name);
  void rename_state(std::size_t index, const QString& name);
  void remove_state(std::size_t index);
  // Shows a named state. Adds a history entry, unless the history already contains the state.
  void go_to_state(std::size_t index);

 signals:
  // The history, the position in it, the named states or the metrics have changed.
  void changed();
  // `sentence`: the title and notes of the applied edit, or which edits were undone or redone.
  void applied(const QString& sentence);
  void refused(const QString& sentence);
  // The number of applied edits, and one sentence for each refused edit.
  void applied_all(int count, const QStringList& refused);

 private:
  struct Batch {
    EditRun run;
    std::optional<Metrics> metrics;  // after the last applied edit
  };
  // A queued request. An edit waits until undo and redo requests before it have been applied.
  struct Request {
    bool is_edit = false;
    std::function<void()> run;
  };

  // Makes the edits for the graph that is shown when their turn comes. Runs on a worker thread.
  using MakeEdits = std::function<Result<std::vector<Edit>>(const Graph& graph)>;
  static MakeEdits given(std::vector<Edit> edits);

  void ask(Request request);
  void pump();
  void work(OpenGraph::Job job, OpenGraph::Done done);
  // Applies edits in order in a job and skips those that are not legal. `before`: the state that
  // the first edit replaces.
  void do_batch(MakeEdits make, EditHistory before, std::function<void(const Batch&)> done);
  // Applies one edit, then emits `applied` or `refused`.
  void do_one(MakeEdits make);
  // Applies edits as do_batch does, then emits `applied_all`.
  void do_all(std::vector<Edit> edits, const EditHistory& before);
  void do_restore(const History& history);
  void push_entries(const Batch& batch, EditHistory before);
  // Sets the position in the history; the graph follows.
  void set_place(int place);
  // Brings the graph from the shown state to that of another history.
  void follow(const EditHistory& history, std::function<void()> done);
  void keep_moment();
  void restore_moment();
  void forget_old_metrics();
  void compute_metrics();
  void fill_metrics(const MetricsByHistory& found);

  OpenGraph& open_;
  EntryStack entries_;
  EditHistory history_;  // the edits of the shown graph
  EditHistory target_;   // the edits at the current position in the history
  std::deque<Request> requests_;
  std::vector<NamedState> named_;
  bool is_working_ = false;

  struct KeptMoment {
    NodeId node;
    bool after = false;  // the moment is after the node's releases, not only its allocations
  };
  std::optional<KeptMoment> moment_;
  std::unique_ptr<MovePlanner> planner_;

  SnapshotPtr estimated_as_;  // the metrics were computed with its options and sizes
  Task<MetricsByHistory> finding_metrics_;
};

}  // namespace jointer::views
