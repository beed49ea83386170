#pragma once

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "views/edit/edit_run.h"
#include "views/edit/edit_step.h"

namespace jointer::views {

class Document;
class MovePlanner;

// How a document's graph is edited: what was done to it, undo and redo without limit, named states.
//
// The graph that panes show never changes under them: every edit makes another one on a working
// thread, and Document::changed follows. What is asked for meanwhile waits for its turn, so keys
// may come faster than graphs.
class Editing : public QObject {
  Q_OBJECT
 public:
  // Both must outlive it.
  Editing(Document& document, StateQueue& queue);
  ~Editing() override;
  Editing(const Editing&) = delete;
  Editing& operator=(const Editing&) = delete;

  [[nodiscard]] MovePlanner& planner() const { return *planner_; }

  // --- Looking ---
  // The edits that lead from the graph as it was opened to the one that is shown: its recipe.
  [[nodiscard]] const EditLine& line() const { return line_; }
  [[nodiscard]] std::vector<Edit> edits() const { return edits_of(line_); }
  [[nodiscard]] bool is_edited() const { return !line_.empty(); }
  // Everything that was asked for is shown.
  [[nodiscard]] bool is_settled() const { return !is_working_ && requests_.empty(); }

  // Steps 0 .. step_count; the graph is as it was after the first `place` of them.
  [[nodiscard]] int step_count() const { return undo_.count(); }
  [[nodiscard]] int place() const { return undo_.index(); }
  [[nodiscard]] const EditStep& step(int index) const;
  // The line after that many steps.
  [[nodiscard]] EditLine line_at(int place) const;
  [[nodiscard]] const QUndoStack& undo_stack() const { return undo_; }
  [[nodiscard]] const std::vector<NamedState>& named() const { return named_; }

  // What a workspace keeps.
  [[nodiscard]] History history() const;
  // What training code applies. Error (input): the file could not be written.
  [[nodiscard]] Result<void> write_recipe(const QString& path) const;

  // The graph that a line of edits leads to, with its analysis. `done` is told on this thread,
  // unless `context` is gone by then. Error (usage): an edit is no longer legal.
  using Made = std::function<void(const Result<SnapshotPtr>&)>;
  void make_state(const EditLine& line, QObject* context, Made done) const;

  // --- Doing: `changed` and Document::changed follow, or `refused` ---
  // One step that can be undone.
  void apply(const Edit& edit);
  // Edits from elsewhere, such as a recipe: a step each. Those that are not legal are left out;
  // `applied_all` follows.
  void apply_all(std::vector<Edit> edits);
  // What a workspace kept, in place of what there is; `applied_all` follows.
  void restore(History history);
  void undo();
  void redo();
  void go_to(int place);

  // --- Named states ---
  void keep_state(const QString& name);
  void rename_state(std::size_t index, const QString& name);
  void remove_state(std::size_t index);
  // A step of its own, unless the history has that state.
  void go_to_state(std::size_t index);

 signals:
  // The history, the place in it, or the named states are others.
  void changed();
  // An edit was done: its title and its notes.
  void applied(const QString& sentence);
  void refused(const QString& sentence);
  // How many edits were done; a sentence for each that was not.
  void applied_all(int count, const QStringList& refused);

 private:
  class Command;
  struct Batch {
    EditRun run;
    std::optional<Metrics> metrics;  // after the last edit that was done
  };
  // What waits for its turn. An edit is made for the graph that is shown by then.
  struct Request {
    bool is_edit = false;
    std::function<void()> run;
  };

  void ask(Request request);
  void pump();
  void work(StateQueue::Job job, StateQueue::Done done);
  // On `queue_`: edits one after another. What is not legal is left out of the batch.
  void do_batch(std::vector<Edit> edits, std::function<void(const Batch&)> done);
  void do_restore(const History& history);
  void push_steps(const EditLine& added, const std::optional<Metrics>& metrics);
  void push(EditStep step);
  // From what is shown to a line of the history or of a named state.
  void follow(const EditLine& line, std::function<void()> done);
  void keep_moment();
  void restore_moment();
  void forget_old_metrics();
  void compute_metrics();
  void fill_metrics(const MetricsByLine& found);
  [[nodiscard]] EditStep& step_to_change(int index);

  Document& document_;
  StateQueue& queue_;
  QUndoStack undo_;
  EditLine line_;    // of what is shown
  EditLine target_;  // of the place in the history
  std::deque<Request> requests_;
  std::vector<NamedState> named_;
  bool is_working_ = false;
  bool commands_are_quiet_ = false;  // the history is changed, the graph has it already

  struct KeptMoment {
    NodeId node;
    bool after = false;  // it freed
  };
  std::optional<KeptMoment> moment_;
  std::unique_ptr<MovePlanner> planner_;

  SnapshotPtr estimated_as_;                        // metrics are of the same estimates as this one
  std::shared_ptr<std::atomic<bool>> metrics_job_;  // true: its results are of no use any more
};

}  // namespace jointer::views
