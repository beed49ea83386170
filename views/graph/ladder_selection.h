#pragma once

#include <QObject>
#include <optional>
#include <string>
#include <vector>

#include "views/graph/ladder_marks.h"
#include "views/graph/ladder_model.h"

namespace jointer::views {

// The document's selection in a ladder: selects rows, nodes and rungs, and keeps track of the row
// with keyboard focus.
class LadderSelection : public QObject {
  Q_OBJECT
 public:
  // Both arguments must outlive this object.
  LadderSelection(Document& document, const LadderModel& model);

  [[nodiscard]] const LadderMarks& marks() const { return marks_; }
  // The side on which the next row will be selected.
  [[nodiscard]] LadderSide side() const { return focus_side_; }
  void set_side(LadderSide side) { focus_side_ = side; }
  // Moves the keyboard focus from a row to the current node or, if no box shows the node, to the
  // collapsed row that contains it.
  void clear_focus() { focus_key_.clear(); }
  // Call this after the layout or the graph has changed.
  void refresh_marks();

  // With Ctrl or Shift, these functions add to the selection; Ctrl toggles a single node. Selecting
  // a row selects its calls on that side, or all of its nodes there if it has no calls.
  void select_row(int row, LadderSide side, Qt::KeyboardModifiers modifiers = {});
  void select_node(NodeId node, Qt::KeyboardModifiers modifiers = {});
  // Selects nodes, one of which is `current`, and moves the keyboard focus to it.
  void select_nodes(std::vector<NodeId> nodes, NodeId current,
                    Qt::KeyboardModifiers modifiers = {});
  // Selects the producers of a link's rungs.
  void select_link(std::size_t link, Qt::KeyboardModifiers modifiers);
  // Selects all nodes of a row on both sides, including parameters.
  void select_whole_row(int row);
  // Selects a row and the identical rows in other modules, or a node in the row and the
  // corresponding nodes in the identical rows.
  void select_identical(int row, std::optional<NodeId> node);
  // Selects the first user of the current node or, if `forward` is false, its first input.
  void follow_flow(bool forward);

 signals:
  void changed();
  // The selection was changed elsewhere; `changed` follows.
  void selected_elsewhere();

 private:
  void follow();
  void select(std::vector<NodeId> nodes, NodeId current, Qt::KeyboardModifiers modifiers);

  Document& document_;
  const LadderModel& model_;
  LadderMarks marks_;
  std::string focus_key_;  // key of the row with keyboard focus; empty if a node has focus
  LadderSide focus_side_ = LadderSide::forward;
  bool is_selecting_ = false;  // while this object changes the selection
};

}  // namespace jointer::views
