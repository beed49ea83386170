#include "views/session/edit/move_planner.h"

#include <QtConcurrentRun>
#include <algorithm>
#include <utility>

#include "core/edit/moves.h"
#include "views/session/edit/editing.h"
#include "views/session/open/open_graph.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {

// The what-if that figures are computed from. Commands apply their moves to it as well, so that it
// need not be rebuilt after an edit.
struct MovePlanner::Basis {
  SnapshotPtr origin;    // graph that `what_if` refers to
  SnapshotPtr snapshot;  // graph with the same order as `what_if`
  EditHistory history;   // the edits that lead to `snapshot`
  std::shared_ptr<const Dependencies> dependencies;
  std::unique_ptr<WhatIf> what_if;
};

namespace {

// Larger blocks are moved only by commands.
constexpr std::size_t kMaxHeld = 256;

// Returns true if the graphs of two histories have the same calls.
bool same_calls(const EditHistory& a, const EditHistory& b) {
  const Transition transition(a, b);
  return std::all_of(transition.edits.begin(), transition.edits.end(), keeps_calls);
}

}  // namespace

MovePlanner::MovePlanner(OpenGraph& open, Editing& editing) : open_(open), editing_(editing) {
  connect(&open_, &OpenGraph::changed, this, &MovePlanner::take_graph);
  connect(&preparing_, &QFutureWatcherBase::finished, this, &MovePlanner::take_basis);
  connect(&live_, &QFutureWatcherBase::finished, this, &MovePlanner::take_live);
  connect(&planning_, &QFutureWatcherBase::finished, this, &MovePlanner::take_plan);
  connect(&planning_, &QFutureWatcherBase::progressValueChanged, this,
          [this](int done) { emit progressed(done, planning_.progressMaximum()); });
}

MovePlanner::~MovePlanner() {
  cancel();
  planning_.waitForFinished();
}

// --- The what-if ---

bool MovePlanner::is_ready() const {
  return basis_ && basis_->snapshot == open_.shared_snapshot() && !command_ &&
         editing_.is_settled();
}

bool MovePlanner::can_move(NodeId node) const {
  return open_.has(node) && open_.graph().node(node).kind == NodeKind::call;
}

void MovePlanner::prepare() {
  if (preparing_.isRunning() || command_) return;  // both call this again when they finish
  if (basis_ && basis_->snapshot == open_.shared_snapshot()) return;
  const EditHistory& history = editing_.edit_history();
  const SnapshotPtr now = open_.shared_snapshot();
  std::shared_ptr<const Dependencies> dependencies;
  if (basis_ && same_calls(basis_->history, history)) dependencies = basis_->dependencies;
  preparing_.setFuture(QtConcurrent::run([now, history, dependencies] {
    auto basis = std::make_shared<Basis>();
    basis->origin = basis->snapshot = now;
    basis->history = history;
    basis->dependencies =
        dependencies ? dependencies : std::make_shared<const Dependencies>(now->graph);
    const Analysis& a = now->analysis;
    basis->what_if = std::make_unique<WhatIf>(now->graph, *basis->dependencies, a.costs,
                                              a.options.memory, a.options.simulation);
    return basis;
  }));
}

void MovePlanner::take_basis() {
  basis_ = preparing_.result();
  if (basis_->snapshot != open_.shared_snapshot()) return prepare();
  run_waiting();
}

void MovePlanner::take_graph() {
  const SnapshotPtr now = open_.shared_snapshot();
  if (held_ && held_->from != now) {
    held_.reset();
    emit held_changed();
  }
  const auto same_order = [&] {
    const auto order = basis_->what_if->order();
    return std::equal(order.begin(), order.end(), now->graph.order().begin(),
                      now->graph.order().end());
  };
  if (basis_ && !command_ && same_calls(basis_->history, editing_.edit_history()) &&
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
  if (!basis_ || basis_->snapshot != open_.shared_snapshot()) prepare();
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
      emit refused(tr("%1 cannot be moved: placeholders, constants and outputs have fixed places.")
                       .arg(to_qstring(open_.graph().name(node))));
    return;
  }
  taken_ = node;
  when_ready([this, node] {
    if (taken_ == node) hold(node, false);
  });
}

void MovePlanner::hold(NodeId node, bool carry) {
  const SnapshotPtr from = open_.shared_snapshot();
  const Graph& graph = from->graph;
  auto held = std::make_unique<HeldMove>();
  held->handle = node;
  held->carries = carry;
  held->block = taken_with(node);
  held->taken = held->block.size();
  if (carry)
    carry_along(graph, *held);
  else if (held->block.size() > 1)
    held->carried = tr("%1 selected nodes move together.").arg(count_text(held->block.size()));
  Result<RangePreview> preview = basis_->what_if->preview(held->block);
  taken_ = {};
  if (!preview) {
    emit refused(QString::fromStdString(preview.error().message));
    return;
  }
  held->preview = MovePreview(*std::move(preview), open_.baseline()->analysis.memory.peak_bytes());
  held->gap = held->preview.current();
  held->earliest = QString::fromStdString(earliest_reason(graph, held->preview.range.range));
  held->latest = QString::fromStdString(latest_reason(graph, held->preview.range.range));
  held->from = held->shown = from;
  held_ = std::move(held);
  emit held_changed();
}

// The whole selection if it contains the node, or else the node alone.
std::vector<NodeId> MovePlanner::taken_with(NodeId node) const {
  const Selection& selection = open_.selection();
  if (!selection.contains(node) || selection.nodes().size() > kMaxHeld) return {node};
  std::vector<NodeId> nodes(selection.nodes().begin(), selection.nodes().end());
  std::erase_if(nodes, [&](NodeId each) { return !can_move(each); });
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
  if (held.block.size() <= taken.size())
    held.carried = tr("No cheap nodes move with it.");
  else if (taken.size() == 1)
    held.carried = QString::fromStdString(sentence);
  else
    held.carried = tr("Also moved %1 more nodes, which feed or read them.")
                       .arg(count_text(held.block.size() - taken.size()));
}

void MovePlanner::move_to(std::size_t gap) {
  if (!held_ || held_->is_dropped) return;
  gap = held_->preview.clamp(gap);
  if (gap == held_->gap) return;
  held_->gap = gap;
  const Graph& graph = held_->from->graph;
  held_->reordered = QString::fromStdString(reordering_text(graph, graph.order(), move_of(*held_)));
  show_live();
  emit moved();
}

BlockMove MovePlanner::move_of(const HeldMove& held) {
  return {held.block, held.preview.current(), held.gap};
}

void MovePlanner::show_live() {
  if (live_.isRunning()) return;
  live_gap_ = held_->gap;
  live_from_ = held_->from;
  if (held_->gap == held_->preview.current()) {
    held_->shown = held_->from;
    return;
  }
  live_.setFuture(QtConcurrent::run([from = held_->from, move = move_of(*held_)]() -> SnapshotPtr {
    Graph graph = from->graph;
    graph.set_order(order_after(graph.order(), move));
    return snapshot_after(*from, std::move(graph), true).value_or(nullptr);
  }));
}

void MovePlanner::take_live() {
  if (!held_ || live_from_ != held_->from) return;
  if (const SnapshotPtr shown = live_.result()) held_->shown = shown;
  if (live_gap_ != held_->gap) show_live();
  emit moved();
}

void MovePlanner::set_carry(bool carry) {
  if (!held_ || held_->is_dropped || held_->carries == carry) return;
  const std::size_t gap = held_->gap;
  hold(held_->handle, carry);
  if (held_ && held_->carries == carry) move_to(gap);
}

void MovePlanner::drop() {
  taken_ = {};
  if (!held_ || held_->is_dropped) return;
  if (held_->gap == held_->preview.current()) return give_up();
  const Graph& graph = held_->from->graph;
  const NodeId before = node_after(graph.order(), move_of(*held_));
  Result<Edit> edit = move_edit(graph, held_->block, before);
  if (!edit) {
    emit refused(QString::fromStdString(edit.error().message));
    return give_up();
  }
  if (held_->carries) edit->notes.push_back(held_->carried.toStdString());
  held_->is_dropped = true;
  // If the move is refused, the orders differ and the what-if is rebuilt.
  (void)basis_->what_if->move(held_->block, held_->gap);
  editing_.apply(*edit);
  emit moved();
}

void MovePlanner::give_up() {
  taken_ = {};
  if (!held_ || held_->is_dropped) return;
  held_.reset();
  emit held_changed();
}

void MovePlanner::take_refusal() {
  if (held_ && held_->is_dropped) {
    held_.reset();
    emit held_changed();
  }
  // The what-if has a move that the graph does not have.
  basis_.reset();
  prepare();
}

// --- By command ---

void MovePlanner::nudge(int direction) {
  if (held_) {
    const HeldMove& h = *held_;
    if (direction < 0 && h.gap == h.preview.first()) return;
    return move_to(direction < 0 ? h.gap - 1 : h.gap + 1);
  }
  const auto next = [direction](const WhatIf&, const LegalRange& range, std::span<const NodeId>) {
    return direction < 0 ? std::max(range.current, range.first + 1) - 1
                         : std::min(range.current + 1, range.last);
  };
  move_selected({direction, direction < 0 ? tr("one place earlier") : tr("one place later"), next});
}

void MovePlanner::to_end(int direction, bool carries) {
  if (held_) return move_to(direction < 0 ? held_->preview.first() : held_->preview.last());
  const auto end = [direction](const WhatIf&, const LegalRange& range, std::span<const NodeId>) {
    return direction < 0 ? range.first : range.last;
  };
  move_selected({direction, direction < 0 ? tr("as early as possible") : tr("as late as possible"),
                 end, carries});
}

void MovePlanner::to_next_change(int direction) {
  if (held_) return move_to(held_->preview.next_change(held_->gap, direction));
  const auto next = [direction](const WhatIf& what_if, const LegalRange& range,
                                std::span<const NodeId> block) {
    const Result<RangePreview> preview = what_if.preview(block);
    return preview ? MovePreview(*preview, 0).next_change(range.current, direction) : range.current;
  };
  move_selected(
      {direction, direction < 0 ? tr("to the previous change") : tr("to the next change"), next});
}

namespace {

std::size_t best_gap(const MovePreview& preview) {
  return preview.best.fastest_within.value_or(preview.best.min_peak);
}

}  // namespace

void MovePlanner::to_best(bool carries) {
  if (held_) return move_to(best_gap(held_->preview));
  const std::int64_t allowed = open_.baseline()->analysis.memory.peak_bytes();
  const auto best = [allowed](const WhatIf& what_if, const LegalRange& range,
                              std::span<const NodeId> block) {
    const Result<RangePreview> preview = what_if.preview(block);
    return preview ? best_gap(MovePreview(*preview, allowed)) : range.current;
  };
  move_selected({0, tr("to the best place"), best, carries});
}

// Moves nodes one at a time on a working thread, each in the graph left by the previous moves, and
// combines the moves into one edit.
void MovePlanner::move_selected(Command command) {
  std::vector<NodeId> nodes;
  for (const NodeId node : open_.selection().nodes())
    if (can_move(node)) nodes.push_back(node);
  if (nodes.empty()) {
    emit refused(open_.selection().nodes().empty()
                     ? tr("Select the nodes to move first.")
                     : tr("Placeholders, constants and outputs cannot be moved."));
    return;
  }
  when_ready([this, nodes, command] { start(nodes, command); });
}

void MovePlanner::start(std::vector<NodeId> nodes, const Command& command) {
  const SnapshotPtr now = open_.shared_snapshot();
  const Graph& graph = now->graph;
  std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) {
    return command.direction <= 0 ? graph.position(a) < graph.position(b)
                                  : graph.position(a) > graph.position(b);
  });
  command_ = std::make_shared<std::atomic<bool>>(false);
  const auto work = [now, basis = basis_, nodes, command,
                     cancelled = command_](QPromise<Plan>& promise) {
    PlannedMoves moves(now->graph, *basis->what_if, command.direction);
    if (command.carries) moves.carry_along();
    promise.setProgressRange(0, static_cast<int>(nodes.size()));
    for (std::size_t i = 0; i < nodes.size() && !*cancelled; ++i) {
      moves.add(nodes[i], command.target);
      promise.setProgressValue(static_cast<int>(i) + 1);
    }
    if (*cancelled) return;
    Plan plan{.edit = {}, .refusal = moves.refusal()};
    if (!moves.empty()) plan.edit = moves.edit(command.how.toStdString());
    promise.addResult(std::move(plan));
  };
  planning_.setFuture(QtConcurrent::run(work));
}

void MovePlanner::take_plan() {
  command_.reset();
  if (planning_.future().resultCount() == 0) {
    // Cancelled: the what-if has only some of the moves.
    basis_.reset();
    return prepare();
  }
  const Plan plan = planning_.result();
  if (plan.edit) return editing_.apply(*plan.edit);
  emit refused(plan.refusal.empty() ? tr("The selected nodes are already at their best place.")
                                    : QString::fromStdString(plan.refusal));
  prepare();
  run_waiting();
}

void MovePlanner::cancel() {
  if (command_) *command_ = true;
}

}  // namespace jointer::views
