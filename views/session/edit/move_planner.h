#pragma once

#include <QFutureWatcher>
#include <QObject>
#include <QString>
#include <QStringList>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/graph/dependencies.h"
#include "views/session/edit/block_move.h"
#include "views/session/edit/edit_history.h"
#include "views/session/edit/move_preview.h"
#include "views/session/edit/planned_moves.h"

namespace jointer::views {

class Editing;
class OpenGraph;

// The block being moved, and the figures of each place that it could move to.
struct HeldMove {
  NodeId handle;              // the node that the user picked up
  std::size_t taken = 1;      // number of selected nodes picked up with it
  std::vector<NodeId> block;  // including nodes that move with it, in program order
  bool carries = false;
  MovePreview preview;
  std::size_t gap = 0;         // current place
  QString earliest, latest;    // the constraint at each end, or empty
  QString carried, reordered;  // nodes that move with it; notes on other ranks; or empty
  SnapshotPtr from;            // the graph before the move
  SnapshotPtr shown;           // the graph with the block at its current or its previous place
  bool is_dropped = false;     // the edit has been requested

  [[nodiscard]] const Figures& figures() const { return preview.at(gap); }
};

// Moves selected nodes: by dragging, with the effect of every place on screen, or by commands that
// act on the whole selection. Both result in one edit.
//
// What-if figures are prepared on a working thread whenever the graph changes, so that they are
// ready when a drag starts.
class MovePlanner : public QObject {
  Q_OBJECT
 public:
  // Both arguments must outlive this object.
  MovePlanner(OpenGraph& open, Editing& editing);
  ~MovePlanner() override;
  MovePlanner(const MovePlanner&) = delete;
  MovePlanner& operator=(const MovePlanner&) = delete;

  // Null while nothing is held.
  [[nodiscard]] const HeldMove* held() const { return held_.get(); }
  // A node was picked up and its places are being computed.
  [[nodiscard]] bool is_taking() const { return static_cast<bool>(taken_); }
  [[nodiscard]] bool is_ready() const;
  // Returns false for placeholders, constants and outputs.
  [[nodiscard]] bool can_move(NodeId node) const;

 public slots:
  // --- Dragging ---
  // Picks up a node, with the rest of the selection if it is selected. Emits `held_changed` or
  // `refused`.
  void take(jointer::NodeId node);
  void move_to(std::size_t gap);
  // Includes or excludes the cheap nodes that feed the block.
  void set_carry(bool carry);
  void drop();
  void give_up();

  // --- Commands: act on the held block, or else on the selection ---
  void nudge(int direction);
  void to_next_change(int direction);
  // `carries` includes cheap nodes that feed a start or read a wait; a held block has its own
  // setting.
  void to_best(bool carries = false);
  void to_end(int direction, bool carries = false);  // the earliest or the latest place
  void cancel();                                     // stops a running command

  // Prepares the what-if figures unless they are ready.
  void prepare();
  // An edit was refused: releases the dropped block.
  void take_refusal();

 signals:
  // Another block is held, or none.
  void held_changed();
  // The held block has moved, or its displayed state has changed.
  void moved();
  void refused(const QString& sentence);
  // Progress of a command that moves many nodes.
  void progressed(int done, int count);

 private:
  struct Basis;
  // A move applied to every selected node.
  struct Command {
    int direction = 0;  // positive: later, starting with the last node in program order
    QString how;
    PlannedMoves::Target target;
    bool carries = false;
  };
  struct Plan {
    std::optional<Edit> edit;  // none if nothing moves
    std::string refusal;
  };

  // What-if figures.
  void take_basis();
  void take_graph();
  void when_ready(std::function<void()> work);
  void run_waiting();

  // Dragging.
  void hold(NodeId node, bool carry);
  [[nodiscard]] std::vector<NodeId> taken_with(NodeId node) const;
  static void carry_along(const Graph& graph, HeldMove& held);
  [[nodiscard]] static BlockMove move_of(const HeldMove& held);
  void show_live();
  void take_live();

  // Commands.
  void move_selected(Command command);
  void start(std::vector<NodeId> nodes, const Command& command);
  void take_plan();

  OpenGraph& open_;
  Editing& editing_;
  std::shared_ptr<Basis> basis_;
  QFutureWatcher<std::shared_ptr<Basis>> preparing_;
  std::deque<std::function<void()>> waiting_;

  std::unique_ptr<HeldMove> held_;
  NodeId taken_;  // picked up, but not yet held
  QFutureWatcher<SnapshotPtr> live_;
  SnapshotPtr live_from_;  // the graph and gap that `live_` is computed for
  std::size_t live_gap_ = 0;

  QFutureWatcher<Plan> planning_;
  std::shared_ptr<std::atomic<bool>> command_;  // of the running command; set to true to cancel
};

}  // namespace jointer::views
