#pragma once

#include <QObject>
#include <optional>
#include <string>
#include <vector>

#include "views/graph/ladder_marks.h"
#include "views/graph/ladder_model.h"

namespace jointer::views {

// The document's selection in terms of a ladder: selecting rows, nodes and rungs, and the row with
// keyboard focus.
class LadderSelection : public QObject {
  Q_OBJECT
 public:
  // Both must outlive this object.
  LadderSelection(Document& document, const LadderModel& model);

  [[nodiscard]] const LadderMarks& marks() const { return marks_; }
  // The side on which rows are selected next.
  [[nodiscard]] LadderSide side() const { return focus_side_; }
  void set_side(LadderSide side) { focus_side_ = side; }
  // No row has keyboard focus until one is selected.
  void clear_focus() { focus_key_.clear(); }
  // The layout or the graph has changed.
  void refresh_marks();

  // With Ctrl or Shift, these add to the selection; with Ctrl, a single node is toggled.
  // Selecting a row selects its calls, or its parameters if it has no calls.
  void select_row(int row, LadderSide side, Qt::KeyboardModifiers modifiers = {});
  void select_node(NodeId node, Qt::KeyboardModifiers modifiers = {});
  // Selects the producers of a link's tensors.
  void select_link(std::size_t link, Qt::KeyboardModifiers modifiers);
  // Selects all nodes of a row.
  void select_whole_row(int row);
  // Selects a row, or the same node in it, in all identical modules.
  void select_identical(int row, std::optional<NodeId> node);
  // Moves to a node that reads the current one, or back to one that it reads.
  void follow_flow(bool forward);

 signals:
  void changed();
  // Something else has selected nodes. `changed` follows.
  void selected_elsewhere();

 private:
  void follow();
  void select(std::vector<NodeId> nodes, NodeId current, Qt::KeyboardModifiers modifiers);

  Document& document_;
  const LadderModel& model_;
  LadderMarks marks_;
  std::string focus_key_;  // of the row with keyboard focus; empty if a node has it
  LadderSide focus_side_ = LadderSide::forward;
  bool is_selecting_ = false;  // this object is changing the selection
};

}  // namespace jointer::views
