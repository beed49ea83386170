#pragma once

#include <QAbstractScrollArea>
#include <QPixmap>
#include <QPointer>
#include <optional>

#include "views/session/document/document.h"
#include "views/session/edit/move_planner.h"
#include "views/session/sac/sac_state.h"
#include "views/session/snapshot/measured_timeline.h"
#include "views/timeline/lane_track.h"
#include "views/timeline/memory_track.h"
#include "views/timeline/timeline_layout.h"
#include "views/widgets/axis_view.h"
#include "views/widgets/cached_frame.h"
#include "views/widgets/keys_group.h"

namespace jointer::views {

class MoveTool;

// The memory curve and, on the same axis below it, lanes for the CPU, the compute stream and each
// process group. If the document has a measurement, its curve is drawn over the estimate and its
// lanes below theirs. Painted directly with a cost bounded by pixels; see draw_list.h.
//
// Mouse: click selects, drag selects a range, drag with the middle button (or with Space held)
// pans, Ctrl+wheel zooms at the pointer, wheel pans, and a double-click zooms to the item under the
// pointer. The strip at the bottom shows the whole step; dragging in it moves the visible range.
// Pressing on a node that can be moved picks it up (see move_tool.h); while it is held, the curve
// and lanes show the graph with the node at its current place. The graph as opened is drawn
// behind an edited graph.
class TimelineView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit TimelineView(Document& document, QWidget* parent = nullptr);
  ~TimelineView() override;
  TimelineView(const TimelineView&) = delete;
  TimelineView& operator=(const TimelineView&) = delete;

  [[nodiscard]] Document& document() const { return document_; }
  // The data that defines the axis and the positions of nodes and moments on it.
  [[nodiscard]] const TimelineData& data() const {
    return is_measured_axis() ? *measured() : estimated();
  }
  [[nodiscard]] const TimelineData& estimated() const { return shown().timeline(kind_); }
  // The document's graph, with a held block at its current place.
  [[nodiscard]] const Snapshot& shown() const {
    const HeldMove* held = planner_.held();
    return held == nullptr ? document_.snapshot() : *held->shown;
  }
  // The graph as opened, if it differs from the shown one.
  [[nodiscard]] const Snapshot* ghost() const;
  // Null if no measurement is shown.
  [[nodiscard]] const TimelineData* measured() const {
    return document_.measured() == nullptr ? nullptr : &document_.measured()->timeline(kind_);
  }
  // Lanes from top to bottom, as in the layout.
  struct Row {
    std::size_t lane = 0;  // index in estimated() or *measured()
    bool is_measured = false;
  };
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const Lane& lane(const Row& row) const {
    return (row.is_measured ? *measured() : estimated()).lanes()[row.lane];
  }
  [[nodiscard]] AxisKind axis_kind() const { return kind_; }
  [[nodiscard]] const AxisView& axis() const { return axis_; }
  [[nodiscard]] const TimelineLayout& layout() const { return layout_; }
  // Returns true if there is a caching allocator to model, which the CPU does not have.
  [[nodiscard]] bool has_reserved() const {
    return document_.graph().main_device() == DeviceType::cuda;
  }
  // Returns true if the SAC pane's plan can be drawn over the memory curve.
  [[nodiscard]] bool has_plan() const;
  // The mark of the plan's peak, if visible; clicking it emits `plan_peak_clicked`.
  [[nodiscard]] std::optional<QPoint> plan_peak_place() const;
  // Time taken to paint the last frame, in milliseconds.
  [[nodiscard]] double last_frame_ms() const { return frame_.last_ms(); }
  // Keys and mouse actions, for the help page.
  [[nodiscard]] static KeysGroup keys();
  // Hover text at a position of the viewport; empty if there is nothing.
  [[nodiscard]] QStringList card_at(QPoint at) const { return hit_lines(hit(at), at.x()); }
  [[nodiscard]] const MoveTool& move_tool() const { return *tool_; }
  // The node that a press there would pick up, if any.
  [[nodiscard]] NodeId grip_at(QPoint at) const;
  // The area along the axis, from the ruler to the lanes.
  [[nodiscard]] QRect content() const;
  // The visible range: "120 ms to 180 ms".
  [[nodiscard]] QString range_text() const;

 public slots:
  void set_axis_kind(jointer::views::AxisKind kind);
  // Cycles through program order, estimated time and, if a measurement is shown, measured time.
  void next_axis_kind();
  void fit();
  void zoom(double factor);
  // As a fraction of the visible width; negative is left.
  void pan(double share);
  void show_selection();
  void show_peak();
  void set_show_reserved(bool show);
  void set_show_ghost(bool show);
  void set_show_plan(bool show);
  // The held block or its place has changed.
  void show_held() { refresh(); }
  // Follows the current node's data flow: from a collective to its wait, otherwise to the next
  // user, or back to the producer.
  void follow_flow(bool forward);
  // Moves to the neighbor in the current node's lane.
  void step_in_lane(int direction);
  // Moves to the next or previous collective with exposed time.
  void step_exposed(int direction);
  // Marks the current moment, or removes its mark.
  void toggle_mark();

 signals:
  void axis_kind_changed(jointer::views::AxisKind kind);
  // The result of `range_text` may have changed.
  void range_changed();
  // A frame was painted.
  void painted();
  // The user asked what contributes to the plan's peak.
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

  [[nodiscard]] const Theme& theme() const { return Theme::of(palette()); }
  [[nodiscard]] bool shows_reserved() const { return show_reserved_ && has_reserved(); }
  [[nodiscard]] std::int64_t top_bytes() const;
  [[nodiscard]] std::int64_t axis_length() const;
  // The row that shows a node's lane, or -1.
  [[nodiscard]] int row_of(NodeId node, bool is_measured) const;
  [[nodiscard]] int row_of(std::size_t lane, bool is_measured) const;
  [[nodiscard]] bool is_measured_axis() const {
    return kind_ == AxisKind::measured_time && measured() != nullptr;
  }
  void take_document();
  void take_measurement();
  void relayout();
  void refresh();  // invalidates the cached frame

  // Painting, in timeline_paint.cpp.
  void paint_frame(QPainter& painter);
  void paint_ruler(QPainter& painter) const;
  void paint_memory(QPainter& painter) const;
  void paint_reserved(QPainter& painter, const MemoryTrack& track) const;
  void paint_ghost_curve(QPainter& painter, const MemoryTrack& track) const;
  void paint_ghost_lane(QPainter& painter, std::size_t row) const;
  void paint_measured_curve(QPainter& painter, const MemoryTrack& track) const;
  void paint_lifetime(QPainter& painter) const;
  void paint_peak(QPainter& painter, const MemoryTrack& track) const;
  void paint_lanes(QPainter& painter) const;
  void paint_lane_label(QPainter& painter, std::size_t row) const;
  void paint_cut(QPainter& painter, std::size_t row) const;
  struct LaneDetail {
    QString text;
    bool warns = false;
  };
  [[nodiscard]] LaneDetail lane_detail(const Row& row) const;
  void paint_flows(QPainter& painter) const;
  void paint_flow(QPainter& painter, const CollectiveTiming& collective, const QColor& color) const;
  void paint_overview(QPainter& painter);
  void paint_selection(QPainter& painter) const;
  void paint_moment(QPainter& painter) const;
  void paint_marks(QPainter& painter) const;
  void paint_stretch(QPainter& painter) const;
  void paint_hover(QPainter& painter) const;
  [[nodiscard]] QString position_text(double position) const;
  [[nodiscard]] QStringList stretch_lines(Selection::Stretch stretch) const;

  // The legend, in timeline_legend.cpp.
  struct LegendEntry;
  [[nodiscard]] std::vector<LegendEntry> legend_entries() const;
  template <class Put>
  int place_legend(const QFontMetrics& metrics, int left, int width, Put put) const;
  [[nodiscard]] int legend_height(int width) const;
  void paint_legend(QPainter& painter) const;

  // The plan, in timeline_plan.cpp.
  struct PlanPeak {
    std::optional<QPoint> mark;  // none if it is not visible
    QRect label;
  };
  [[nodiscard]] bool has_place_for(const SacStatePtr& state) const;
  // Null if no plan is shown.
  [[nodiscard]] PlanOutcomePtr plan() const;
  [[nodiscard]] PlanOutcomePtr what_if() const;
  void take_plan();
  [[nodiscard]] QString plan_name() const;
  [[nodiscard]] QString plan_peak_text() const;
  [[nodiscard]] PlanPeak plan_peak() const;
  [[nodiscard]] bool is_at_plan_peak(QPoint at) const;
  void paint_plan(QPainter& painter) const;
  void paint_plan_peak(QPainter& painter, const PlanPeak& peak) const;
  [[nodiscard]] QStringList plan_lines(int x) const;

  // Hit testing.
  struct Hit {
    std::optional<std::size_t> row;
    std::optional<LaneRun> run;
    std::optional<std::size_t> point;  // in the memory profile
  };
  [[nodiscard]] Hit hit(QPoint at) const;
  [[nodiscard]] LaneTrack track_of(std::size_t row) const;
  [[nodiscard]] QStringList hit_lines(const Hit& hit, int x) const;
  [[nodiscard]] QStringList folded_lines(const Lane& lane, const LaneRun& run) const;
  void click(QPoint at, Qt::KeyboardModifiers modifiers);
  void drag_area(QPoint to);
  void move_overview(int x);
  void select_and_reveal(NodeId node);
  void follow_selection();
  void drop_hover();
  void show_cursor(QPoint at);

  Document& document_;
  MovePlanner& planner_;
  MoveTool* tool_ = nullptr;
  SnapshotPtr last_;  // shown before the document changed
  AxisKind kind_ = AxisKind::estimated_time;
  AxisView axis_;
  TimelineLayout layout_;
  std::vector<Row> rows_;
  bool show_reserved_ = true, show_ghost_ = true, show_plan_ = true;
  bool had_plan_ = false;
  std::vector<std::size_t> marks_;  // points in the memory profile

  Drag drag_ = Drag::none;
  QPoint press_, last_at_;
  std::optional<QPoint> hover_;
  bool space_held_ = false;

  CachedFrame frame_;  // everything except the plan's curve and the hover card
  QPixmap overview_;
};

}  // namespace jointer::views
