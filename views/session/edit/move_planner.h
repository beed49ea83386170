#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/graph/dependencies.h"
#include "views/session/edit/block_move.h"
#include "views/session/edit/edit_history.h"
#include "views/session/edit/planned_moves.h"
#include "views/session/work/task.h"

namespace jointer::views {

class Editing;
class OpenGraph;

// The block being moved, and the estimates for each gap in its legal range.
struct HeldMove {
  NodeId handle;              // the node that the user picked up
  std::vector<NodeId> nodes;  // the nodes picked up: the handle or the whole selection
  std::vector<NodeId> block;  // `nodes` and those that move with them, in program order
  bool carries = false;       // chains move with `nodes`
  MovePreview preview;
  std::size_t gap = 0;         // the block's current position
  QString earliest, latest;    // the constraint at each end; empty if there is none
  QString carried, reordered;  // notes on nodes that move along, and on changes for other ranks
  SnapshotPtr from;            // the graph before the move
  SnapshotPtr shown;           // the graph with the block at shown_gap
  std::size_t shown_gap = 0;   // `gap`, or the previous one while `shown` is being computed
  bool is_dropped = false;     // the edit has been requested

  [[nodiscard]] const Figures& figures() const { return preview.at(gap); }
  // Returns true once `shown` has the block at its current position.
  [[nodiscard]] bool is_shown() const { return shown_gap == gap; }
};

// Moves selected nodes: by dragging, which shows the effect of every position, or by commands that
// act on the whole selection. Each drag, and each command on the selection, results in at most one
// edit.
//
// What-if estimates are prepared on a worker thread whenever the graph changes, so that they are
// ready when a drag starts. Requests wait for them, and for pending edits. A request applies to the
// nodes that were selected when it was made and still exist.
class MovePlanner : public QObject {
  Q_OBJECT
 public:
  // `open` and `editing` must outlive this object.
  MovePlanner(OpenGraph& open, Editing& editing);

  // Null while nothing is held.
  [[nodiscard]] const HeldMove* held() const { return held_.get(); }
  // Returns true if a node was picked up but is not held yet.
  [[nodiscard]] bool is_taking() const { return taking_ != nullptr; }
  [[nodiscard]] bool is_ready() const;
  // Returns false for placeholders, constants and outputs, and for nodes that no longer exist.
  [[nodiscard]] bool can_move(NodeId node) const;

 public slots:
  // --- Dragging ---

  // Picks up a node or, if it is selected, the whole selection unless that is large. If the node is
  // the start of a collective, waits of selected starts are left out, and the reverse. The chain is
  // left out if other nodes have to stay between it and the nodes.
  // `held_changed` or `refused` follows. Ignored if the node no longer exists, or while a dropped
  // block is held.
  void take(jointer::NodeId node);
  void move_to(std::size_t gap);
  // Includes or excludes the chains of the picked-up nodes. Initially, the chain of a collective's
  // start or wait is included.
  void set_carry(bool carry);
  void drop();
  void give_up();

  // --- Commands ---
  //
  // They act on the held block or, if there is none, on the selection. While a node is picked up
  // but not yet held, they wait and then act on its block; if the node is released first, they are
  // discarded.
  //
  // If they act on the selection, the start and the wait of a collective move with their chains
  // (core/edit/moves.h), and other nodes alone; `is_toggled` inverts this.

  void nudge(int direction);
  void to_next_change(int direction);
  // Moves to the best position. Unless `is_toggled`, a collective's start and wait are both moved,
  // the start first, even if only one of them is selected, and without their chains if that is
  // better.
  void to_best(bool is_toggled = false);
  void to_end(int direction, bool is_toggled = false);  // to the earliest or latest position
  void cancel() { planning_.end_early(); }              // stops a running command

  // Starts preparing the what-if estimates unless they are ready.
  void prepare();
  // Must be called when an edit is refused. Releases the dropped block.
  void handle_refusal();

 signals:
  // A different block, or none, is now held.
  void held_changed();
  // The held block has moved, or the state shown for it has changed.
  void moved();
  void refused(const QString& sentence);
  // Progress of a command, in nodes.
  void progressed(int done, int count);

 private:
  struct Basis;
  // A command that moves every selected node.
  struct Command {
    int direction = 0;  // positive: later, starting with the last node in program order
    QString how;
    PlannedMoves::Target target;
    bool is_toggled = false;
    bool is_best = false;  // the target is the best position
    // Limits the peak at the best position; nullopt if the peak may not rise.
    std::optional<std::int64_t> peak_limit = {};
  };
  struct Plan {
    std::optional<Edit> edit;  // nullopt if nothing moves
    std::string refusal;
  };
  struct Progress {
    int done = 0, count = 0;
  };
  // A node that was picked up but is not yet held.
  struct TakenNode {
    NodeId handle;
    std::vector<NodeId> nodes;  // the handle, or a selection that contains it and is not large
    std::vector<std::function<void()>> commands;  // act on the block once it is held
  };

  // What-if estimates.
  void handle_basis(Result<std::shared_ptr<Basis>> basis);
  [[nodiscard]] bool is_basis_of(const SnapshotPtr& snapshot) const;
  void follow_graph();
  void when_ready(std::function<void()> work);
  void run_waiting();

  // Dragging.
  void start_holding(const std::shared_ptr<TakenNode>& taking);
  // `note`: about a block without chains. Errors: those of legal_range; nothing changes then.
  Result<void> hold(NodeId handle, std::vector<NodeId> nodes, bool carry, const QString& note = {});
  void release();
  [[nodiscard]] std::vector<NodeId> taken_with(NodeId node) const;
  [[nodiscard]] std::vector<NodeId> movable(std::vector<NodeId> nodes) const;
  [[nodiscard]] static std::vector<NodeId> with_whole_collectives(const Snapshot& snapshot,
                                                                  std::span<const NodeId> nodes);
  static void carry_along(const Graph& graph, HeldMove& held);
  [[nodiscard]] static BlockMove move_of(const HeldMove& held);
  void show_live();
  void handle_live(const Result<SnapshotPtr>& shown, std::size_t gap);

  // Returns true if the command has to wait for a block that is not yet held.
  template <class Act>
  bool waits_for_block(Act act);
  void move_selected(Command command);
  [[nodiscard]] static bool chooses_chains(const Graph& graph, std::span<const NodeId> nodes,
                                           const Command& command);
  [[nodiscard]] static Plan plan_of(const PlannedMoves& moves, const Command& command,
                                    std::size_t asked);
  void start(const std::vector<NodeId>& selected, const Command& command);
  void handle_plan(const Result<Plan>& plan, const SnapshotPtr& from,
                   const std::vector<NodeId>& selected, const Command& command);

  OpenGraph& open_;
  Editing& editing_;
  // Used by the running command or, if there is none, by this thread.
  std::shared_ptr<Basis> basis_;
  Task<std::shared_ptr<Basis>> preparing_;
  std::deque<std::function<void()>> waiting_;

  std::shared_ptr<TakenNode> taking_;
  std::unique_ptr<HeldMove> held_;  // until it is dropped, `basis_` is the what-if of its graph
  Task<SnapshotPtr> live_;          // computes the graph with the held block at its position
  Task<Plan, Progress> planning_;   // the running command
};

}  // namespace jointer::views
