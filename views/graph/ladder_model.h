#pragma once

#include <QObject>
#include <memory>

#include "views/graph/group_queue.h"
#include "views/graph/ladder_colors.h"
#include "views/graph/ladder_layout.h"
#include "views/session/document/document.h"

namespace jointer::views {

struct SacState;

// The ladder of a document as shown: the rows, which of them are expanded, their colors and their
// layout. Follows the document and the plan of its SAC session. When the user expands a row, its
// nodes are laid out on a worker thread; until they are, the row is shown collapsed. The tags of a
// flat training step are applied on a worker thread, too; until they are, its rungs are those of
// the graph without a plan.
class LadderModel : public QObject {
  Q_OBJECT
 public:
  // `width` is the number of pixels available for the ladder. `document` must outlive this object.
  LadderModel(Document& document, int width);

  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
  [[nodiscard]] const Ladder& ladder() const { return *ladder_; }
  [[nodiscard]] const LadderLayout& layout() const { return *layout_; }
  [[nodiscard]] const LadderColors& colors() const { return *colors_; }
  [[nodiscard]] bool is_open(int row) const { return expansion_.is_open(*ladder_, row); }
  [[nodiscard]] GroupQueue& groups() { return groups_; }

  void set_width(int width);
  // Expand or collapse a row. Views keep the row's box on this side in place on screen.
  void open_row(int row, LadderSide side = LadderSide::forward);
  void close_row(int row, LadderSide side = LadderSide::forward);
  void toggle_row(int row, LadderSide side = LadderSide::forward) {
    is_open(row) ? close_row(row, side) : open_row(row, side);
  }
  // Expands or collapses the row and all rows below it; -1 stands for the whole ladder.
  void open_all(int row, LadderSide side = LadderSide::forward) { set_all(row, side, true); }
  void close_all(int row, LadderSide side = LadderSide::forward) { set_all(row, side, false); }
  // Expands a row and the rows that contain it.
  void open_path(int row);

 public slots:
  void set_color(jointer::views::LadderColor color);

 signals:
  // Precedes `layout_changed` when rows are expanded or collapsed. Views keep the row's box on that
  // side in place, or the visible part if the row is -1.
  void rows_about_to_change(int row, jointer::views::LadderSide side);
  // Precedes `layout_changed` when the graph or the plan has changed.
  void graph_about_to_change();
  void layout_changed();
  void color_changed(jointer::views::LadderColor color);
  // No layouts are pending: all are finished and shown, or have failed.
  void settled();
  // The nodes of expanded rows could not be laid out, so the rows are shown collapsed; `sentence`
  // says why.
  void layout_failed(const QString& sentence);

 private:
  void follow_document();
  void follow_plan();
  void follow_tags();
  void show_plan();
  void show_plan_of_step();
  void set_all(int row, LadderSide side, bool open);
  void lay_out_open_groups_now();
  void relayout();

  Document& document_;
  SnapshotPtr snapshot_;                // the document's snapshot that is currently shown
  std::weak_ptr<const SacState> plan_;  // the session's state when the rungs were found
  bool shows_plan_ = false;             // the rungs are those of that state's plan
  std::unique_ptr<Ladder> ladder_;
  std::unique_ptr<const LadderColors> colors_;
  LadderExpansion expansion_;
  GroupQueue groups_;
  int width_;
  std::unique_ptr<const LadderLayout> layout_;
};

}  // namespace jointer::views
