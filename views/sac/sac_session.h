#pragma once

#include <QFutureWatcher>
#include <QObject>
#include <QString>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/edit/edit.h"
#include "views/sac/plan_reserved.h"
#include "views/sac/sac_solver.h"

namespace jointer::views {

class Document;

// What of a document's graph is saved, recomputed and offloaded, as it stands in the history: made
// on a working thread when somebody first asks, and anew whenever the document is another. What a
// person ticks is shown as soon as it is computed and becomes an edit of the document.
class SacSession : public QObject {
  Q_OBJECT
 public:
  // The document must outlive it.
  explicit SacSession(Document& document);
  ~SacSession() override;
  SacSession(const SacSession&) = delete;
  SacSession& operator=(const SacSession&) = delete;

  // From now on there is a state, or a problem: `changed` follows. After one, tries again.
  void start();
  [[nodiscard]] bool is_started() const { return is_started_; }
  // Null until it is made.
  [[nodiscard]] SacStatePtr state() const { return state_; }
  // Why there is no state, in a sentence; empty if there is one.
  [[nodiscard]] const QString& problem() const { return problem_; }
  // A state is being made.
  [[nodiscard]] bool is_working() const { return is_working_; }
  // Everything that was asked for is shown, in the document too.
  [[nodiscard]] bool is_settled() const;
  [[nodiscard]] Document& document() const { return document_; }
  // What the caching allocator would reserve for the state.
  [[nodiscard]] const PlanReserved& reserved() const { return reserved_; }

  // --- Asking: what would these come to? ---
  struct Preview {
    // Either of tensors, or of solving anew.
    std::vector<NodeId> nodes;
    std::optional<Keep> keep;
    std::optional<SacSolver::Wish> wish;
    std::optional<SolveSettings> settings;  // that were found for the wish
    bool fits = true;                       // what was wished for
    PlanOutcomePtr outcome;                 // null if it cannot be
    QString refusal;                        // why it cannot be; empty if it can
    bool is_to_be_done = false;             // and not only shown
  };
  // `previewed` follows; only the last one that was asked for is made.
  void preview(std::vector<NodeId> nodes, std::optional<Keep> keep);
  void preview_solving(const SacSolver::Wish& wish);
  void clear_preview();
  [[nodiscard]] const std::optional<Preview>& shown_preview() const { return preview_; }

  // Figures of another place in the history; `use` is told on this thread unless `context` is gone.
  // What has none is left out.
  void find_figures(const EditLine& line, QObject* context,
                    std::function<void(const PlanFigures&)> use);
  // Saved tensors that make the peak, the best to recompute first.
  [[nodiscard]] std::vector<NodeId> saved_at_peak() const;

  // --- Doing: each is one step that can be undone ---
  void set_keep(const std::vector<NodeId>& nodes, std::optional<Keep> keep);
  void solve(const SolveSettings& settings);
  // Looks for the budget first where a peak is wished for; refused if none fits.
  void solve_as_wished(const SacSolver::Wish& wish);
  // Tags of a list or a preset, and the plan that is solved under them; of a flat step tags alone.
  void apply_and_solve(Edit edit, const SolveSettings& settings);
  // The graph of a flat step becomes the one that is shown: its tags are carried out in it, as soon
  // as what was ticked is in the document. Refused, in a sentence, where there is nothing to do.
  void carry_out_tags();
  // A plan of min_cut's pair, as it is: every tensor where it differs gets a policy of its own.
  void take_plan(const SavePlan& plan, const QString& title);

  // What is asked for is given up; what is shown stays.
  void cancel();

 signals:
  // Another state is shown.
  void changed();
  void working_changed();
  void previewed();
  // What was asked for is not possible: a sentence.
  void refused(const QString& sentence);

 private:
  struct Answer {
    Result<SacStatePtr> state;
    bool is_complete = true;                      // the rows are of this state too
    PlanOutcomePtr outcome;                       // of what was only asked about
    std::optional<Preview> preview;               // the state is what it was asked of
    std::function<void(const PlanFigures&)> use;  // the state is of another place
  };
  void follow_document();
  void ask_state();
  void ask(Preview preview);
  void pump();
  static Answer answer_to(SacSolver& solver, const SacRequest& request, Preview preview);
  void take(const Answer& answer, const std::vector<PolicyTick>& ticks);
  void set_working(bool working);
  [[nodiscard]] SacRequest request() const;
  void do_tick(const PolicyTick& tick);
  void do_wish(const Preview& found);
  void start_carrying_out();
  void take_carried_out(const Result<Edit>& edit, const SnapshotPtr& of);

  Document& document_;
  std::shared_ptr<SacSolver> solver_ = std::make_shared<SacSolver>();
  SacStatePtr state_;
  PlanReserved reserved_;
  QString problem_;
  std::vector<PolicyTick> pending_;  // in the shown state, not yet in the document
  struct Question {
    SacRequest request;
    std::function<void(const PlanFigures&)> use;
  };
  std::vector<Question> questions_;
  std::vector<PolicyTick> asked_;  // waiting to be tried
  std::optional<Preview> wanted_preview_, preview_;
  bool is_to_be_carried_out_ = false;
  bool is_started_ = false, is_stale_ = false, is_working_ = false, is_running_ = false;
  std::size_t generation_ = 0;  // answers to older questions are not looked at
  std::size_t cleared_ = 0;     // answers about what nobody asks any more are not shown
};

}  // namespace jointer::views
