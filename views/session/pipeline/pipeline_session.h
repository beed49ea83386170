#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "views/session/document/document.h"
#include "views/session/edit/edit_history.h"
#include "views/session/pipeline/pass_service.h"
#include "views/session/pipeline/pipeline_draft.h"
#include "views/session/pipeline/pipeline_work.h"
#include "views/session/work/task.h"

namespace jointer::views {

enum class StepStatus : std::uint8_t {
  idle,      // has not run
  disabled,  // in the list, but runs skip it
  wrong,     // cannot run; `mistake` says why
  waiting,   // runs later in the current run
  running,
  done,      // its result is in the document or in a graph made from it, or is applied when the run
             // ends
  undone,    // it ran, but the document shows a state without its result
  outdated,  // it ran, but it, an earlier step or the peak limit has changed since
  failed,
};

// A document's pipeline: the draft, its errors, runs on a worker thread, and the result of each
// step. When a run ends, each step that changed the graph becomes one edit named after the step. If
// a step makes a separate graph (a pair), later steps continue with that graph and add no edits;
// the step itself adds an edit only if it is a partitioner, to request the plan.
//
// A run continues after the last step that the document shows and that has not changed since it
// ran. If there is none, it begins at the state in which the last run began or, if the document
// shows no state of that run, with the current graph.
class PipelineSession : public QObject {
  Q_OBJECT
 public:
  // Both arguments must outlive this object.
  PipelineSession(Document& document, PassService& service, QObject* parent = nullptr);
  ~PipelineSession() override;

  [[nodiscard]] Document& document() const { return document_; }
  [[nodiscard]] PassService& service() const { return service_; }
  [[nodiscard]] PipelineDraft& draft() { return draft_; }
  [[nodiscard]] const PipelineDraft& draft() const { return draft_; }

  // --- State ---
  [[nodiscard]] StepStatus status(std::size_t place) const;
  // Why the step cannot run; empty if it can.
  [[nodiscard]] QString mistake(std::size_t place) const {
    return place < mistakes_.size() ? mistakes_[place] : QString();
  }
  // Why the pipeline cannot run now; empty if it can.
  [[nodiscard]] QString why_not() const;
  // Why another pipeline cannot be applied to the document's graph; empty if it can.
  [[nodiscard]] QString why_not(const Pipeline& other) const;
  // The next step to run, or nullopt if all steps have run.
  [[nodiscard]] std::optional<std::size_t> next() const;
  // The result of the step's last successful run; null if none is known.
  [[nodiscard]] StepOutcomePtr outcome(std::size_t place) const;
  [[nodiscard]] const StepFailure* failure(std::size_t place) const;
  // The edit history before and after a step that is done or undone.
  struct Histories {
    EditHistory before, after;
  };
  [[nodiscard]] std::optional<Histories> histories(std::size_t place) const;

  // --- Peak limit ---
  // Maximum peak memory in bytes, for passes that support it; nullopt for no limit. Steps that ran
  // with a different limit are outdated.
  [[nodiscard]] std::optional<std::int64_t> peak_limit() const { return peak_limit_; }
  void set_peak_limit(std::optional<std::int64_t> bytes) {
    if (std::exchange(peak_limit_, bytes) != bytes) emit changed();
  }

  // --- The current run ---
  [[nodiscard]] bool is_running() const { return run_ != nullptr; }
  // Returns true if nothing is running and all results have been applied to the document.
  [[nodiscard]] bool is_settled() const;
  struct Progress {
    std::size_t place = 0;            // index of the running step
    std::size_t done = 0, count = 0;  // steps of the run
    double of_step = 0;               // from 0 to 1; 0 if unknown
    qint64 elapsed_ms = 0;
    bool is_applying = false;  // the steps are done and are being applied to the document
  };
  [[nodiscard]] std::optional<Progress> progress() const;
  // A message about the last run; may be empty.
  [[nodiscard]] const QString& message() const { return message_; }
  [[nodiscard]] bool message_is_error() const { return message_is_error_; }
  void say(const QString& sentence, bool is_error = false);

 public slots:
  // Run all steps, the next step, or all steps up to and including the one at `place`. Emit `asks`
  // instead if third-party code is not allowed yet. If the pipeline cannot run, `message` says why.
  void run() { run_until(draft_.size()); }
  void run_next();
  void run_to(int place) { run_until(static_cast<std::size_t>(place) + 1); }
  // Cancels the current run and keeps completed steps. Ignored while results are being applied.
  void cancel();
  // Returns the document to the state before the first step.
  void start_over();
  // Writes the graph after a step to files, then emits `graph_made`. The files contain the last
  // separate graph up to that step, and the edits that lead from there to the graph after the step;
  // without a separate graph, only the graph after the step. Ignored during a run, and if the step
  // has no result that is up to date.
  void open_graph(int place);

 signals:
  // The draft, its errors, or a step's status or outcome has changed.
  void changed();
  void progressed();
  void message_changed();
  // The user must allow third-party code before the pipeline can run; the receiver calls `then`
  // once they have.
  void asks(const QList<jointer::views::ForeignCode>& code, const std::function<void()>& then);
  // A step succeeded or failed.
  void step_ended(quint64 step);
  // `open_graph` wrote a graph to a capture, and the edits of the following steps to a recipe.
  // `recipe` is empty if there are no such edits.
  void graph_made(const jointer::OpenRequest& graph, const QString& recipe);

 private:
  // A step of the last run.
  struct RanStep {
    PipelineStep step;
    std::optional<std::int64_t> peak_limit;  // the limit that it ran with
    StepOutcomePtr outcome;
    EditHistory history;  // the document's history after the step
  };
  struct Run {
    PipelineWork work;
    std::size_t first = 0;  // number of steps whose results in the last run are reused
    EditHistory history;    // the document's history when the run began
    std::vector<StepOutcomePtr> outcomes;
    std::vector<DraftStep> steps;
    bool is_applying = false;
    QElapsedTimer since;
  };

  void apply_reproducer(const Reproduced& said);
  void run_until(std::size_t end);
  // The reason why a run of the steps before `end` would run none of them.
  [[nodiscard]] QString why_none_until(std::size_t end) const;
  void start(std::vector<DraftStep> steps, std::size_t first);
  void take(const StepDone& ended);
  void finish(const Result<void>& result);
  void apply(const QString& message, bool is_error);
  void handle_applied(const EditHistory& base, const std::vector<std::size_t>& edits_after,
                      const QStringList& refused, const QString& message, bool is_error);
  void end_run(const QString& message, bool is_error);
  void follow_draft();
  [[nodiscard]] std::vector<DraftStep> enabled() const;
  // The number of steps whose results the document shows; nullopt if the document is not at any of
  // their history entries, or if the options or sizes of its estimates have changed since the run.
  [[nodiscard]] std::optional<std::size_t> reached() const;
  // The number of leading steps that have not changed since the last run.
  [[nodiscard]] std::size_t unchanged() const;
  // The index of a step in the last run; nullopt if it did not run, or if it or an earlier step has
  // changed since.
  [[nodiscard]] std::optional<std::size_t> ran(std::size_t place) const;
  // The number of enabled steps that a run would skip because their results are up to date.
  [[nodiscard]] std::size_t base() const;
  [[nodiscard]] const EditHistory& history_after(std::size_t ran_count) const {
    return ran_count == 0 ? start_history_ : ran_[ran_count - 1].history;
  }
  void find_mistakes();
  [[nodiscard]] QString done_text() const;

  Document& document_;
  PassService& service_;
  PipelineDraft draft_;
  std::optional<std::int64_t> peak_limit_;
  std::vector<QString> mistakes_;  // by position
  std::vector<RanStep> ran_;       // in the order of execution
  EditHistory start_history_;      // the document's history before the first step
  std::shared_ptr<const Graph> start_graph_;
  SnapshotPtr start_estimates_;
  std::optional<StepFailure> failure_;
  std::unique_ptr<Run> run_;
  Task<void, StepDone> work_;          // the current run, until its steps have ended
  std::unique_ptr<QObject> applying_;  // set while the result is applied to the document
  QStringList printed_;                // lines printed by the running step
  QTimer tick_;
  QString message_;
  bool message_is_error_ = false;
};

// "not run", "off", "running", "done".
QString status_text(StepStatus status);

}  // namespace jointer::views
