#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/edit/edit.h"
#include "views/session/sac/pareto_search.h"
#include "views/session/sac/plan_changes.h"
#include "views/session/sac/plan_ordered.h"
#include "views/session/sac/plan_reserved.h"
#include "views/session/sac/remembered_figures.h"
#include "views/session/sac/sac_solver.h"
#include "views/session/sac/step_tags.h"
#include "views/session/sac/value_reasons.h"
#include "views/session/work/latest_value.h"
#include "views/session/work/task.h"

namespace jointer::views {

class Editing;
class OpenGraph;

// The policies of a document's graph (save, recompute, offload) at the current position in the
// history. They are computed on a worker thread once `start` is called and whenever the document
// changes. The effect of a choice is shown as soon as it is computed; the choice then becomes an
// edit of the document.
class SacSession : public QObject {
  Q_OBJECT
 public:
  // Both arguments must outlive this object.
  SacSession(OpenGraph& open, Editing& editing);

  // Starts computing states; `changed` follows. Retries after an error.
  void start();
  [[nodiscard]] bool is_started() const { return is_started_; }
  // Null until the state is computed, and if it cannot be computed.
  [[nodiscard]] SacStatePtr state() const { return state_; }
  // The estimates of the plan at the current position in the history, in the plan's own order:
  // those of the state or, while that still belongs to another position, those remembered from an
  // earlier visit. Those of a plan with an order (SacState::order) are not remembered. nullopt
  // until they are known.
  [[nodiscard]] const std::optional<PlanFigures>& figures() const { return figures_; }
  // Why no state could be computed, in one sentence; otherwise empty.
  [[nodiscard]] const QString& problem() const { return problem_; }
  // Returns true while a state is being computed or tags are being applied.
  [[nodiscard]] bool is_working() const { return is_working_; }
  // Returns true if the state and the document reflect all requests.
  [[nodiscard]] bool is_settled() const;
  [[nodiscard]] OpenGraph& open_graph() const { return open_; }
  [[nodiscard]] Editing& editing() const { return editing_; }
  // The memory that the caching allocator would reserve under the state's plan.
  [[nodiscard]] const PlanReserved& reserved() const { return reserved_; }
  // The estimates of the state's plan in the order that a search found for it.
  [[nodiscard]] const PlanOrdered& ordered() const { return ordered_; }
  // The estimates of the state's plan in the order that a search found for it or, if there is none
  // or they are not known yet, in the plan's own order. Requires a state.
  [[nodiscard]] const Figures& figures_in_order() const {
    return ordered_.figures() ? ordered_.figures()->figures : state_->figures.figures;
  }
  // The compute time in that order. Requires a state.
  [[nodiscard]] std::int64_t compute_ns_in_order() const {
    return ordered_.figures() ? ordered_.figures()->compute_ns : state_->figures.compute_ns;
  }
  // The outcome of a flat training step's tags, also before the session is started.
  [[nodiscard]] StepTags& tags() { return tags_; }
  // The reasons for one tensor's policy, and its margin.
  [[nodiscard]] ValueReasons& value_reasons() { return value_reasons_; }
  // The estimates of the best pipeline that a search for orders and buckets found for the
  // document's graph; shown together with the plans.
  struct Tuned {
    Figures figures;
    std::optional<std::int64_t> reserved_bytes;  // nullopt if not known
    friend bool operator==(const Tuned&, const Tuned&) = default;
  };
  [[nodiscard]] const std::optional<Tuned>& tuned() const { return tuned_; }
  void set_tuned(const std::optional<Tuned>& tuned);
  // The search for plans within limits, shared by all panes.
  [[nodiscard]] ParetoSearch& pareto() { return pareto_; }

  // --- Previews ---
  struct Preview {
    // A preview is for either a policy of tensors (`nodes` and `action`) or a new plan
    // (`plan_request`).
    std::vector<NodeId> nodes;
    std::optional<PlanAction> action;
    std::optional<SacSolver::PlanRequest> plan_request;
    std::optional<SolveSettings> settings;     // settings to solve with; nullopt for a given plan
    std::optional<SavePlan> plan;              // the plan found, for a flat training step
    PlanOutcomePtr outcome;                    // in the plan's own order; null if impossible
    PlanOutcomePtr ordered;                    // in the order found for the plan; null until known
    std::shared_ptr<const BudgetTrial> trial;  // computes `ordered`; null if nothing found a plan
    QString refusal;                           // why it is impossible; otherwise empty
    bool is_to_be_done = false;                // to be applied, not only shown

    // Returns true if a search found the plan together with an order.
    [[nodiscard]] bool has_order() const {
      return plan_request && plan_request->fit && !plan_request->fit->point.order.empty();
    }
    // The outcome to show: that in the order found for the plan, once it is known.
    [[nodiscard]] const PlanOutcomePtr& shown() const { return ordered ? ordered : outcome; }
    // Names the outcome that `shown` returns: "preview, reordered", "preview, not reordered", or
    // "preview" if there is no order.
    [[nodiscard]] QString name() const;
  };
  // `previewed` follows; only the latest request is computed. It follows again when the order of
  // the previewed plan has been applied.
  void preview(std::vector<NodeId> nodes, std::optional<PlanAction> action) {
    ask({.nodes = std::move(nodes), .action = action});
  }
  void preview_solving(const SolveSettings& settings) {
    ask({.plan_request = SacSolver::PlanRequest{.settings = settings}});
  }
  // Previews a plan that a search found.
  void preview_fit(const Fit& fit);
  void clear_preview();
  [[nodiscard]] const std::optional<Preview>& shown_preview() const { return preview_; }

  // Computes the estimates of the plan after these edits, once the session is started, in the order
  // that a search found or, if there is none, in the plan's own order and without reserved bytes.
  // `use` is called on this thread, unless `context` is destroyed first. Error (usage): there is no
  // plan; (run): a pass failed; (cancelled): `cancel` was called.
  using UseOrdered = std::function<void(const Result<OrderedFigures>&)>;
  void find_ordered(const EditHistory& history, QObject* context, UseOrdered use);
  // Computes the memory that the caching allocator would reserve under the plan after these edits.
  // `use`: as for find_ordered.
  using UseReserved = std::function<void(const Result<std::int64_t>&)>;
  void find_reserved(const EditHistory& history, QObject* context, UseReserved use);
  // Compares the plans after two lists of edits, in their own orders or in the orders that a search
  // found for them. The latter runs the passes of these orders. `use`: as for find_ordered.
  enum class ComparedOrder : std::uint8_t { own, found };
  using UseChanges = std::function<void(const Result<PlanChangesPtr>&)>;
  void find_changes(const EditHistory& from, const EditHistory& to, QObject* context,
                    UseChanges use, ComparedOrder order = ComparedOrder::own);
  // The saved tensors that are live at the peak, the best candidates for recomputation first.
  [[nodiscard]] std::vector<NodeId> saved_at_peak() const;

  // --- Changes: edits of the document, or `refused` ---

  void set_action(const std::vector<NodeId>& nodes, std::optional<PlanAction> action);
  // Requests a new plan; in a flat training step, sets the tags of the plan for the budget.
  void solve(const SolveSettings& settings);
  // Sets the tags of a list or preset and solves with them. In a flat training step, only sets
  // them; if that would change no tags, emits `refused` and returns false.
  bool apply_and_solve(Edit edit, const SolveSettings& settings);
  // Once pending choices are in the document, applies the tags of a flat training step, so that the
  // graph becomes the step that is shown, and then runs the passes of its order. Adds one history
  // entry for the tags and one for each pass that changes the graph. Emits `refused` if there is
  // nothing to apply. Ignored for other graphs.
  void apply_tags();
  // Recomputes everything in the layers that these nodes are in, and saves what each layer reads
  // (core/policy/checkpoint.h). Emits `refused` if they are in no layer, or if nothing in these
  // layers can be recomputed.
  void checkpoint_layers(const std::vector<NodeId>& nodes);
  // Applies a plan for min_cut's pair, or for a flat training step: sets the policies that differ
  // from those in effect. `by`: the plan's origin as in Edit::by, possibly with an order
  // (searched_with); empty for the user. Emits `refused` if the plan is already in effect and has
  // no order.
  void apply_plan(const SavePlan& plan, const QString& title, std::string_view by = kSearch);

  // Cancels all requests, and keeps the shown state.
  void cancel();

 signals:
  // The shown state has changed.
  void changed();
  void figures_changed();
  void working_changed();
  void previewed();
  void tuned_changed();
  // The pipeline of `tuned` should be applied.
  void tuned_wanted();
  // A request was refused; `sentence` says why.
  void refused(const QString& sentence);

 private:
  struct Answer {
    Result<SacStatePtr> state;
    bool is_complete = true;         // the state's rows are also up to date
    std::optional<Preview> preview;  // the request that `state` answers
    std::function<void()> tell;      // delivers the answer to a question
  };
  // A query about other states of the document, which does not affect the shown state.
  struct Question {
    // Runs on a worker thread. The function that it returns delivers the answer on the session's
    // thread.
    std::function<std::function<void()>(SacSolver& solver)> answer;
    std::function<void(const Error& error)> fail;
  };
  // Makes a solver request for the graph after these edits, and calls `use` with it or an error.
  void make_request(const EditHistory& history, QObject* context,
                    std::function<void(const Result<SacRequest>&)> use);
  // Queries the solver about the graph after these edits.
  template <class T>
  void find(const EditHistory& history, QObject* context, std::function<void(const Result<T>&)> use,
            std::function<Result<T>(SacSolver& solver, const SacRequest& request)> answer);
  void ask(Question question);
  void answer_question();
  void follow_document();
  void ask_state();
  void ask(Preview preview);
  void pump();
  static Answer answer_to(SacSolver& solver, const SacRequest& request, Preview preview);
  [[nodiscard]] bool is_running() const { return answering_.is_running() || tagging_.is_running(); }
  void show(const Answer& answer, const std::optional<PolicyChoice>& choice);
  void follow_preview();
  void show_preview_order();
  void set_working(bool working);
  void set_figures(const std::optional<PlanFigures>& figures);
  [[nodiscard]] SacRequest request() const;
  void apply_choice(const PolicyChoice& choice);
  void apply_budget(const Preview& found);
  void start_applying_tags();
  void finish_applying_tags(const Result<std::vector<Edit>>& edits, const SnapshotPtr& of);

  OpenGraph& open_;
  Editing& editing_;
  std::shared_ptr<SacSolver> solver_ = std::make_shared<SacSolver>();  // used by `answering_`
  Task<Answer> answering_;  // at most one of the two tasks is running
  Task<std::vector<Edit>> tagging_;
  SacStatePtr state_;
  std::optional<PlanFigures> figures_;
  RememberedFigures remembered_;
  PlanReserved reserved_;
  PlanOrdered ordered_;
  StepTags tags_;
  ValueReasons value_reasons_;
  ParetoSearch pareto_;
  std::optional<Tuned> tuned_;
  QString problem_;
  std::vector<PolicyChoice> pending_;  // shown, but not yet in the document
  std::vector<Question> questions_;
  std::optional<Question> asking_;    // being answered
  std::vector<PolicyChoice> queued_;  // waiting to be tried
  std::optional<Preview> wanted_preview_, preview_;
  // A previewed plan and its order.
  struct OrderedTrial {
    std::shared_ptr<const BudgetTrial> trial;
    SavePlan plan;
    std::string order;
    friend bool operator==(const OrderedTrial&, const OrderedTrial&) = default;
  };
  LatestValue<OrderedTrial, PlanOutcomePtr> preview_order_;  // of `preview_`
  bool will_apply_tags_ = false;
  bool is_started_ = false, is_stale_ = false, is_working_ = false;
  std::size_t cleared_ = 0;  // answers to cleared previews are ignored
};

}  // namespace jointer::views
