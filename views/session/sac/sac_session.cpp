#include "views/session/sac/sac_session.h"

#include <QLocale>
#include <QPointer>
#include <algorithm>
#include <array>

#include "core/policy/checkpoint.h"
#include "core/policy/export.h"
#include "views/session/edit/editing.h"
#include "views/session/edit/policy_edit.h"
#include "views/session/open/open_graph.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {

namespace {

// Tags the values that a plan saves or offloads, although the plan is already in effect, so that
// there is a history entry for its order. The edit has no changes if none of them is a call.
Edit restated(const Graph& graph, const SavePlan& plan) {
  Edit edit;
  const auto add = [&](const std::vector<NodeId>& nodes, PlanAction action) {
    std::vector<std::string> names;
    for (const NodeId node : nodes)
      if (graph.node(node).kind == NodeKind::call) names.push_back(edit_name(graph, node));
    if (!names.empty())
      edit.changes.emplace_back(SetPolicy{.policy = policy_of(action), .nodes = std::move(names)});
  };
  add(plan.saved, PlanAction::save);
  add(plan.offloaded, PlanAction::offload);
  return edit;
}

// Returns false if the plan is for an earlier graph, which had other nodes.
bool has_nodes_of(const OpenGraph& open, const SavePlan& plan) {
  const auto exists = [&](NodeId node) { return open.has(node); };
  return std::ranges::all_of(plan.saved, exists) && std::ranges::all_of(plan.offloaded, exists);
}

}  // namespace

SacSession::SacSession(OpenGraph& open, Editing& editing)
    : open_(open),
      editing_(editing),
      preview_order_([](const OrderedTrial& of) { return of.trial->ordered(of.plan, of.order); },
                     [this] { show_preview_order(); }) {
  connect(&open_, &OpenGraph::changed, this, &SacSession::follow_document);
  connect(this, &SacSession::changed, &reserved_, [this] { reserved_.follow(state_); });
  connect(this, &SacSession::changed, &ordered_, [this] { ordered_.follow(state_); });
  // The choices of a refused edit are dropped, so remove them from the shown state.
  connect(&editing_, &Editing::refused, this, &SacSession::follow_document);
  connect(&editing_, &Editing::applied_all, this, [this](int count) {
    if (count == 0) follow_document();
  });
}

void SacSession::start() {
  if (is_started_ && (state_ || is_running())) return;
  is_started_ = true;
  ask_state();
}

bool SacSession::is_settled() const {
  return !is_running() && !is_stale_ && queued_.empty() && questions_.empty() && pending_.empty() &&
         !wanted_preview_ && !will_apply_tags_ && editing_.is_settled();
}

SacRequest SacSession::request() const {
  return {.now = open_.shared_snapshot(),
          .baseline = open_.baseline(),
          .history = editing_.edit_history(),
          .choices = pending_};
}

void SacSession::follow_document() {
  // While edits are pending, wait for the last of them.
  if (!is_started_ || !editing_.is_settled()) return;
  // The shown state already includes pending choices.
  if (pending_.empty()) set_figures(remembered_.find(open_.baseline(), editing_.edit_history()));
  pending_.clear();
  ask_state();
}

void SacSession::set_figures(const std::optional<PlanFigures>& figures) {
  figures_ = figures;
  emit figures_changed();
}

void SacSession::ask_state() {
  is_stale_ = true;
  pump();
}

void SacSession::set_working(bool working) {
  if (std::exchange(is_working_, working) == working) return;
  emit working_changed();
}

void SacSession::cancel() {
  answering_.cancel();
  tagging_.cancel();
  is_stale_ = false;
  will_apply_tags_ = false;
  queued_.clear();
  wanted_preview_.reset();
  std::vector<Question> unanswered = std::exchange(questions_, {});
  if (asking_) unanswered.insert(unanswered.begin(), *std::exchange(asking_, std::nullopt));
  // A worker thread may still be using the old solver.
  solver_ = std::make_shared<SacSolver>();
  if (!state_) {
    problem_ = tr("Cancelled.");
    emit changed();
  }
  set_working(false);
  for (const Question& each : unanswered)
    each.fail({Error::Kind::cancelled, "the evaluation was cancelled"});
}

// Handles one request at a time: the state first, then choices, previews and questions.
void SacSession::pump() {
  if (is_running()) return;
  // Without a plan that can change, there is nothing to preview or to apply.
  if (!is_stale_ && queued_.empty() && !(state_ && state_->can_change())) {
    wanted_preview_.reset();
    will_apply_tags_ = false;
  }
  if (will_apply_tags_ && !is_stale_ && queued_.empty() && pending_.empty() &&
      editing_.is_settled())
    return start_applying_tags();
  SacRequest request = this->request();
  std::optional<Preview> preview;
  std::optional<PolicyChoice> choice;
  // The document may have changed since the other requests, so the state comes first.
  if (is_stale_) {
    is_stale_ = false;
    set_working(true);
  } else if (!queued_.empty()) {
    choice = std::move(queued_.front());
    queued_.erase(queued_.begin());
    choice->nodes = open_.existing(std::move(choice->nodes));
    if (choice->nodes.empty()) return pump();
    request.choices.push_back(*choice);
    set_working(true);
  } else if (wanted_preview_) {
    preview = std::exchange(wanted_preview_, std::nullopt);
    const bool has_nodes = !preview->nodes.empty();
    preview->nodes = open_.existing(std::move(preview->nodes));
    if (has_nodes && preview->nodes.empty()) return pump();
    const auto& wanted = preview->plan_request;
    if (wanted && wanted->fit && !has_nodes_of(open_, wanted->fit->point.plan)) return pump();
    if (!wanted)
      request.choices.push_back(
          {nodes_to_tag(*state_, preview->nodes, preview->action), preview->action});
  } else if (!questions_.empty()) {
    set_working(false);
    return answer_question();
  } else {
    return set_working(false);
  }
  const auto make = [solver = solver_, request, preview, has_choice = choice.has_value(),
                     shown = state_] {
    Answer answer{.state = SacStatePtr(), .preview = preview};
    if (preview) {
      answer = answer_to(*solver, request, *preview);
    } else if (has_choice && shown) {
      auto quick_state = solver->quick_state(request, *shown);
      answer.is_complete = !quick_state || quick_state->is_complete;
      answer.state = std::move(quick_state).map([](auto&& made) { return made.state; });
    } else {
      answer.state = solver->state(request);
    }
    return answer;
  };
  answering_.start(make, [this, choice, preview, cleared = cleared_](Result<Answer> made) {
    Answer answer{.state = SacStatePtr(), .preview = preview};
    if (made) {
      answer = *std::move(made);
    } else {
      answer.state = tl::unexpected(made.error());
      if (preview) answer.preview->refusal = to_qstring(made.error().message);
    }
    if (!preview || preview->is_to_be_done || cleared == cleared_) show(answer, choice);
    pump();
  });
}

void SacSession::answer_question() {
  asking_ = std::move(questions_.front());
  questions_.erase(questions_.begin());
  const auto make = [solver = solver_, answer = asking_->answer] {
    return Answer{.state = SacStatePtr(), .tell = answer(*solver)};
  };
  answering_.start(make, [this](const Result<Answer>& made) {
    const Question asked = *std::exchange(asking_, std::nullopt);
    if (made)
      made->tell();
    else
      asked.fail(made.error());
    pump();
  });
}

SacSession::Answer SacSession::answer_to(SacSolver& solver, const SacRequest& request,
                                         Preview preview) {
  if (!preview.plan_request) {
    if (auto outcome = solver.outcome(request))
      preview.outcome = *std::move(outcome);
    else
      preview.refusal = to_qstring(outcome.error().message);
  } else if (auto trial = solver.try_solving(request, *preview.plan_request)) {
    if (!preview.plan_request->fit) preview.settings = trial->settings;
    preview.plan = std::move(trial->plan);
    preview.outcome = std::move(trial->outcome);
    preview.trial = std::move(trial->trial);
  } else {
    preview.refusal = to_qstring(trial.error().message);
  }
  return {.state = SacStatePtr(), .preview = std::move(preview)};
}

void SacSession::show(const Answer& answer, const std::optional<PolicyChoice>& choice) {
  if (answer.preview) {
    // The plan is for an earlier graph, so it must not be applied. Solve again for the current one.
    if (is_stale_ && answer.preview->is_to_be_done) {
      if (!wanted_preview_ || !wanted_preview_->is_to_be_done)
        wanted_preview_ =
            Preview{.plan_request = answer.preview->plan_request, .is_to_be_done = true};
      return;
    }
    preview_ = answer.preview;
    follow_preview();
    emit previewed();
    if (preview_ && preview_->is_to_be_done) apply_budget(*preview_);
    return;
  }
  // The document has changed, so the result is outdated. Try a choice again in the new state.
  if (is_stale_) {
    if (choice) queued_.insert(queued_.begin(), *choice);
    return;
  }
  const QString mistake = answer.state ? QString() : to_qstring(answer.state.error().message);
  if (!answer.state && choice) {
    emit refused(mistake);
    return;
  }
  problem_ = mistake;
  state_ = answer.state ? *answer.state : nullptr;
  set_figures(state_ ? std::optional(state_->figures) : std::nullopt);
  // The estimates in the order found for a plan are known only later.
  if (state_ && state_->order.empty() && !choice && pending_.empty())
    remembered_.add(open_.baseline(), editing_.edit_history(), state_->figures);
  if (choice) apply_choice(*choice);
  if (!answer.is_complete) is_stale_ = true;  // compute the rows next
  if (preview_) {
    preview_.reset();
    follow_preview();
    emit previewed();
  }
  preview_order_.forget();  // later previews are of other graphs
  emit changed();
}

QString SacSession::Preview::name() const {
  if (!has_order()) return SacSession::tr("preview");
  return ordered ? SacSession::tr("preview, reordered") : SacSession::tr("preview, not reordered");
}

// Starts computing the outcome of the preview in the order found for its plan, unless it is cached.
void SacSession::follow_preview() {
  std::optional<OrderedTrial> key;
  if (preview_ && preview_->outcome && preview_->trial && preview_->has_order()) {
    const ParetoPoint& point = preview_->plan_request->fit->point;
    key = OrderedTrial{preview_->trial, point.plan, point.order};
  }
  preview_order_.follow(std::move(key));
  if (preview_order_.value()) preview_->ordered = *preview_order_.value();
}

void SacSession::show_preview_order() {
  if (!preview_ || !preview_order_.value()) return;
  preview_->ordered = *preview_order_.value();
  emit previewed();
}

void SacSession::apply_choice(const PolicyChoice& choice) {
  pending_.push_back(choice);
  const Snapshot& snapshot = open_.snapshot();
  editing_.apply(policy_edit(snapshot.graph, snapshot.analysis.modules, choice.nodes,
                             PolicyScope::nodes, policy_of(choice.action)));
}

// --- Requests ---

void SacSession::make_request(const EditHistory& history, QObject* context,
                              std::function<void(const Result<SacRequest>&)> use) {
  editing_.make_state(
      history, context,
      [this, history, context, use, baseline = open_.baseline()](const Result<SnapshotPtr>& made) {
        if (!made) return use(tl::unexpected(made.error()));
        // The estimates have changed in the meantime, so start over.
        if (baseline != open_.baseline()) return make_request(history, context, use);
        use(SacRequest{.now = *made, .baseline = baseline, .history = history});
      });
}

void SacSession::ask(Question question) {
  questions_.push_back(std::move(question));
  if (is_started_) pump();
}

template <class T>
void SacSession::find(
    const EditHistory& history, QObject* context, std::function<void(const Result<T>&)> use,
    std::function<Result<T>(SacSolver& solver, const SacRequest& request)> answer) {
  const std::function<void(const Result<T>&)> tell =
      [use = std::move(use), context = QPointer(context)](const Result<T>& found) {
        if (context) use(found);
      };
  make_request(history, context,
               [this, tell, answer = std::move(answer)](const Result<SacRequest>& request) {
                 if (!request) return tell(tl::unexpected(request.error()));
                 const auto ask_solver = [tell, answer, request = *request](SacSolver& solver) {
                   return [tell, found = answer(solver, request)] { tell(found); };
                 };
                 ask({.answer = ask_solver,
                      .fail = [tell](const Error& error) { tell(tl::unexpected(error)); }});
               });
}

void SacSession::find_reserved(const EditHistory& history, QObject* context, UseReserved use) {
  find<std::int64_t>(
      history, context, std::move(use),
      [](SacSolver& solver, const SacRequest& request) { return solver.reserved_bytes(request); });
}

void SacSession::find_ordered(const EditHistory& history, QObject* context, UseOrdered use) {
  find<OrderedFigures>(
      history, context, std::move(use),
      [](SacSolver& solver, const SacRequest& request) { return solver.ordered(request); });
}

void SacSession::find_changes(const EditHistory& from, const EditHistory& to, QObject* context,
                              UseChanges use, ComparedOrder order) {
  const UseChanges tell = [use = std::move(use), context = QPointer(context)](const auto& found) {
    if (context) use(found);
  };
  make_request(from, context, [=, this](const Result<SacRequest>& before) {
    if (!before) return tell(tl::unexpected(before.error()));
    make_request(to, context, [=, this, before = *before](const Result<SacRequest>& after) {
      if (!after) return tell(tl::unexpected(after.error()));
      const auto answer = [tell, order, before, after = *after](SacSolver& solver) {
        const auto compare = [&]() -> Result<PlanChangesPtr> {
          JOINTER_TRY(const SacStatePtr was, solver.state(before));
          JOINTER_TRY(const SacStatePtr is, solver.state(after));
          if (order == ComparedOrder::found) return changes_in_order(*was, *is);
          return changes_between(*was, *is);
        };
        return [tell, found = compare()] { tell(found); };
      };
      ask({.answer = answer, .fail = [tell](const Error& error) { tell(tl::unexpected(error)); }});
    });
  });
}

std::vector<NodeId> SacSession::saved_at_peak() const {
  std::vector<NodeId> nodes;
  if (!state_ || !state_->can_change()) return nodes;
  if (state_->is_step()) return state_->applied_tags.saved_at_peak;
  const auto peak = std::max_element(state_->profile.begin(), state_->profile.end());
  const auto saved = state_->base->what_if->saved_at(
      state_->plan, static_cast<std::size_t>(peak - state_->profile.begin()));
  if (!saved) return nodes;
  for (const SaveCandidate& candidate : *saved) nodes.push_back(candidate.node);
  return nodes;
}

void SacSession::set_tuned(const std::optional<Tuned>& tuned) {
  if (std::exchange(tuned_, tuned) == tuned) return;
  emit tuned_changed();
}

void SacSession::ask(Preview preview) {
  // A hover preview must not replace a request to apply a change.
  if (wanted_preview_ && wanted_preview_->is_to_be_done && !preview.is_to_be_done) return;
  wanted_preview_ = std::move(preview);
  pump();
}

// Uses the settings with which the state's plan was solved, as the search does.
void SacSession::preview_fit(const Fit& fit) {
  if (!state_ || !state_->can_change()) return;
  SolveSettings settings = state_->settings();
  settings.partitioner = Partitioner::min_cut;
  ask({.plan_request = SacSolver::PlanRequest{.settings = settings, .fit = fit}});
}

void SacSession::clear_preview() {
  ++cleared_;
  if (wanted_preview_ && !wanted_preview_->is_to_be_done) wanted_preview_.reset();
  if (!preview_) return;
  preview_.reset();
  follow_preview();
  emit previewed();
}

void SacSession::set_action(const std::vector<NodeId>& nodes, std::optional<PlanAction> action) {
  if (!state_ || !state_->can_change()) return;
  std::vector<NodeId> there;
  for (const NodeId node : nodes)
    if (open_.has(node) && open_.graph().node(node).kind == NodeKind::call) there.push_back(node);
  if (there.empty())
    return emit refused(tr("Only calls have a policy; graph inputs are always available."));
  there = nodes_to_tag(*state_, there, action);
  if (there.empty())
    return emit refused(nodes.size() == 1
                            ? tr("The tag of %1 has already been applied. Undo that first, or open "
                                 "the original training step.")
                                  .arg(to_qstring(open_.graph().name(nodes.front())))
                            : tr("The tags of the selection have already been applied. Undo that "
                                 "first, or open the original training step."));
  wanted_preview_.reset();
  queued_.push_back({std::move(there), action});
  pump();
}

void SacSession::solve(const SolveSettings& settings) {
  if (!state_ || !state_->is_step()) return editing_.apply(solve_edit(settings));
  ask({.plan_request = SacSolver::PlanRequest{.settings = settings}, .is_to_be_done = true});
}

// Applies a plan found for a budget to a flat training step. For a joint graph, `solve` adds an
// edit that requests a plan instead.
void SacSession::apply_budget(const Preview& found) {
  if (!found.plan) return emit refused(found.refusal);
  apply_plan(*found.plan,
             tr("Activation budget %1")
                 .arg(found.settings->activation_budget, 0, 'g', QLocale::FloatingPointShortest));
}

bool SacSession::apply_and_solve(Edit edit, const SolveSettings& settings) {
  if (!state_ || !state_->is_step()) {
    editing_.apply(with_solve(std::move(edit), settings));
    return true;
  }
  if (edit.changes.empty()) {
    emit refused(tr("No tags would change: the training step already has the requested ones."));
    return false;
  }
  editing_.apply(edit);
  return true;
}

void SacSession::apply_tags() {
  if (!state_ || !state_->is_step()) return;
  will_apply_tags_ = true;
  pump();
}

void SacSession::start_applying_tags() {
  will_apply_tags_ = false;
  set_working(true);
  const SnapshotPtr of = open_.shared_snapshot();
  tagging_.start([of, order = state_->order] { return ordered_tags(*of, order); },
                 [this, of](const Result<std::vector<Edit>>& edits) {
                   finish_applying_tags(edits, of);
                   pump();
                 });
}

void SacSession::finish_applying_tags(const Result<std::vector<Edit>>& edits,
                                      const SnapshotPtr& of) {
  if (!edits) return emit refused(to_qstring(edits.error().message));
  // These edits are for the graph `of`. If the document has changed since, or is changing, drop
  // them and compute them again once its own edits are done.
  if (open_.shared_snapshot() != of || !editing_.is_settled())
    will_apply_tags_ = true;
  else if (edits->empty())
    emit refused(tr("There are no tags to apply."));
  else if (edits->size() == 1)
    editing_.apply(edits->front());
  else
    editing_.apply_all_from(editing_.place(), *edits);
}

void SacSession::checkpoint_layers(const std::vector<NodeId>& nodes) {
  if (!state_ || !state_->can_change()) return;
  const Graph& graph =
      state_->is_step() ? state_->step->snapshot->graph : state_->base->partition.joint;
  const std::vector<std::vector<NodeId>> layers = calls_of_layers(graph, nodes);
  if (layers.empty())
    return emit refused(nodes.empty() ? tr("First select a tensor in a layer.")
                                      : tr("The selection is not in a layer."));
  const auto change = checkpoint(graph, *state_->what_if(), state_->plan, layers);
  if (!change) return emit refused(to_qstring(change.error().message));
  apply_plan(change->plan,
             counted_text(layers.size(), tr("Checkpoint 1 layer"), tr("Checkpoint %1 layers")), {});
}

void SacSession::apply_plan(const SavePlan& plan, const QString& title, std::string_view by) {
  if (!state_ || !state_->can_change()) return;
  if (!has_nodes_of(open_, plan))
    return emit refused(
        tr("The plan is for an earlier graph, which had other nodes. Search again."));
  const Graph& graph = open_.graph();
  const bool is_step = state_->is_step();
  if (is_step || state_->base->settings.partitioner != Partitioner::min_cut) {
    auto edit = tag_as_planned(graph, plan);
    if (!edit) return emit refused(to_qstring(edit.error().message));
    if (is_step && edit->changes.empty() && !order_of(by).empty()) *edit = restated(graph, plan);
    if (is_step && edit->changes.empty())
      return emit refused(tr("The training step already has this plan."));
    edit->title = title.toStdString();
    edit->by = by;
    // The plan is for min_cut's pair, so also request min_cut as the partitioner.
    if (is_step) return editing_.apply(*edit);
    apply_and_solve(*std::move(edit), {});
    return;
  }
  std::vector<PlanAction> wanted(graph.node_count(), PlanAction::recompute);
  for (const NodeId node : plan.saved) wanted[node.index()] = PlanAction::save;
  for (const NodeId node : plan.offloaded) wanted[node.index()] = PlanAction::offload;
  std::array<std::vector<std::string>, 3> names;  // by PlanAction: the nodes that get this policy
  for (const NodeId node : graph.order()) {
    const PlanAction action = wanted[node.index()];
    const SacTensor* tensor = state_->tensor_of(node);
    if (graph.node(node).kind != NodeKind::call ||
        action == (tensor == nullptr ? PlanAction::recompute : tensor->action))
      continue;
    names[static_cast<std::size_t>(action)].push_back(edit_name(graph, node));
  }
  Edit edit;
  for (const PlanAction action : {PlanAction::recompute, PlanAction::save, PlanAction::offload})
    if (auto& nodes = names[static_cast<std::size_t>(action)]; !nodes.empty())
      edit.changes.emplace_back(SetPolicy{.policy = policy_of(action), .nodes = std::move(nodes)});
  if (edit.changes.empty() && !order_of(by).empty()) edit = restated(graph, plan);
  if (edit.changes.empty()) return emit refused(tr("The joint graph already has this plan."));
  edit.title = title.toStdString();
  edit.by = by;
  editing_.apply(edit);
}

}  // namespace jointer::views
