#pragma once

#include <QAbstractScrollArea>
#include <QPixmap>
#include <QThreadPool>
#include <QTimer>
#include <memory>
#include <optional>
#include <set>

#include "views/graph/ladder_painter.h"
#include "views/session/document/document.h"
#include "views/widgets/cached_frame.h"
#include "views/widgets/keys_group.h"

namespace jointer::views {

struct SacState;

// The ladder of a document, painted directly with a cost bounded by pixels. See ladder.h for its
// content, ladder_layout.h for positions and ladder_painter.h for painting.
//
// Mouse: click selects, double-click or a click on a toggle expands and collapses, drag or wheel
// pans, Ctrl+wheel zooms at the pointer. A clicked item keeps its position. The strip on the right
// shows the whole ladder; dragging in it moves the view. The nodes of an expanded row are laid out
// on another thread; until that is done the row stays collapsed.
class GraphView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit GraphView(Document& document, QWidget* parent = nullptr);
  ~GraphView() override;
  GraphView(const GraphView&) = delete;
  GraphView& operator=(const GraphView&) = delete;

  [[nodiscard]] Document& document() const { return document_; }
  [[nodiscard]] const Snapshot& snapshot() const { return *snapshot_; }
  [[nodiscard]] const Ladder& ladder() const { return *ladder_; }
  [[nodiscard]] const LadderLayout& layout() const { return *layout_; }
  [[nodiscard]] const LadderView& view() const { return view_; }
  [[nodiscard]] const LadderMarks& marks() const { return marks_; }
  // The part of the viewport that shows the ladder; `view` starts at its top left corner.
  [[nodiscard]] QRect area() const;
  [[nodiscard]] QRect minimap_area() const;
  // The position of a row's box or a node in the viewport; empty if it is not in the ladder.
  [[nodiscard]] QRect place_of_row(int row, LadderSide side) const;
  [[nodiscard]] QRect place_of_node(NodeId node) const;
  [[nodiscard]] bool is_open(int row) const { return expansion_.is_open(*ladder_, row); }
  [[nodiscard]] LadderColor color() const { return colors_->by(); }
  // Number of groups being laid out.
  [[nodiscard]] std::size_t pending() const { return pending_.size(); }
  [[nodiscard]] double last_frame_ms() const { return frame_.last_ms(); }
  [[nodiscard]] std::size_t last_drawn() const { return last_drawn_; }
  [[nodiscard]] static KeysGroup keys();
  [[nodiscard]] QStringList card_at(QPoint at) const;
  // The file name must end with .svg or .png. Returns false if it could not be written.
  [[nodiscard]] bool write_picture(const QString& path, bool whole) const;
  // Applies to groups that are not laid out yet.
  void set_dot(DotOptions dot) { dot_ = std::move(dot); }

 public slots:
  void set_color(jointer::views::LadderColor color);
  void fit();
  void full_size();
  void zoom(double factor);
  void open_row(int row);
  void close_row(int row);
  void toggle_row(int row);
  // Includes all rows below the given one; -1 stands for the whole ladder.
  void open_all(int row);
  void close_all(int row);
  // Expands the rows around the current node and scrolls to it.
  void show_selection();
  // Moves to a node that reads the current one, or back to one that it reads.
  void follow_flow(bool forward);

 signals:
  void color_changed(jointer::views::LadderColor color);
  // A frame was painted.
  void painted();
  // All pending layouts are done.
  void settled();

 protected:
  bool event(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  // An item that keeps its screen position while the layout changes.
  struct Anchor {
    std::string key;  // of a row, or empty
    LadderSide side = LadderSide::forward;
    double x = 0, y = 0;  // the outer top corner of its box, in the area
  };
  enum class Drag : std::uint8_t { none, maybe, pan, minimap };

  [[nodiscard]] const Theme& theme() const { return Theme::of(palette()); }
  void take_document();
  void take_plan();
  // Shows the plan of the document's SAC session if it belongs to this graph.
  void show_plan();
  void follow_selection();
  void refresh_marks();
  [[nodiscard]] Anchor anchor_at(int row, LadderSide side) const;
  [[nodiscard]] Anchor anchor_on_screen() const;
  void relayout(const Anchor& anchor);
  void restore(const Anchor& anchor);
  void refresh();  // invalidates the cached frame
  void set_view(const LadderView& view);
  void set_bars();
  [[nodiscard]] GroupLayoutPtr group_of(int leaf);
  void lay_out_wanted();
  void take_groups(const std::vector<GroupGraphs>& graphs, std::vector<GroupLayout> layouts);
  void lay_out_open_groups_now();
  // `room`: margin above and below in pixels.
  void reveal(NodeId node, double room);
  void show_place(const LadderRect& rect, double room = 0);

  // Input handling, in graph_view_input.cpp.
  [[nodiscard]] LadderHit hit(QPoint at) const;
  void click(QPoint at, Qt::KeyboardModifiers modifiers);
  void select(std::vector<NodeId> nodes, NodeId current, Qt::KeyboardModifiers modifiers);
  void select_row(int row, LadderSide side, Qt::KeyboardModifiers modifiers = {});
  void select_link(std::size_t link, Qt::KeyboardModifiers modifiers);
  void focus_on(int row, LadderSide side);
  void step_rows(int direction);
  bool step_nodes(int key);
  void step_in();
  void step_out();
  void move_minimap(int y);
  void select_identical(int row, std::optional<NodeId> node);
  void fill_menu(QMenu& menu, const LadderHit& hit);

  // Painting, in graph_view_paint.cpp.
  [[nodiscard]] LadderScene scene(const LadderView& view) const;
  std::size_t paint_picture(QPainter& painter, QSize size, const LadderView& view) const;
  void paint_header(QPainter& painter, const QRect& strip, const LadderView& view) const;
  void paint_legend(QPainter& painter, const QRect& strip) const;
  void paint_minimap(QPainter& painter);
  void paint_minimap_rows(QPainter& painter, const QRect& rect) const;
  [[nodiscard]] QStringList lines(const LadderHit& hit) const;
  [[nodiscard]] QStringList row_lines(int row, LadderSide side) const;
  [[nodiscard]] QStringList link_lines(const LadderLink& link) const;

  Document& document_;
  SnapshotPtr snapshot_;                // the document's, as currently shown
  std::weak_ptr<const SacState> plan_;  // shown by the rungs
  std::unique_ptr<Ladder> ladder_;
  std::unique_ptr<const LadderColors> colors_;
  LadderExpansion expansion_;
  GroupLayouts groups_;
  std::unique_ptr<const LadderLayout> layout_;
  LadderView view_;
  LadderMarks marks_;
  std::string focus_key_;  // of the row with keyboard focus; empty if a node has it
  LadderSide focus_side_ = LadderSide::forward;
  bool is_selecting_ = false;  // this view is changing the selection

  DotOptions dot_;
  QThreadPool pool_;
  std::vector<GroupGraphs> wanted_;  // not yet passed to the pool
  std::set<GroupGraphs> pending_;
  Anchor anchor_;  // for the next relayout after a group was laid out
  QTimer relayout_soon_;
  std::optional<NodeId> shown_when_laid_out_;

  Drag drag_ = Drag::none;
  QPoint press_, last_;
  std::optional<QPoint> hover_;
  std::optional<std::size_t> hovered_link_;

  CachedFrame frame_;  // everything except the hover card
  QPixmap minimap_;
  bool is_setting_bars_ = false;
  std::size_t last_drawn_ = 0;
};

}  // namespace jointer::views
