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
#include "views/edit/block_move.h"
#include "views/edit/edit_line.h"
#include "views/edit/move_preview.h"
#include "views/edit/planned_moves.h"

namespace jointer::views {

class Document;

// What is being moved, and what each place would give.
struct HeldMove {
  NodeId handle;              // what a person took
  std::size_t taken = 1;      // with how many: what was selected with it
  std::vector<NodeId> block;  // with what it carries along, in program order
  bool carries = false;
  MovePreview preview;
  std::size_t gap = 0;         // where it is now
  QString earliest, latest;    // what holds it at each end; empty: nothing does
  QString carried, reordered;  // what comes with it; what other ranks must do too. Empty: nothing
  SnapshotPtr from;            // the graph that it is moved in
  SnapshotPtr shown;           // with it where it is, or where it was a moment ago
  bool is_dropped = false;     // the edit is on its way

  [[nodiscard]] const Figures& figures() const { return preview.at(gap); }
};

// Where selected nodes could go, and the gestures that move them: one that is held while every
// place's effect is on screen, and commands for all that are selected. Both end in one edit.
//
// What-if figures are prepared on a working thread whenever the graph is another one, so that they
// are there when a person takes something.
class MovePlanner : public QObject {
  Q_OBJECT
 public:
  // Must outlive it.
  explicit MovePlanner(Document& document);
  ~MovePlanner() override;
  MovePlanner(const MovePlanner&) = delete;
  MovePlanner& operator=(const MovePlanner&) = delete;

  // Null while nothing is held.
  [[nodiscard]] const HeldMove* held() const { return held_.get(); }
  // A node was taken and its places are being computed.
  [[nodiscard]] bool is_taking() const { return static_cast<bool>(taken_); }
  [[nodiscard]] bool is_ready() const;
  // Whether it may be moved at all: placeholders, constants and outputs stay.
  [[nodiscard]] bool can_move(NodeId node) const;

 public slots:
  // --- Holding ---
  // With what else is selected, if it is. `held_changed` follows, or `refused`.
  void take(jointer::NodeId node);
  void move_to(std::size_t gap);
  // With the cheap nodes that feed it, or without.
  void set_carry(bool carry);
  void drop();
  void give_up();

  // --- By command: what is held, else all that is selected ---
  void nudge(int direction);
  void to_next_change(int direction);
  // `carries`: with the cheap nodes that feed a start or read a wait; what is held has its own.
  void to_best(bool carries = false);
  void to_end(int direction, bool carries = false);  // the earliest place, or the latest
  void cancel();                                     // a command that is still computing

  // Computes what figures are made from, unless it is there.
  void prepare();
  // An edit was refused: what was dropped is let go.
  void take_refusal();

 signals:
  // Something else is held, or nothing.
  void held_changed();
  // It is at another place, or what is shown of it is.
  void moved();
  void refused(const QString& sentence);
  // A command for many nodes: how far it is.
  void progressed(int done, int count);

 private:
  struct Basis;
  // What is done to every selected node.
  struct Command {
    int direction = 0;  // above 0: later, and the last one of the program order goes first
    QString how;
    PlannedMoves::Target target;
    bool carries = false;
  };
  struct Plan {
    std::optional<Edit> edit;  // none: nothing moves
    std::string refusal;
  };

  // Figures.
  void take_basis();
  void take_document();
  void when_ready(std::function<void()> work);
  void run_waiting();

  // Holding.
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

  Document& document_;
  std::shared_ptr<Basis> basis_;
  QFutureWatcher<std::shared_ptr<Basis>> preparing_;
  std::deque<std::function<void()>> waiting_;

  std::unique_ptr<HeldMove> held_;
  NodeId taken_;  // waits to be held
  QFutureWatcher<SnapshotPtr> live_;
  SnapshotPtr live_from_;  // what is computed there: of which graph, and where what is held is
  std::size_t live_gap_ = 0;

  QFutureWatcher<Plan> planning_;
  std::shared_ptr<std::atomic<bool>> command_;  // of a command that is computing: true cancels it
};

}  // namespace jointer::views
