#include "views/session/edit/move_planner.h"

#include <QElapsedTimer>
#include <algorithm>
#include <tuple>
#include <utility>

#include "core/edit/moves.h"
#include "views/session/edit/editing.h"
#include "views/session/open/open_graph.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {

// The what-if that computes estimates. Commands also apply their moves to it, so it need not be
// rebuilt after an edit.
struct MovePlanner::Basis {
  SnapshotPtr origin;    // the graph that `what_if` refers to
  SnapshotPtr snapshot;  // the graph in the current order of `what_if`
  EditHistory history;   // the edits that lead to `snapshot`
  std::shared_ptr<const Dependencies> dependencies;
  std::unique_ptr<WhatIf> what_if;
};

namespace {

// A drag moves the whole selection only if it has at most this many nodes; commands move any
// selection.
constexpr std::size_t kMaxHeld = 256;
constexpr int kProgressMs = 40;

// A what-if computes the estimates of operators that run one by one, in program order. Those of a
// compiled step differ, so a preview adds the changes that the what-if predicts to the estimates of
// the analysis.
void show_from(const Analysis& analysis, RangePreview& preview) {
  if (analysis.compiled == nullptr) return;
  const Figures predicted = preview.current();
  const Figures shown{.peak_bytes = analysis.memory.peak_bytes(),
                      .step_ns = analysis.simulation.step_ns(),
                      .exposed_ns = analysis.simulation.exposed_ns()};
  const auto moved = [](std::int64_t figure, std::int64_t from, std::int64_t to) {
    return std::max<std::int64_t>(figure + to - from, 0);
  };
  for (Figures& at : preview.at)
    at = {.peak_bytes = moved(at.peak_bytes, predicted.peak_bytes, shown.peak_bytes),
          .step_ns = moved(at.step_ns, predicted.step_ns, shown.step_ns),
          .exposed_ns = moved(at.exposed_ns, predicted.exposed_ns, shown.exposed_ns)};
}

// Returns true if `a` is better than `b`: first by the bytes above the limit, then by time.
bool is_better(const Figures& a, const Figures& b, std::int64_t peak_limit) {
  const auto key = [peak_limit](const Figures& of) {
    return std::tuple(std::max<std::int64_t>(of.peak_bytes - peak_limit, 0), of.step_ns,
                      of.exposed_ns, of.peak_bytes);
  };
  return key(a) < key(b);
}

// Says that no position is better and, at an end of the legal range, what blocks the way.
QString no_better_text(const HeldMove& held) {
  QStringList sentences{MovePlanner::tr("No other position is better.")};
  if (held.gap == held.preview.first()) sentences << held.earliest;
  if (held.gap == held.preview.last()) sentences << held.latest;
  sentences.removeAll(QString());
  return sentences.join(u' ');
}

// Returns true if the graphs of two histories have the same calls.
bool same_calls(const EditHistory& a, const EditHistory& b) {
  const Transition transition(a, b);
  return std::all_of(transition.edits.begin(), transition.edits.end(), keeps_calls);
}

}  // namespace

MovePlanner::MovePlanner(OpenGraph& open, Editing& editing) : open_(open), editing_(editing) {
  connect(&open_, &OpenGraph::changed, this, &MovePlanner::follow_graph);
}

// --- The what-if ---

bool MovePlanner::is_ready() const {
  return is_basis_of(open_.shared_snapshot()) && !planning_.is_running() && editing_.is_settled();
}

bool MovePlanner::is_basis_of(const SnapshotPtr& snapshot) const {
  return basis_ && basis_->snapshot == snapshot;
}

bool MovePlanner::can_move(NodeId node) const {
  return open_.has(node) && open_.graph().node(node).kind == NodeKind::call;
}

void MovePlanner::prepare() {
  // When either job finishes, the basis is checked again.
  if (preparing_.is_running() || planning_.is_running()) return;
  if (is_basis_of(open_.shared_snapshot())) return;
  const EditHistory& history = editing_.edit_history();
  const SnapshotPtr now = open_.shared_snapshot();
  std::shared_ptr<const Dependencies> dependencies;
  if (basis_ && same_calls(basis_->history, history)) dependencies = basis_->dependencies;
  const auto make = [now, history, dependencies] {
    auto basis = std::make_shared<Basis>();
    basis->origin = basis->snapshot = now;
    basis->history = history;
    basis->dependencies =
        dependencies ? dependencies : std::make_shared<const Dependencies>(now->graph);
    const Analysis& a = now->analysis;
    basis->what_if = std::make_unique<WhatIf>(now->graph, *basis->dependencies, a.costs,
                                              a.options.memory, a.options.simulation);
    return basis;
  };
  preparing_.start(make, [this](auto basis) { handle_basis(std::move(basis)); });
}

void MovePlanner::handle_basis(Result<std::shared_ptr<Basis>> basis) {
  if (!basis) {
    waiting_.clear();
    taking_.reset();
    emit refused(to_qstring(basis.error().message));
    return;
  }
  // While the new basis was computed, the graph may have returned to the state of the old one. If
  // so, keep the old one: a held block or a command may be using it.
  if (!is_basis_of(open_.shared_snapshot()) && !planning_.is_running()) basis_ = *std::move(basis);
  prepare();
  run_waiting();
}

void MovePlanner::follow_graph() {
  const SnapshotPtr now = open_.shared_snapshot();
  if (held_ && held_->from != now) release();
  const auto same_order = [&] {
    const auto order = basis_->what_if->order();
    return std::equal(order.begin(), order.end(), now->graph.order().begin(),
                      now->graph.order().end());
  };
  if (basis_ && !planning_.is_running() && same_calls(basis_->history, editing_.edit_history()) &&
      same_estimates(*basis_->snapshot, *now) && same_order()) {
    basis_->snapshot = now;
    basis_->history = editing_.edit_history();
    return run_waiting();
  }
  prepare();
}

void MovePlanner::when_ready(std::function<void()> work) {
  waiting_.push_back(std::move(work));
  if (is_ready()) return run_waiting();
  prepare();
}

void MovePlanner::run_waiting() {
  while (!waiting_.empty() && is_ready()) {
    const auto work = std::move(waiting_.front());
    waiting_.pop_front();
    work();
  }
}

// --- Holding ---

void MovePlanner::take(NodeId node) {
  if (held_ && held_->is_dropped) return;
  if (!can_move(node)) {
    if (open_.has(node))
      emit refused(
          tr("%1 cannot be moved: placeholders, constants and outputs have fixed positions.")
              .arg(to_qstring(open_.graph().name(node))));
    return;
  }
  taking_ = std::make_shared<TakenNode>(TakenNode{.handle = node, .nodes = taken_with(node)});
  when_ready([this, taking = taking_] { start_holding(taking); });
}

void MovePlanner::start_holding(const std::shared_ptr<TakenNode>& taking) {
  if (taking != taking_) return;  // given up
  taking_.reset();
  // The graph may have changed since the request.
  if (!can_move(taking->handle)) return;
  const std::vector<NodeId> nodes = movable(taking->nodes);
  const bool carries = is_start_or_wait(open_.graph(), taking->handle);
  Result<void> done = hold(taking->handle, nodes, carries);
  // If other nodes have to stay between the chain and the nodes, hold them without the chain.
  if (!done && carries)
    done = hold(taking->handle, nodes, false,
                tr("Moves without its chain: %1.").arg(to_qstring(done.error().message)));
  if (!done) emit refused(to_qstring(done.error().message));
  for (const auto& command : taking->commands)
    if (held_) command();
}

std::vector<NodeId> MovePlanner::movable(std::vector<NodeId> nodes) const {
  std::erase_if(nodes, [this](NodeId each) { return !can_move(each); });
  return nodes;
}

void MovePlanner::release() {
  live_.cancel();
  held_.reset();
  emit held_changed();
}

Result<void> MovePlanner::hold(NodeId handle, std::vector<NodeId> nodes, bool carry,
                               const QString& note) {
  const SnapshotPtr from = open_.shared_snapshot();
  const Graph& graph = from->graph;
  auto held = std::make_unique<HeldMove>();
  held->handle = handle;
  held->carries = carry;
  held->nodes = nodes;
  held->block = std::move(nodes);
  if (carry)
    carry_along(graph, *held);
  else if (!note.isEmpty())
    held->carried = note;
  else if (held->block.size() > 1)
    held->carried = tr("%1 selected nodes move together.").arg(count_text(held->block.size()));
  Result<RangePreview> preview = preview_moves(*basis_->what_if, held->block);
  if (!preview) return tl::unexpected(preview.error());
  show_from(from->analysis, *preview);
  held->preview = MovePreview(*std::move(preview), open_.baseline()->analysis.memory.peak_bytes());
  held->gap = held->shown_gap = held->preview.current();
  held->earliest = to_qstring(earliest_reason(graph, held->preview.range.range));
  held->latest = to_qstring(latest_reason(graph, held->preview.range.range));
  held->from = held->shown = from;
  live_.cancel();
  held_ = std::move(held);
  emit held_changed();
  return {};
}

// Returns the whole selection if it contains the node and is small enough, otherwise only the node.
// If the node is the start of a collective, a wait is left out if its start is also selected (a row
// of the Exposed pane selects both), and the reverse: next to each other, they would hide nothing.
std::vector<NodeId> MovePlanner::taken_with(NodeId node) const {
  const Selection& selection = open_.selection();
  if (!selection.contains(node) || selection.nodes().size() > kMaxHeld) return {node};
  std::vector<NodeId> nodes = movable({selection.nodes().begin(), selection.nodes().end()});
  const Graph& graph = open_.graph();
  if (!is_start_or_wait(graph, node)) return nodes;
  const Simulation& simulation = open_.snapshot().analysis.simulation;
  const bool takes_waits = graph.is_wait(graph.node(node));
  std::erase_if(nodes, [&](NodeId each) {
    const std::int32_t index = simulation.collective_of(each);
    if (index < 0 || graph.is_wait(graph.node(each)) == takes_waits) return false;
    const CollectiveTiming& collective = simulation.collectives()[static_cast<std::size_t>(index)];
    return selection.contains(each == collective.start ? collective.wait : collective.start);
  });
  return nodes;
}

void MovePlanner::carry_along(const Graph& graph, HeldMove& held) {
  const std::vector<NodeId> taken = std::exchange(held.block, {});
  std::string sentence;
  for (const NodeId node : taken) {
    Carried carried = jointer::carry(graph, node, carrying_direction(graph, node));
    held.block.insert(held.block.end(), carried.block.begin(), carried.block.end());
    sentence = std::move(carried.sentence);
  }
  const auto is_before = [&](NodeId a, NodeId b) { return graph.position(a) < graph.position(b); };
  std::sort(held.block.begin(), held.block.end(), is_before);
  held.block.erase(std::unique(held.block.begin(), held.block.end()), held.block.end());
  const bool is_default = is_start_or_wait(graph, held.handle);
  if (held.block.size() <= taken.size())
    held.carried = is_default          ? QString()
                   : taken.size() == 1 ? tr("No cheap nodes move with this node.")
                                       : tr("No cheap nodes move with the selected ones.");
  else if (taken.size() == 1)
    held.carried = to_qstring(sentence);
  else if (const std::size_t more = held.block.size() - taken.size(); more == 1)
    held.carried = tr("Also moved 1 node that feeds or reads the selected ones.");
  else
    held.carried =
        tr("Also moved %1 nodes that feed or read the selected ones.").arg(count_text(more));
}

void MovePlanner::move_to(std::size_t gap) {
  if (!held_ || held_->is_dropped) return;
  gap = held_->preview.clamp(gap);
  if (gap == held_->gap) return;
  held_->gap = gap;
  const Graph& graph = held_->from->graph;
  held_->reordered = to_qstring(reordering_text(graph, graph.order(), move_of(*held_)));
  show_live();
  emit moved();
}

BlockMove MovePlanner::move_of(const HeldMove& held) {
  return {held.block, held.preview.current(), held.gap};
}

void MovePlanner::show_live() {
  if (live_.is_running()) return;  // handle_live calls this again
  if (held_->gap == held_->preview.current()) {
    held_->shown = held_->from;
    held_->shown_gap = held_->gap;
    return;
  }
  const auto make = [from = held_->from, move = move_of(*held_)] {
    Graph graph = from->graph;
    graph.set_order(order_after(graph.order(), move));
    return snapshot_after(*from, std::move(graph), true);
  };
  live_.start(make, [this, gap = held_->gap](const Result<SnapshotPtr>& shown) {
    handle_live(shown, gap);
  });
}

void MovePlanner::handle_live(const Result<SnapshotPtr>& shown, std::size_t gap) {
  if (shown) {
    held_->shown = *shown;
    held_->shown_gap = gap;
  }
  if (gap != held_->gap) show_live();
  emit moved();
}

void MovePlanner::set_carry(bool carry) {
  if (!held_ || held_->is_dropped || held_->carries == carry) return;
  const bool is_moved = held_->gap != held_->preview.current();
  // Gaps are numbered without the block, so the gap at this position has another number for the new
  // block. Find it by the node after it.
  const NodeId next = node_after(held_->from->graph.order(), move_of(*held_));
  if (const auto done = hold(held_->handle, held_->nodes, carry); !done)
    return emit refused(to_qstring(done.error().message));
  if (is_moved && held_ && held_->carries == carry)
    move_to(gap_before(held_->from->graph.order(), held_->block, next));
}

void MovePlanner::drop() {
  taking_.reset();
  if (!held_ || held_->is_dropped) return;
  if (held_->gap == held_->preview.current()) return give_up();
  const Graph& graph = held_->from->graph;
  const NodeId before = node_after(graph.order(), move_of(*held_));
  Result<Edit> edit = move_edit(graph, held_->block, before);
  if (!edit) {
    emit refused(to_qstring(edit.error().message));
    return give_up();
  }
  if (held_->carries) edit->notes.push_back(held_->carried.toStdString());
  held_->is_dropped = true;
  // Make the move in the what-if, too. If the edit is then refused, the what-if's order differs
  // from the graph's, and `handle_refusal` rebuilds the what-if.
  (void)basis_->what_if->move(held_->block, held_->gap);
  editing_.apply(*edit);
  emit moved();
}

void MovePlanner::give_up() {
  taking_.reset();
  if (held_ && !held_->is_dropped) release();
}

void MovePlanner::handle_refusal() {
  if (held_ && !held_->is_dropped) return run_waiting();  // the refused edit was not the drop
  if (held_) release();
  // The what-if may contain a move that was not made in the graph.
  if (!planning_.is_running()) basis_.reset();
  prepare();
}

// --- By command ---

template <class Act>
bool MovePlanner::waits_for_block(Act act) {
  if (taking_) taking_->commands.push_back(act);
  return is_taking();
}

void MovePlanner::nudge(int direction) {
  if (waits_for_block([=, this] { nudge(direction); })) return;
  if (held_) {
    const HeldMove& h = *held_;
    if (direction < 0 && h.gap == h.preview.first()) return;
    return move_to(direction < 0 ? h.gap - 1 : h.gap + 1);
  }
  const auto next = [direction](const WhatIf&, const LegalRange& range, std::span<const NodeId>) {
    return direction < 0 ? std::max(range.current, range.first + 1) - 1
                         : std::min(range.current + 1, range.last);
  };
  move_selected(
      {direction, direction < 0 ? tr("one position earlier") : tr("one position later"), next});
}

void MovePlanner::to_end(int direction, bool is_toggled) {
  if (waits_for_block([=, this] { to_end(direction, is_toggled); })) return;
  if (held_) return move_to(direction < 0 ? held_->preview.first() : held_->preview.last());
  const auto end = [direction](const WhatIf&, const LegalRange& range, std::span<const NodeId>) {
    return direction < 0 ? range.first : range.last;
  };
  move_selected({direction, direction < 0 ? tr("as early as possible") : tr("as late as possible"),
                 end, is_toggled});
}

void MovePlanner::to_next_change(int direction) {
  if (waits_for_block([=, this] { to_next_change(direction); })) return;
  if (held_) return move_to(held_->preview.next_change(held_->gap, direction));
  const auto next = [direction](const WhatIf& what_if, const LegalRange& range,
                                std::span<const NodeId> block) {
    const Result<RangePreview> preview = preview_moves(what_if, block);
    if (!preview) return range.current;
    return std::max(MovePreview(*preview, 0).next_change(range.current, direction), range.first);
  };
  move_selected({direction,
                 direction < 0 ? tr("earlier, to the next change in estimates")
                               : tr("later, to the next change in estimates"),
                 next});
}

void MovePlanner::to_best(bool is_toggled) {
  if (waits_for_block([=, this] { to_best(is_toggled); })) return;
  if (held_) {
    const std::size_t best = held_->preview.best_gap();
    if (best == held_->gap) emit refused(no_better_text(*held_));
    return move_to(best);
  }
  const auto limit = move_limit(open_.snapshot(), *open_.baseline());
  move_selected(
      {0, tr("to the best position"), PlannedMoves::to_best_place(limit), is_toggled, true, limit});
}

void MovePlanner::move_selected(Command command) {
  const auto selected = open_.selection().nodes();
  const std::vector<NodeId> nodes = movable({selected.begin(), selected.end()});
  if (nodes.empty()) {
    emit refused(selected.empty() ? tr("First select the nodes to move.")
                                  : tr("Placeholders, constants and outputs cannot be moved."));
    return;
  }
  when_ready([this, nodes, command] { start(nodes, command); });
}

// Adds the wait for each start, and the start for each wait.
std::vector<NodeId> MovePlanner::with_whole_collectives(const Snapshot& snapshot,
                                                        std::span<const NodeId> nodes) {
  const Simulation& simulation = snapshot.analysis.simulation;
  std::vector<NodeId> whole;
  for (const NodeId node : nodes) {
    const std::int32_t index = simulation.collective_of(node);
    if (index < 0 || !is_start_or_wait(snapshot.graph, node)) {
      whole.push_back(node);
      continue;
    }
    const CollectiveTiming& collective = simulation.collectives()[static_cast<std::size_t>(index)];
    whole.push_back(collective.start);
    if (collective.wait) whole.push_back(collective.wait);
  }
  std::ranges::sort(whole);
  whole.erase(std::unique(whole.begin(), whole.end()), whole.end());
  return whole;
}

// Returns true if the best position is to be found both with and without chains.
bool MovePlanner::chooses_chains(const Graph& graph, std::span<const NodeId> nodes,
                                 const Command& command) {
  return command.is_best && !command.is_toggled &&
         std::ranges::any_of(nodes, [&](NodeId each) { return is_start_or_wait(graph, each); });
}

MovePlanner::Plan MovePlanner::plan_of(const PlannedMoves& moves, const Command& command,
                                       std::size_t asked) {
  Plan plan{.refusal = moves.refusal()};
  if (!moves.empty()) plan.edit = moves.edit(command.how.toStdString(), asked);
  return plan;
}

// Moves nodes one at a time on a worker thread, each in the order left by the previous moves, and
// combines the moves into one edit.
void MovePlanner::start(const std::vector<NodeId>& selected, const Command& command) {
  const SnapshotPtr now = open_.shared_snapshot();
  const Graph& graph = now->graph;
  // The graph may have changed since the request.
  std::vector<NodeId> nodes = movable(selected);
  if (nodes.empty()) return emit refused(tr("The selection is no longer in the graph."));
  const std::size_t asked = nodes.size();
  if (command.is_best && !command.is_toggled) nodes = with_whole_collectives(*now, nodes);
  std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) {
    return command.direction <= 0 ? graph.position(a) < graph.position(b)
                                  : graph.position(a) > graph.position(b);
  });
  const auto work = [now, basis = basis_, nodes, asked,
                     command](const Reporter<Progress>& job) -> Result<Plan> {
    WhatIf& what_if = *basis->what_if;
    const bool chooses = chooses_chains(now->graph, nodes, command);
    const int count = static_cast<int>(nodes.size()) * (chooses ? 2 : 1);
    int done = 0;
    QElapsedTimer since;
    since.start();
    // Returns false if the command is cancelled.
    const auto add_all = [&](PlannedMoves& moves) {
      for (const NodeId node : nodes) {
        if (job.is_cancelled()) return false;
        moves.add(node, command.target);
        if (++done != count && since.elapsed() < kProgressMs) continue;
        since.restart();
        job.report({done, count});
      }
      return true;
    };
    const auto cancelled = [] { return fail(Error::Kind::cancelled, "cancelled"); };
    const Figures before = what_if.figures();
    Figures without_chains = before;
    PlannedMoves alone(now->graph, what_if, command.direction);
    if (chooses) {
      alone.set_chains(false);
      if (!add_all(alone)) return cancelled();
      without_chains = what_if.figures();
      alone.undo();
    }
    PlannedMoves moves(now->graph, what_if, command.direction);
    if (command.is_toggled) moves.toggle_chains();
    if (!add_all(moves)) return cancelled();
    const std::int64_t limit = command.peak_limit.value_or(before.peak_bytes);
    if (!alone.empty() && (moves.empty() || is_better(without_chains, what_if.figures(), limit))) {
      moves.undo();
      alone.redo();
      return plan_of(alone, command, asked);
    }
    return plan_of(moves, command, asked);
  };
  planning_.start(
      work, [=, this](const Result<Plan>& plan) { handle_plan(plan, now, selected, command); },
      [this](Progress progress) { emit progressed(progress.done, progress.count); });
}

void MovePlanner::handle_plan(const Result<Plan>& plan, const SnapshotPtr& from,
                              const std::vector<NodeId>& selected, const Command& command) {
  if (!plan) {
    // The what-if contains only some of the moves.
    basis_.reset();
    if (plan.error().kind != Error::Kind::cancelled) emit refused(to_qstring(plan.error().message));
    return prepare();
  }
  if (open_.shared_snapshot() != from || !editing_.is_settled()) {
    // The graph has been edited since the command started, so repeat it for the new state.
    basis_.reset();
    waiting_.push_front([=, this] { start(selected, command); });
    return prepare();
  }
  if (plan->edit) return editing_.apply(*plan->edit);
  const QString why = to_qstring(plan->refusal);
  if (command.is_best)
    emit refused(tr("No other position is better. %1").arg(why).trimmed());
  else
    emit refused(why.isEmpty() ? tr("The selection is already at that position.") : why);
  prepare();
  run_waiting();
}

}  // namespace jointer::views
