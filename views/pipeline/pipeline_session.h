#pragma once

#include <QElapsedTimer>
#include <QFutureWatcher>
#include <QObject>
#include <QString>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "views/document/document.h"
#include "views/edit/edit_line.h"
#include "views/pipeline/pass_service.h"
#include "views/pipeline/pipeline_draft.h"
#include "views/pipeline/pipeline_work.h"

namespace jointer::views {

enum class StepStatus : std::uint8_t {
  idle,      // has not run
  disabled,  // is in the list and does not run
  wrong,     // cannot run: its mistake says why
  waiting,   // runs later in the run under way
  running,
  done,      // what it did is in the document, or in the graph that follows from it
  undone,    // it ran, and the document is elsewhere in its history
  outdated,  // it ran, and it or a step before it was changed since
  failed,
};

// The pipeline of one document: the draft, what is wrong with it, runs of its steps on a working
// thread, and what each step did. What a run did becomes one edit a step, by its name, once the run
// ends; a step that makes another graph (a pair) has none, and later steps go on with that graph.
//
// A run goes on from where the document is: after the last step that the document shows and that is
// as it was when it ran, else from the start of the last run, else from the graph as it is.
class PipelineSession : public QObject {
  Q_OBJECT
 public:
  // Owned by the document. The service must outlive it.
  PipelineSession(Document& document, PassService& service);
  ~PipelineSession() override;
  PipelineSession(const PipelineSession&) = delete;
  PipelineSession& operator=(const PipelineSession&) = delete;

  [[nodiscard]] Document& document() const { return document_; }
  [[nodiscard]] PassService& service() const { return service_; }
  [[nodiscard]] PipelineDraft& draft() { return draft_; }
  [[nodiscard]] const PipelineDraft& draft() const { return draft_; }

  // --- Looking ---
  [[nodiscard]] StepStatus status(std::size_t place) const;
  // Why the step cannot run, in a sentence; empty if it can.
  [[nodiscard]] QString mistake(std::size_t place) const;
  // Why nothing can run now; empty if it can.
  [[nodiscard]] QString why_not() const;
  // The next step that would run, nothing if all have.
  [[nodiscard]] std::optional<std::size_t> next() const;
  // Of the last time that it ran; null if it never did.
  [[nodiscard]] StepOutcomePtr outcome(std::size_t place) const;
  [[nodiscard]] const StepFailure* failure(std::size_t place) const;
  // The places in the history before and after a step that is done or undone.
  struct Lines {
    EditLine before, after;
  };
  [[nodiscard]] std::optional<Lines> lines(std::size_t place) const;

  // --- What steps keep within ---
  // Bytes of peak memory, for passes that can keep within it; none: no limit. Steps that ran with
  // another one are outdated.
  [[nodiscard]] std::optional<std::int64_t> peak_limit() const { return peak_limit_; }
  void set_peak_limit(std::optional<std::int64_t> bytes);

  // --- The run under way ---
  [[nodiscard]] bool is_running() const { return run_ != nullptr; }
  // Nothing is under way, and the document shows what was done.
  [[nodiscard]] bool is_settled() const;
  struct Progress {
    std::size_t place = 0;            // of the step that runs
    std::size_t done = 0, count = 0;  // steps of the run
    double of_step = 0;               // 0 .. 1; 0 as long as it says nothing
    qint64 elapsed_ms = 0;
    bool is_applying = false;  // the steps are done, the document follows
  };
  [[nodiscard]] std::optional<Progress> progress() const;
  // What is to be said of the last run, in a sentence.
  [[nodiscard]] const QString& message() const { return message_; }
  [[nodiscard]] bool message_is_error() const { return message_is_error_; }
  void say(const QString& sentence, bool is_error = false);

 public slots:
  // Each does nothing but `asks` while code of others is not allowed, or `say` why not.
  void run() { run_until(draft_.size()); }
  void run_next();
  // Up to and with the step at that place.
  void run_to(int place) { run_until(static_cast<std::size_t>(place) + 1); }
  // What is under way is given up at once; steps that were done stay.
  void cancel();
  // The document goes back to before the first step.
  void start_over();
  // The graph after the step, and the steps that follow it as edits, as files of their own;
  // `graph_made` follows.
  void open_graph(int place);

 signals:
  // The draft, what is wrong with it, a status or an outcome.
  void changed();
  void progressed();
  void message_changed();
  // Code of others has to be allowed before this can run; `then` goes on once it is.
  void asks(const QList<jointer::views::ForeignCode>& code, const std::function<void()>& then);
  // A step ended, well or not.
  void step_ended(quint64 step);
  // No edit leads to it: a capture, and a recipe for it where steps follow, or an empty path.
  void graph_made(const QString& capture, const QString& recipe);

 private:
  // A step that the last run did.
  struct RanStep {
    PipelineStep step;
    std::optional<std::int64_t> peak_limit;  // that it was told to keep within
    StepOutcomePtr outcome;
    EditLine line;  // of the document after it
  };
  struct Run {
    PipelineWork work;
    std::size_t first = 0;  // how many steps of the last run it goes on from
    EditLine line;          // of the document when it began
    std::vector<StepOutcomePtr> outcomes;
    std::vector<DraftStep> steps;
    bool is_applying = false;
    QElapsedTimer since;
    QFutureWatcher<StepDone>* watcher = nullptr;  // until the steps have ended
  };

  void take_reproducer(const Reproduced& said);
  void run_until(std::size_t end);
  void start(std::vector<DraftStep> steps, std::size_t first);
  void take(int index);
  void drop_watcher();
  void finish();
  void apply(const QString& message, bool is_error);
  void take_applied(const EditLine& base, const std::vector<std::size_t>& edits_after,
                    const QStringList& refused, const QString& message, bool is_error);
  void end_run(const QString& message, bool is_error);
  void follow_draft();
  [[nodiscard]] std::vector<DraftStep> enabled() const;
  // How many of the steps that ran lead to the document as it is; nothing: none of them do.
  [[nodiscard]] std::optional<std::size_t> reached() const;
  // How many of them, from the first, are as they were.
  [[nodiscard]] std::size_t unchanged() const;
  // Which of the steps that ran it is, as long as nothing before it was changed.
  [[nodiscard]] std::optional<std::size_t> ran(std::size_t place) const;
  // How many of the enabled steps a run would go on from.
  [[nodiscard]] std::size_t base() const;
  [[nodiscard]] const EditLine& line_after(std::size_t ran_count) const;
  [[nodiscard]] std::optional<int> place_of(const EditLine& line) const;
  void find_mistakes();
  [[nodiscard]] QString done_text() const;

  Document& document_;
  PassService& service_;
  PipelineDraft draft_;
  std::optional<std::int64_t> peak_limit_;
  std::vector<QString> mistakes_;  // by place
  std::vector<RanStep> ran_;       // in the order that they ran
  EditLine start_line_;            // of the document before the first of them
  std::shared_ptr<const Graph> start_graph_;
  SnapshotPtr start_estimates_;
  std::optional<StepFailure> failure_;
  std::unique_ptr<Run> run_;
  std::unique_ptr<QObject> applying_;  // while the document takes what was done
  QStringList printed_;                // by the step that runs
  QTimer tick_;
  QString message_;
  bool message_is_error_ = false;
};

// "not run", "off", "running", "done".
QString status_text(StepStatus status);

}  // namespace jointer::views
