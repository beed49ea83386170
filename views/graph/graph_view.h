#pragma once

#include <QAbstractScrollArea>
#include <QMenu>
#include <memory>
#include <optional>

#include "views/graph/ladder_minimap.h"
#include "views/graph/ladder_model.h"
#include "views/graph/ladder_painter.h"
#include "views/graph/ladder_scroll.h"
#include "views/graph/ladder_selection.h"
#include "views/graph/ladder_steps.h"
#include "views/widgets/cached_frame.h"
#include "views/widgets/kernel_watch.h"
#include "views/widgets/keys_group.h"

namespace jointer::views {

// The ladder of a document. See ladder.h for its content, ladder_layout.h for positions and
// ladder_painter.h for painting.
//
// Mouse: a click selects; a double-click on a row or a click on its toggle expands or collapses the
// row, which keeps its position on screen; dragging or the wheel pans; Ctrl+wheel zooms at the
// pointer. While kernels are outlined, a double-click on a node selects all nodes of its kernel.
// The strip on the right shows the whole ladder; dragging in it moves the view.
class GraphView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  // `document` must outlive this object.
  explicit GraphView(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] LadderModel& model() { return model_; }
  [[nodiscard]] LadderScroll& scroll() { return scroll_; }
  // The part of the viewport that shows the ladder.
  [[nodiscard]] QRect area() const;
  [[nodiscard]] QRect minimap_area() const;
  // The scene refers to this view, so it is valid only until the view changes.
  [[nodiscard]] LadderScene scene() const;
  [[nodiscard]] static KeysGroup keys();
  [[nodiscard]] QStringList card_at(QPoint at) const;
  // Returns true if the kernels of the document's ShownKernels are outlined. Predicted ones are
  // computed only while the view is visible.
  [[nodiscard]] bool shows_kernels() const { return shows_kernels_; }

 public slots:
  void set_show_kernels(bool show);
  void full_size() { zoom(1 / scroll_.view().scale); }
  // Zooms at the pointer if it is over the ladder, otherwise at the center.
  void zoom(double factor);
  void close_all();
  // Expands the rows that contain the current node and scrolls to the node.
  void show_selection();

 signals:
  // A frame was painted.
  void painted();

 protected:
  bool event(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  enum class Drag : std::uint8_t { none, maybe, pan, minimap };

  void connect_parts();
  void follow_layout();
  void follow_kernels();
  void refresh();  // invalidates the cached frame
  void reveal_current(double room);
  [[nodiscard]] LadderHit hit(QPoint at) const;
  void click(QPoint at, Qt::KeyboardModifiers modifiers);
  void move_minimap(int y);
  [[nodiscard]] LadderPosition position() const;
  void apply_step(const LadderStep& step);
  bool handle_arrow(int key);
  // Null if kernels are not outlined, or while none are known.
  [[nodiscard]] const SnapshotKernels* kernels() const;
  [[nodiscard]] NodeId node_of(const LadderHit& under) const;
  void select_kernel_of(NodeId node);

  Document& document_;
  LadderModel model_;
  LadderScroll scroll_;
  LadderSelection selection_;
  LadderScroll::Anchor next_anchor_;  // applies to the next layout
  LadderScroll::Anchor row_anchor_;   // applies until rows are expanded or collapsed
  KernelWatch kernel_watch_;
  bool shows_kernels_ = false;
  bool is_waiting_to_show_ = false;  // show the current node once groups are laid out

  Drag drag_ = Drag::none;
  QPoint press_, last_;
  std::optional<QPoint> hover_;
  std::optional<std::size_t> hovered_link_;

  CachedFrame frame_;  // everything except the hover card
  LadderMinimap minimap_;
};

}  // namespace jointer::views
