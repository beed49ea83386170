#pragma once

#include <QAbstractScrollArea>
#include <QPixmap>
#include <QPointer>
#include <optional>

#include "views/document/document.h"
#include "views/edit/move_planner.h"
#include "views/palette/keys_group.h"
#include "views/sac/sac_state.h"
#include "views/theme/cached_frame.h"
#include "views/timeline/axis_view.h"
#include "views/timeline/lane_track.h"
#include "views/timeline/measured_timeline.h"
#include "views/timeline/memory_track.h"
#include "views/timeline/timeline_layout.h"

namespace jointer::views {

class MoveTool;

// The memory curve, and under it on the same axis the lanes of the CPU, the compute stream and each
// process group. Where the document has a measurement, its curve lies over the estimated one and
// its lanes stand under theirs. Painted by hand, bounded by pixels; see draw_list.h.
//
// Pointer: click selects, drag selects a stretch, drag with the middle button (or with Space held)
// pans, Ctrl+wheel zooms at the pointer, wheel pans, a double click zooms to what is under it. The
// strip at the bottom is the whole step; dragging there moves the window over it. What may be moved
// is taken by pressing on it (see move_tool.h); as long as it is held, the curve and the lanes show
// the graph with it where it is. Behind an edited graph stands the one that was opened, as a ghost.
class TimelineView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit TimelineView(Document& document, QWidget* parent = nullptr);
  ~TimelineView() override;
  TimelineView(const TimelineView&) = delete;
  TimelineView& operator=(const TimelineView&) = delete;

  [[nodiscard]] Document& document() const { return document_; }
  // What the axis is of: nodes and moments stand on it where this has them.
  [[nodiscard]] const TimelineData& data() const {
    return is_measured_axis() ? *measured() : estimated();
  }
  [[nodiscard]] const TimelineData& estimated() const { return shown().timeline(kind_); }
  // The document's graph, or with what is held where it is held now.
  [[nodiscard]] const Snapshot& shown() const {
    const HeldMove* held = planner_.held();
    return held == nullptr ? document_.snapshot() : *held->shown;
  }
  // The graph as it was opened, where it is another than the one that is shown.
  [[nodiscard]] const Snapshot* ghost() const;
  // Null if nothing measured is shown.
  [[nodiscard]] const TimelineData* measured() const {
    return document_.measured() == nullptr ? nullptr : &document_.measured()->timeline(kind_);
  }
  // Lanes from top to bottom, as many as the layout has.
  struct Row {
    std::size_t lane = 0;  // of estimated() or of *measured()
    bool is_measured = false;
  };
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const Lane& lane(const Row& row) const {
    return (row.is_measured ? *measured() : estimated()).lanes()[row.lane];
  }
  [[nodiscard]] AxisKind axis_kind() const { return kind_; }
  [[nodiscard]] const AxisView& axis() const { return axis_; }
  [[nodiscard]] const TimelineLayout& layout() const { return layout_; }
  // Whether there is a caching allocator to model: memory of a CPU has none.
  [[nodiscard]] bool has_reserved() const {
    return document_.graph().main_device() == DeviceType::cuda;
  }
  // Whether the SAC pane's plan can be laid over the memory curve.
  [[nodiscard]] bool has_plan() const;
  // Where the mark of the plan's peak is, if it is on screen; a click there is `plan_peak_clicked`.
  [[nodiscard]] std::optional<QPoint> plan_peak_place() const;
  // Time that the last frame took to paint, in milliseconds.
  [[nodiscard]] double last_frame_ms() const { return frame_.last_ms(); }
  // What its keys and the pointer do, for a page of help.
  [[nodiscard]] static KeysGroup keys();
  // What a pointer at this place of the viewport is told; empty where there is nothing.
  [[nodiscard]] QStringList card_at(QPoint at) const { return hit_lines(hit(at), at.x()); }
  [[nodiscard]] const MoveTool& move_tool() const { return *tool_; }
  // What a press there takes hold of: none, or a node that may be moved.
  [[nodiscard]] NodeId grip_at(QPoint at) const;
  // Ruler to lanes: what the axis governs.
  [[nodiscard]] QRect content() const;
  // What part of the step is on screen: "120 ms to 180 ms".
  [[nodiscard]] QString range_text() const;

 public slots:
  void set_axis_kind(jointer::views::AxisKind kind);
  // Program order, estimated time, and measured time where something measured is shown.
  void next_axis_kind();
  void fit();
  void zoom(double factor);
  // Parts of the visible width; negative is left.
  void pan(double share);
  void show_selection();
  void show_peak();
  void set_show_reserved(bool show);
  void set_show_ghost(bool show);
  void set_show_plan(bool show);
  // What is held, or where, is another.
  void show_held() { refresh(); }
  // Along the flow of the current node: from a collective to its wait, else to the next user, or
  // back to the producer.
  void follow_flow(bool forward);
  // To the neighbour in the current node's lane.
  void step_in_lane(int direction);
  // To the next collective (or back) whose time is not hidden.
  void step_exposed(int direction);
  // Keeps the current moment as a mark, or removes the mark that is there.
  void toggle_mark();

 signals:
  void axis_kind_changed(jointer::views::AxisKind kind);
  // What `range_text` gives may be another.
  void range_changed();
  // A frame is on screen.
  void painted();
  // What makes the plan's peak is asked for.
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
  // Where the lane of a node is drawn: a row, or -1.
  [[nodiscard]] int row_of(NodeId node, bool is_measured) const;
  [[nodiscard]] int row_of(std::size_t lane, bool is_measured) const;
  [[nodiscard]] bool is_measured_axis() const {
    return kind_ == AxisKind::measured_time && measured() != nullptr;
  }
  void take_document();
  void take_measurement();
  void relayout();
  void refresh();  // what is painted must be painted anew

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
    std::optional<QPoint> mark;  // none: it is not on screen
    QRect label;
  };
  [[nodiscard]] bool has_place_for(const SacStatePtr& state) const;
  // Null where none is shown.
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

  // Under the pointer.
  struct Hit {
    std::optional<std::size_t> row;
    std::optional<LaneRun> run;
    std::optional<std::size_t> point;  // of the memory profile
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
  SnapshotPtr last_;  // what was shown before the document changed
  AxisKind kind_ = AxisKind::estimated_time;
  AxisView axis_;
  TimelineLayout layout_;
  std::vector<Row> rows_;
  bool show_reserved_ = true, show_ghost_ = true, show_plan_ = true;
  bool had_plan_ = false;
  std::vector<std::size_t> marks_;  // points of the memory profile

  Drag drag_ = Drag::none;
  QPoint press_, last_at_;
  std::optional<QPoint> hover_;
  bool space_held_ = false;

  CachedFrame frame_;  // all but the plan's curve, which follows what is asked, and the hover card
  QPixmap overview_;
};

}  // namespace jointer::views
