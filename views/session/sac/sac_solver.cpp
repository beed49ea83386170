// Computes the states of a document.
//
// A state is a function of the edit history. The last edit that solves (solve_settings.h)
// determines the base plan: it is made for the current graph with the policies at that edit.
// Without such an edit, the base is min_cut's plan with the policies of the graph as opened.
// Policies set later are applied to the base plan all at once, so that the order of choices does
// not matter and undo restores the previous state (PlanWhatIf::apply_policies). A flat training
// step has no base plan; its state is the step with its tags applied (step_state.h).
//
// A few bases and many states are cached, so that moving through the history does not compute them
// again. A cached state costs a copy of its rows. A new state costs one PlanWhatIf plan, in two
// parts: estimates and curve, which are shown immediately, and the recomputation cost of each
// tensor. A new base costs a partition.

#include "views/session/sac/sac_solver.h"

#include <algorithm>

#include "core/policy/with_fsdp.h"
#include "views/session/sac/plan_edits.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMaxBases = 4, kMaxStates = 48, kMaxReserved = 48;

bool is_by_search(std::string_view by) {
  return decider_of(by) == Decider::search;
}

EditHistory edits_of_calls(EditHistory edits) {
  std::erase_if(edits, [](const DoneEditPtr& done) { return sets_policies_only(done->edit); });
  return edits;
}

EditHistory edits_without_plans(EditHistory edits) {
  std::erase_if(edits, [](const DoneEditPtr& done) { return is_by_search(done->edit.by); });
  return edits;
}

// `trail`: the policies set by edits other than a search's.
void set_own_policies(SacState& state, const SacRequest& request, const PolicyTrail& trail) {
  state.own_policies = trail.policies;
  for (std::size_t i = 0; i < trail.edits.size(); ++i)
    state.has_own_policies |= trail.edits[i] >= 0 && trail.policies[i] != MemoryPolicy::none;
  for (const PolicyChoice& choice : request.choices)
    for (const NodeId node : choice.nodes) {
      state.own_policies[node.index()] = policy_of(choice.action);
      state.has_own_policies |= choice.action.has_value();
    }
}

std::vector<std::int8_t> action_by_node(const Graph& graph,
                                        const std::vector<SaveCandidate>& candidates) {
  std::vector<std::int8_t> actions(graph.node_count(), -1);
  for (const SaveCandidate& c : candidates)
    actions[c.node.index()] = static_cast<std::int8_t>(c.action);
  return actions;
}

Result<SacBasePtr> make_base(const SnapshotPtr& snapshot, std::vector<MemoryPolicy> policies,
                             MemoryPolicy fsdp, const SolveSettings& settings) {
  Graph graph = snapshot->graph;
  for (std::size_t i = 0; i < policies.size(); ++i) graph.node(NodeId(i)).policy = policies[i];
  auto base = std::make_shared<SacBase>();
  base->snapshot = snapshot;
  base->settings = settings;
  base->policies = std::move(policies);
  base->fsdp = fsdp;
  JOINTER_TRY(base->partition, partition(graph, options_of(settings)));
  const Analysis& analysis = snapshot->analysis;
  const Graph& joint = base->partition.joint;
  auto what_if = std::make_unique<PlanWhatIf>(
      joint, analysis.costs_of_operators(), analysis.flops, analysis.options.memory,
      analysis.options.simulation,
      PlanWhatIfOptions{.transfers = analysis.transfers, .partitioner = settings.partitioner});
  const SavePlan& plan = base->partition.plan;
  JOINTER_TRY(PlanWhatIf::Outcome outcome, what_if->evaluate(plan));
  static_cast<PlanOutcome&>(*base) = place(std::move(outcome), analysis.memory);
  JOINTER_TRY(base->candidates, what_if->candidates(plan));
  base->actions = action_by_node(joint, base->candidates);
  base->what_if = std::move(what_if);
  return SacBasePtr(std::move(base));
}

SacTensor tensor_of(const SaveCandidate& candidate) {
  return {.node = candidate.node,
          .bytes = candidate.bytes,
          .recompute_ns = candidate.recompute_ns,
          .recompute_flops = candidate.recompute_flops,
          .chain = candidate.chain,
          .action = candidate.action};
}

// Adds a row for each tensor. Tensors that are no longer needed because of later choices keep their
// rows.
void add_tensors(SacState& state, const std::vector<SaveCandidate>& candidates) {
  const SacBase& base = *state.base;
  const Graph& joint = base.partition.joint;
  state.tensor_by_node.assign(joint.node_count(), -1);
  state.tensors.reserve(candidates.size());
  for (const SaveCandidate& candidate : candidates) {
    state.tensor_by_node[candidate.node.index()] = 0;
    state.tensors.push_back(tensor_of(candidate));
  }
  for (const SaveCandidate& candidate : base.candidates) {
    if (state.tensor_by_node[candidate.node.index()] >= 0) continue;
    SacTensor tensor = tensor_of(candidate);
    tensor.action = PlanAction::recompute;
    tensor.is_needed = false;
    tensor.bytes = tensor.recompute_ns = tensor.recompute_flops = 0;
    state.tensors.push_back(tensor);
  }
  std::ranges::sort(state.tensors, {},
                    [&](const SacTensor& each) { return joint.position(each.node); });
  for (std::size_t i = 0; i < state.tensors.size(); ++i)
    state.tensor_by_node[state.tensors[i].node.index()] = static_cast<std::int32_t>(i);
}

// Computes the plan, the estimates and the curve under these policies, but not the rows.
Result<std::shared_ptr<SacState>> lay(const SacBasePtr& base,
                                      const std::vector<MemoryPolicy>& policies) {
  auto state = std::make_shared<SacState>();
  state->kind = SacKind::joint;
  state->base = base;
  JOINTER_TRY(PlanChange change,
              base->what_if->apply_policies(base->partition.plan, base->policies, policies));
  state->plan = std::move(change.plan);
  state->refused = std::move(change.refused);
  if (state->plan == base->partition.plan) {
    static_cast<PlanOutcome&>(*state) = *base;
    return state;
  }
  JOINTER_TRY(PlanWhatIf::Outcome outcome, base->what_if->evaluate(state->plan));
  static_cast<PlanOutcome&>(*state) = place(std::move(outcome), base->snapshot->analysis.memory);
  return state;
}

std::vector<MemoryPolicy> policies_asked(const SacRequest& request) {
  std::vector<MemoryPolicy> policies = policies_of(request.now->graph);
  for (const PolicyChoice& choice : request.choices)
    for (const NodeId node : choice.nodes) policies[node.index()] = policy_of(choice.action);
  return policies;
}

// Fails if no part of the choice is possible.
Result<void> is_done(const SacState& state, const PolicyChoice& choice) {
  if (!choice.action) return {};
  const PlanChange::Note* refusal = nullptr;
  for (const NodeId node : choice.nodes) {
    const auto refused = std::ranges::find(state.refused, node, &PlanChange::Note::node);
    if (refused == state.refused.end()) return {};
    refusal = &*refused;
  }
  if (refusal == nullptr) return {};
  return fail(Error::Kind::usage, "{}", refusal->text);
}

}  // namespace

Result<SacBasePtr> SacSolver::base_of(const SacRequest& request) {
  const EditHistory& history = request.history;
  const std::ptrdiff_t solve = last_solve(history);
  EditHistory edits = edits_of_calls(history);
  edits.push_back(solve < 0 ? nullptr : history[static_cast<std::size_t>(solve)]);
  const auto known = std::find_if(bases_.begin(), bases_.end(), [&](const KnownBase& k) {
    return k.baseline == request.baseline && k.edits == edits &&
           has_same_nodes(k.base->snapshot->graph, request.now->graph);
  });
  if (known != bases_.end()) {
    std::rotate(bases_.begin(), known, known + 1);
    return bases_.front().base;
  }
  // The estimates or the file have changed, so nothing cached is valid.
  if (!bases_.empty() && bases_.front().baseline != request.baseline) {
    bases_.clear();
    states_.clear();
  }
  const auto count = static_cast<std::size_t>(solve + 1);
  PolicyTrail trail = trails_.follow(request.baseline->graph, request.now->graph, history, count);
  const SolveSettings settings =
      solve < 0 ? SolveSettings() : *parse_solve(history[static_cast<std::size_t>(solve)]->edit.by);
  JOINTER_TRY(SacBasePtr base, make_base(request.now, std::move(trail.policies),
                                         fsdp_policy(request.baseline->graph), settings));
  bases_.push_front({request.baseline, std::move(edits), base});
  if (bases_.size() > kMaxBases) {
    std::erase_if(states_, [&](const KnownState& s) { return s.base == bases_.back().base; });
    bases_.pop_back();
  }
  return base;
}

SacStatePtr SacSolver::known_state(const SacBasePtr& base,
                                   const std::vector<MemoryPolicy>& policies) {
  const auto known = std::ranges::find_if(
      states_, [&](const KnownState& s) { return s.base == base && s.policies == policies; });
  if (known == states_.end()) return nullptr;
  std::rotate(states_.begin(), known, known + 1);
  return states_.front().state;
}

Result<SacStatePtr> SacSolver::state_of(const SacBasePtr& base,
                                        const std::vector<MemoryPolicy>& policies) {
  if (SacStatePtr known = known_state(base, policies)) return known;
  JOINTER_TRY(const std::shared_ptr<SacState> state, lay(base, policies));
  std::vector<SaveCandidate> candidates;
  if (state->plan == base->partition.plan) {
    candidates = base->candidates;
  } else {
    JOINTER_TRY(candidates, base->what_if->candidates(state->plan));
  }
  add_tensors(*state, candidates);
  JOINTER_TRY(state->rows, plan_rows(*base->what_if, state->plan));
  JOINTER_TRY(state->totals, PlanTotals::make(*base->what_if, state->plan));
  states_.push_front({base, policies, state});
  if (states_.size() > kMaxStates) states_.pop_back();
  return SacStatePtr(state);
}

const std::vector<PlanAction>* SacSolver::searched_actions(const SacRequest& request,
                                                           const SacBasePtr& base,
                                                           std::size_t search) {
  const DoneEditPtr& edit = request.history[search];
  if (search_.base == base && search_.edit == edit) return &search_.actions;
  const PolicyTrail trail =
      trails_.follow(request.baseline->graph, request.now->graph, request.history, search + 1);
  const auto change =
      base->what_if->apply_policies(base->partition.plan, base->policies, trail.policies);
  if (!change) return nullptr;
  search_ = {base, edit,
             std::vector<PlanAction>(request.now->graph.node_count(), PlanAction::recompute)};
  for (const NodeId node : change->plan.saved) search_.actions[node.index()] = PlanAction::save;
  for (const NodeId node : change->plan.offloaded)
    search_.actions[node.index()] = PlanAction::offload;
  return &search_.actions;
}

SacStatePtr SacSolver::with_deciders(const SacState& made, const SacRequest& request) {
  auto state = std::make_shared<SacState>(made);
  state->snapshot = request.now;
  state->order = order_in_effect(request.history, sac_kind(request.now->graph));
  for (const DoneEditPtr& done : request.history) state->edits.push_back(done->edit.title);
  const PolicyTrail trail = trails_.follow(request.baseline->graph, request.now->graph,
                                           request.history, request.history.size());
  const std::ptrdiff_t solve = last_solve(request.history),
                       search = last_edit(request.history, is_by_search);
  const auto decider_of_edit = [&](std::int32_t edit) {
    return edit < 0 ? Decider::capture
                    : decider_of(request.history[static_cast<std::size_t>(edit)]->edit.by);
  };
  for (std::size_t i = 0; i < trail.edits.size(); ++i)
    if (trail.policies[i] != MemoryPolicy::none &&
        decider_of_edit(trail.edits[i]) == Decider::search)
      state->searched.emplace_back(i);
  const std::vector<PlanAction>* const searched =
      state->base && search > solve
          ? searched_actions(request, state->base, static_cast<std::size_t>(search))
          : nullptr;
  for (SacTensor& tensor : state->tensors) {
    const std::size_t node = tensor.node.index();
    const std::int32_t edit = trail.edits[node];
    tensor.edit = edit;
    // If the partitioner ignored the tag, the tag decided nothing.
    const bool was_ignored = state->base && state->base->settings.ignore_tags && edit <= solve;
    if (trail.policies[node] != MemoryPolicy::none && !was_ignored &&
        action_of(trail.policies[node]) == tensor.action) {
      tensor.decider = decider_of_edit(edit);
    } else if (searched != nullptr && edit < search && tensor.is_needed &&
               (*searched)[node] == tensor.action) {
      // The search was free to choose another policy, so it decided.
      tensor.decider = Decider::search;
      tensor.edit = static_cast<std::int32_t>(search);
    }
  }
  for (const PolicyChoice& choice : request.choices)
    for (const NodeId node : choice.nodes)
      if (const std::int32_t at = state->tensor_by_node[node.index()]; at >= 0) {
        SacTensor& tensor = state->tensors[static_cast<std::size_t>(at)];
        tensor.edit = -1;
        tensor.decider = choice.action && tensor.action == *choice.action ? Decider::user
                         : state->is_step()                               ? Decider::untagged
                                                                          : Decider::partitioner;
      }
  if (state->is_step()) {
    const EditHistory own = edits_without_plans(request.history);
    set_own_policies(*state, request,
                     trails_.follow(request.baseline->graph, request.now->graph, own, own.size()));
  }
  // If a tensor's tag has been applied, the tag decided, whatever tag the tensor has now.
  for (SacTensor& tensor : state->tensors)
    if (tensor.is_settled()) tensor.decider = Decider::capture;
  return state;
}

Result<SacStatePtr> SacSolver::state_of_step(const SacRequest& request) {
  const EditHistory calls = edits_of_calls(request.history);
  JOINTER_TRY(SacStatePtr state,
              steps_.state(request.now, request.baseline, calls, policies_asked(request)));
  if (state->applied_tags.refusal.empty() || request.choices.empty()) return state;
  // If the tags could not be applied before this choice either, allow it: several choices together
  // may resolve the problem.
  SacRequest before = request;
  before.choices.pop_back();
  JOINTER_TRY(const SacStatePtr last,
              steps_.state(before.now, before.baseline, calls, policies_asked(before)));
  if (!last->applied_tags.refusal.empty()) return state;
  return fail(Error::Kind::usage, "{}", state->applied_tags.refusal);
}

Result<SacStatePtr> SacSolver::state(const SacRequest& request) {
  const SacKind kind = sac_kind(request.now->graph);
  if (kind == SacKind::partitioned) return state_as_captured(request.now);
  if (kind == SacKind::step) {
    JOINTER_TRY(const SacStatePtr made, state_of_step(request));
    return with_deciders(*made, request);
  }
  JOINTER_TRY(const SacBasePtr base, base_of(request));
  JOINTER_TRY(const SacStatePtr made, state_of(base, policies_asked(request)));
  if (!request.choices.empty()) JOINTER_CHECK(is_done(*made, request.choices.back()));
  return with_deciders(*made, request);
}

Result<SacSolver::QuickState> SacSolver::quick_state(const SacRequest& request,
                                                     const SacState& shown) {
  if (sac_kind(request.now->graph) != SacKind::joint) {
    JOINTER_TRY(SacStatePtr complete, state(request));
    return QuickState{std::move(complete), true};
  }
  JOINTER_TRY(const SacBasePtr base, base_of(request));
  const std::vector<MemoryPolicy> policies = policies_asked(request);
  if (known_state(base, policies) || shown.base != base) {
    JOINTER_TRY(SacStatePtr complete, state(request));
    return QuickState{std::move(complete), true};
  }
  JOINTER_TRY(const std::shared_ptr<SacState> state, lay(base, policies));
  if (!request.choices.empty()) JOINTER_CHECK(is_done(*state, request.choices.back()));
  state->tensors = shown.tensors;
  state->totals = shown.totals;
  state->tensor_by_node = shown.tensor_by_node;
  for (SacTensor& tensor : state->tensors) {
    tensor.action = PlanAction::recompute;
    tensor.decider = Decider::partitioner;
  }
  const auto mark = [&](const std::vector<NodeId>& nodes, PlanAction action) {
    for (const NodeId node : nodes)
      if (const std::int32_t at = state->tensor_by_node[node.index()]; at >= 0)
        state->tensors[static_cast<std::size_t>(at)].action = action;
  };
  mark(state->plan.saved, PlanAction::save);
  mark(state->plan.offloaded, PlanAction::offload);
  return QuickState{with_deciders(*state, request), false};
}

Result<SacStatePtr> SacSolver::plan_state(const SacRequest& request) {
  if (sac_kind(request.now->graph) != SacKind::joint) return state(request);
  JOINTER_TRY(const SacBasePtr base, base_of(request));
  const std::vector<MemoryPolicy> policies = policies_asked(request);
  SacStatePtr state = known_state(base, policies);
  if (!state) {
    JOINTER_TRY(state, lay(base, policies));
  }
  if (!request.choices.empty()) JOINTER_CHECK(is_done(*state, request.choices.back()));
  return state;
}

Result<PlanOutcomePtr> SacSolver::outcome(const SacRequest& request) {
  JOINTER_TRY(SacStatePtr state, plan_state(request));
  return PlanOutcomePtr(std::move(state));
}

Result<std::int64_t> SacSolver::reserved_bytes(const SacRequest& request) {
  JOINTER_TRY(const SacStatePtr state, plan_state(request));
  if (state->is_step()) return state->applied_tags.reserved_bytes;
  if (!state->base) return state->snapshot->analysis.reserved.peak_bytes;
  const auto known = std::ranges::find_if(reserved_, [&](const KnownReserved& k) {
    return k.base == state->base && k.plan == state->plan;
  });
  if (known != reserved_.end()) return known->bytes;
  JOINTER_TRY(const std::int64_t bytes, state->base->what_if->reserved_bytes(state->plan));
  reserved_.push_front({state->base, state->plan, bytes});
  if (reserved_.size() > kMaxReserved) reserved_.pop_back();
  return bytes;
}

Result<OrderedFigures> SacSolver::ordered(const SacRequest& request) {
  JOINTER_TRY(const SacStatePtr own, plan_state(request));
  std::string order = order_in_effect(request.history, sac_kind(request.now->graph));
  if (!order.empty() && own->can_change())
    return ordered_figures({own->base, own->step, own->plan, std::move(order)});
  return OrderedFigures{.figures = own->figures.figures, .compute_ns = own->figures.compute_ns};
}

Result<BudgetTrial*> SacSolver::trial_of(const SacRequest& request, SolveSettings settings) {
  if (sac_kind(request.now->graph) == SacKind::step) return trial_of_step(request, settings);
  JOINTER_TRY(const SacBasePtr base, base_of(request));
  std::vector<MemoryPolicy> policies = policies_asked(request);
  settings.activation_budget = SolveSettings().activation_budget;
  if (!trial_.trial || trial_.base != base || trial_.settings != settings ||
      trial_.policies != policies) {
    JOINTER_TRY(auto made, BudgetTrial::make(request.now, policies, settings));
    trial_ = {base, nullptr, std::move(policies), settings, std::move(made)};
  }
  return trial_.trial.get();
}

Result<BudgetTrial*> SacSolver::trial_of_step(const SacRequest& request, SolveSettings settings) {
  JOINTER_TRY(const SacStatePtr state, this->state(request));
  settings.activation_budget = SolveSettings().activation_budget;
  if (!trial_.trial || trial_.step != state->step || trial_.settings != settings ||
      trial_.policies != state->own_policies) {
    JOINTER_TRY(auto made, BudgetTrial::make(state->step->snapshot, state->own_policies, settings));
    trial_ = {nullptr, state->step, state->own_policies, settings, std::move(made)};
  }
  return trial_.trial.get();
}

Result<SacSolver::Trial> SacSolver::try_solving(const SacRequest& request,
                                                const PlanRequest& wanted) {
  Trial found{.settings = wanted.settings};
  if (wanted.settings.partitioner != Partitioner::min_cut) {
    JOINTER_TRY(found.outcome, make_base(request.now, policies_asked(request),
                                         fsdp_policy(request.baseline->graph), wanted.settings));
    return found;
  }
  JOINTER_TRY(BudgetTrial* const trial, trial_of(request, wanted.settings));
  if (wanted.fit) {
    JOINTER_TRY(found.outcome, trial->outcome(wanted.fit->point.plan));
    found.trial = trial_.trial;
    return found;
  }
  JOINTER_TRY(found.outcome, trial->at(found.settings.activation_budget));
  if (trial_.step) {
    JOINTER_TRY(found.plan, trial->plan(found.settings.activation_budget));
  }
  return found;
}

}  // namespace jointer::views
