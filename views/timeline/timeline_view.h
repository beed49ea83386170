#pragma once

#include <QAbstractScrollArea>
#include <memory>
#include <optional>

#include "views/timeline/memory_zoom.h"
#include "views/timeline/timeline_content.h"
#include "views/timeline/timeline_layout.h"
#include "views/timeline/timeline_overview.h"
#include "views/timeline/timeline_range.h"
#include "views/timeline/timeline_scene.h"
#include "views/widgets/cached_frame.h"
#include "views/widgets/kernel_watch.h"
#include "views/widgets/keys_group.h"

namespace jointer::views {

class MoveTool;

// The memory curve and, on the same axis below it, lanes for the CPU, the compute stream and each
// stream of collectives or copies. If a measurement is shown, its curve is drawn over that of the
// estimate, and each of its lanes below the estimated one; below all of them is a lane for each
// stream of the GPU, with the kernels that were measured on it. The kernels of the document's
// ShownKernels, if shown, have the lowest lanes; predicted ones are computed only while the view is
// visible. The view is painted directly, at a cost bounded by the number of pixels (draw_list.h).
//
// The keys W, A, S and D work while the pointer is over the view (see pointer_keys.h).
//
// Mouse: a click selects, a drag selects a range, a drag with the middle button (or with Space
// held) pans, Ctrl+wheel zooms at the pointer, the wheel pans, and a double-click zooms to the item
// under the pointer. Over the memory curve, Ctrl+Shift+wheel zooms its vertical axis, Shift+wheel
// pans it if it is zoomed, and a double-click shows all of it. Otherwise, Shift+wheel scrolls lanes
// that do not fit. The strip at the bottom shows the whole step; dragging in it moves the visible
// range. Dragging a node that can be moved, or pressing on it for a moment, picks it up (see
// move_tool.h); while it is held, the curve and lanes show the graph with the node at its current
// position. The graph as opened is drawn behind an edited graph.
class TimelineView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  // `none`: nodes cannot be moved.
  enum class Moves : std::uint8_t { allowed, none };
  explicit TimelineView(Document& document, QWidget* parent = nullptr,
                        Moves moves = Moves::allowed);
  ~TimelineView() override;

  [[nodiscard]] TimelineContent& content() { return content_; }
  [[nodiscard]] TimelineRange& range() { return range_; }
  [[nodiscard]] const TimelineLayout& layout() const { return layout_; }
  // The view as a scene, which refers to this view and is valid only until the view changes.
  [[nodiscard]] TimelineScene scene() const;
  // The keys and mouse actions, for the help page.
  [[nodiscard]] static KeysGroup keys();
  // The hover text at a position of the viewport; empty if there is nothing.
  [[nodiscard]] QStringList card_at(QPoint at) const;

 public slots:
  // Zooms at the pointer if it is over the axis, otherwise at the center.
  void zoom(double factor);
  void show_peak();
  // Follows the current node's data flow: forward to a collective's wait or another node's first
  // user, or backward to a wait's collective or another node's first input.
  void follow_flow(bool forward);
  // Goes to the neighbor in the current node's lane.
  void step_in_lane(int direction);
  // Goes to the next or previous collective with exposed time.
  void step_exposed(int direction);
  // Marks the current moment, or removes the mark if there is one.
  void toggle_mark();
  // Selects the range between the marks around the current moment (Marks::range_around). If there
  // is none, returns the reason in one sentence; otherwise an empty string.
  [[nodiscard]] QString select_between_marks();

 signals:
  // A frame was painted.
  void painted();
  // The user asked to see what contributes to the plan's peak.
  void plan_peak_clicked();

 protected:
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
  void keyReleaseEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  enum class Drag : std::uint8_t { none, maybe, area, pan, overview, move };

  void relayout();
  void refresh();  // invalidates the cached frame
  void paint_frame(QPainter& painter);
  void go_to(NodeId node);
  void follow_selection();
  void show_cursor(QPoint at);
  void click(QPoint at, Qt::KeyboardModifiers modifiers);
  void move_overview(int x);
  bool turn_memory(const QWheelEvent& event);

  Document& document_;
  const Moves moves_;
  TimelineContent content_;
  TimelineRange range_;
  TimelineLayout layout_;
  MemoryZoom memory_zoom_;
  KernelWatch kernel_watch_;
  std::unique_ptr<MoveTool> tool_;

  Drag drag_ = Drag::none;
  QPoint press_, last_at_;
  std::optional<QPoint> hover_;
  bool space_held_ = false;

  CachedFrame frame_;       // everything but the plan's curve, cards and a held block's positions
  QStringList range_card_;  // the totals of the selected range when `frame_` was painted
  TimelineOverview overview_;
};

}  // namespace jointer::views
