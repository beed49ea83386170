#pragma once

#include <QAbstractScrollArea>
#include <QPixmap>
#include <QThreadPool>
#include <QTimer>
#include <memory>
#include <optional>
#include <set>

#include "views/document/document.h"
#include "views/graph/ladder_painter.h"
#include "views/palette/keys_group.h"
#include "views/theme/cached_frame.h"

namespace jointer::views {

struct SacState;

// The ladder of a document, painted by hand and bounded by pixels: see ladder.h for what it is of,
// ladder_layout.h for where things are, ladder_painter.h for the painting.
//
// Pointer: click selects, double click or a click on a mark opens and closes, drag or wheel pans,
// Ctrl+wheel zooms at the pointer. What is clicked stays where it is. The strip at the right is the
// whole ladder; dragging there moves the view over it. Nodes of an opened row are laid out on a
// thread of its own; until then (a moment) the row stays closed.
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
  // The part of the viewport that the ladder is in; `view` starts at its top left.
  [[nodiscard]] QRect area() const;
  [[nodiscard]] QRect minimap_area() const;
  // Where a row's box or a node is in the viewport; empty where it is not on the ladder now.
  [[nodiscard]] QRect place_of_row(int row, LadderSide side) const;
  [[nodiscard]] QRect place_of_node(NodeId node) const;
  [[nodiscard]] bool is_open(int row) const { return expansion_.is_open(*ladder_, row); }
  [[nodiscard]] LadderColor color() const { return colors_->by(); }
  // Groups whose nodes are being laid out.
  [[nodiscard]] std::size_t pending() const { return pending_.size(); }
  [[nodiscard]] double last_frame_ms() const { return frame_.last_ms(); }
  [[nodiscard]] std::size_t last_drawn() const { return last_drawn_; }
  [[nodiscard]] static KeysGroup keys();
  [[nodiscard]] QStringList card_at(QPoint at) const;
  // The file ends with .svg or .png. False: it could not be written.
  [[nodiscard]] bool write_picture(const QString& path, bool whole) const;
  // For groups that are not laid out yet.
  void set_dot(DotOptions dot) { dot_ = std::move(dot); }

 public slots:
  void set_color(jointer::views::LadderColor color);
  void fit();
  void full_size();
  void zoom(double factor);
  void open_row(int row);
  void close_row(int row);
  void toggle_row(int row);
  // With all rows below it; of -1 the whole ladder.
  void open_all(int row);
  void close_all(int row);
  // Opens what the current node is in, and brings it on screen.
  void show_selection();
  // To what reads the current node, or back to what it reads.
  void follow_flow(bool forward);

 signals:
  void color_changed(jointer::views::LadderColor color);
  // A frame is on screen.
  void painted();
  // All that was asked for is laid out.
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
  // What stays where it is on screen while the layout changes.
  struct Anchor {
    std::string key;  // of a row; empty: none
    LadderSide side = LadderSide::forward;
    double x = 0, y = 0;  // of its box's outer top corner, in the area
  };
  enum class Drag : std::uint8_t { none, maybe, pan, minimap };

  [[nodiscard]] const Theme& theme() const { return Theme::of(palette()); }
  void take_document();
  void take_plan();
  // The plan of the document's SAC session, where it has one of this graph.
  void show_plan();
  void follow_selection();
  void refresh_marks();
  [[nodiscard]] Anchor anchor_at(int row, LadderSide side) const;
  [[nodiscard]] Anchor anchor_on_screen() const;
  void relayout(const Anchor& anchor);
  void restore(const Anchor& anchor);
  void refresh();  // what is painted must be painted anew
  void set_view(const LadderView& view);
  void set_bars();
  [[nodiscard]] GroupLayoutPtr group_of(int leaf);
  void lay_out_wanted();
  void take_groups(const std::vector<GroupGraphs>& graphs, std::vector<GroupLayout> layouts);
  void lay_out_open_groups_now();
  // With so many pixels of room above and below.
  void reveal(NodeId node, double room);
  void show_place(const LadderRect& rect, double room = 0);

  // Input, in graph_view_input.cpp.
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
  SnapshotPtr snapshot_;                // what is shown; the document's
  std::weak_ptr<const SacState> plan_;  // what the rungs show
  std::unique_ptr<Ladder> ladder_;
  std::unique_ptr<const LadderColors> colors_;
  LadderExpansion expansion_;
  GroupLayouts groups_;
  std::unique_ptr<const LadderLayout> layout_;
  LadderView view_;
  LadderMarks marks_;
  std::string focus_key_;  // of the row that keys work on; empty: the current node has them
  LadderSide focus_side_ = LadderSide::forward;
  bool is_selecting_ = false;  // the selection changes by this view

  DotOptions dot_;
  QThreadPool pool_;
  std::vector<GroupGraphs> wanted_;  // not yet given to the pool
  std::set<GroupGraphs> pending_;
  Anchor anchor_;  // of the next relayout, when a group is laid out
  QTimer relayout_soon_;
  std::optional<NodeId> shown_when_laid_out_;

  Drag drag_ = Drag::none;
  QPoint press_, last_;
  std::optional<QPoint> hover_;
  std::optional<std::size_t> hovered_link_;

  CachedFrame frame_;  // all but the hover card
  QPixmap minimap_;
  bool is_setting_bars_ = false;
  std::size_t last_drawn_ = 0;
};

}  // namespace jointer::views
