#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "views/session/document/document.h"
#include "views/session/edit/move_planner.h"
#include "views/session/kernels/kernel_lanes.h"
#include "views/session/sac/sac_state.h"
#include "views/session/snapshot/measured_timeline.h"

namespace jointer::views {

// The content of a timeline: the states of a document that it shows, the axis and the lanes.
// Nothing here depends on pixels.
class TimelineContent : public QObject {
  Q_OBJECT
 public:
  // `document` must outlive this object.
  explicit TimelineContent(Document& document);

  [[nodiscard]] Document& document() const { return document_; }
  [[nodiscard]] AxisKind kind() const { return kind_; }
  [[nodiscard]] bool is_measured_axis() const {
    return kind_ == AxisKind::measured_time && measured() != nullptr;
  }

  // The document's graph, with a held block at its current position.
  [[nodiscard]] const Snapshot& shown() const {
    const HeldMove* held = planner_.held();
    return held == nullptr ? document_.snapshot() : *held->shown;
  }
  // The graph as opened, which is drawn behind an edited graph; null if it is hidden, or if it is
  // the graph shown.
  [[nodiscard]] const Snapshot* ghost() const;
  // The data that defines the axis and the positions of nodes and moments on it.
  [[nodiscard]] const TimelineData& data() const { return data_of(kind_); }
  [[nodiscard]] const TimelineData& data_of(AxisKind kind) const;
  [[nodiscard]] const TimelineData& estimated() const { return shown().timeline(kind_); }
  // Null if no measurement is shown.
  [[nodiscard]] const TimelineData* measured() const {
    return document_.measured() == nullptr ? nullptr : &document_.measured()->timeline(kind_);
  }
  // The length of the axis. On an axis of time, it fits both the estimate and the measurement, up
  // to a limit. Except in measured time, it also fits the graph as opened if that is shown.
  [[nodiscard]] std::int64_t axis_length() const;
  // The bytes at the upper end of the memory axis.
  [[nodiscard]] std::int64_t top_bytes() const;
  // Returns true if the memory axis extends to the device's capacity. It does not if all curves are
  // far lower, since that would flatten them.
  [[nodiscard]] bool shows_capacity() const;
  // The bytes measured when the nodes at a moment of the estimate ran; nullopt if unknown.
  [[nodiscard]] std::optional<std::int64_t> measured_bytes(std::size_t moment) const;
  // The number of rows of labels above the memory curve: for the peaks of the estimate, the
  // measurement and the plan, in this order.
  [[nodiscard]] int label_count() const {
    return 1 + (measured_curve() != nullptr ? 1 : 0) + (plan() != nullptr ? 1 : 0);
  }
  // Null if no measured memory is shown.
  [[nodiscard]] const MeasuredCurve* measured_curve() const;
  // The part of the estimated step between two positions on the axis; never empty.
  [[nodiscard]] TimeRange range_between(double begin, double end) const;
  // The positions on the axis where a part of the estimated step begins and ends.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> positions_of(TimeRange range) const;
  // "120 ms" or, in program order, the number of calls before the position. The time has enough
  // digits to distinguish positions that are `resolution` nanoseconds apart, if given.
  [[nodiscard]] QString position_text(double position, double resolution = 0) const;
  // The distance between two positions: "12.0 ms", or "120 calls" in program order.
  [[nodiscard]] QString distance_text(std::int64_t begin, std::int64_t end) const;

  // Lanes from top to bottom, as in the layout.
  struct Row {
    std::size_t lane = 0;  // index in estimated(), *measured() or *kernel_lanes()
    bool is_measured = false;
    bool has_kernels = false;        // a measured lane of kernels, below the lanes of nodes
    bool has_shown_kernels = false;  // a lane of the document's ShownKernels, below all others
  };
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const Lane& lane(const Row& row) const {
    if (row.has_shown_kernels)
      return kernel_lanes_ ? kernel_lanes_->lanes()[row.lane] : no_kernels_;
    return (row.is_measured ? *measured() : estimated()).lanes()[row.lane];
  }
  // Returns true if the times in a row are measured, not estimated.
  [[nodiscard]] bool has_measured_times(const Row& row) const {
    if (!row.has_shown_kernels) return row.is_measured;
    return kernel_lanes_ && kernel_lanes_->kernels().is_measured();
  }
  // The kernels of the document's ShownKernels as lanes; null if they are hidden or unknown.
  [[nodiscard]] const KernelLanes* kernel_lanes() const { return kernel_lanes_.get(); }
  // The row of one of these lanes, or -1.
  [[nodiscard]] int row_of_kernels(std::size_t lane) const;
  // A word for the source of these kernels; "kernels" if they are predicted.
  [[nodiscard]] QString kernels_name() const;
  // Why the kernels of the current graph are not shown, in a few words. Empty if they are.
  [[nodiscard]] QString kernels_state() const;
  // The source of these kernels, and the number of those that have no place on the axis:
  // "kernels: compiled artifacts, times estimated, 2 without a node".
  [[nodiscard]] QString kernels_legend() const;
  // The row that shows a node's lane, or -1.
  [[nodiscard]] int row_of(NodeId node, bool is_measured) const;
  [[nodiscard]] int row_of(std::size_t lane, bool is_measured) const;

  // Returns true if there is a caching allocator to model; the CPU has none.
  [[nodiscard]] bool has_reserved() const {
    return document_.graph().main_device() == DeviceType::cuda;
  }
  [[nodiscard]] bool shows_reserved() const { return show_reserved_ && has_reserved(); }

  [[nodiscard]] bool shows_lane_legend() const { return show_lane_legend_; }
  // Returns true if the kernels of the document's ShownKernels have lanes.
  [[nodiscard]] bool shows_kernels() const { return show_kernels_; }
  // Returns true if these are predicted ones. If so, views must watch the document's kernels.
  [[nodiscard]] bool needs_prediction() const;

  // Returns true if the SAC pane has a plan for this graph, even if it is not drawn.
  [[nodiscard]] bool has_plan() const;
  // The plan, and the plan with a previewed change; null if not shown.
  [[nodiscard]] PlanOutcomePtr plan() const;
  [[nodiscard]] PlanOutcomePtr what_if() const;
  [[nodiscard]] QString plan_name() const;
  [[nodiscard]] QString what_if_name() const;

 public slots:
  void set_kind(jointer::views::AxisKind kind);
  // Cycles through program order, estimated time and, if a measurement is shown, measured time.
  void next_kind();
  void set_show_reserved(bool show);
  void set_show_ghost(bool show);
  void set_show_plan(bool show);
  void set_show_lane_legend(bool show);
  void set_show_kernels(bool show);

 signals:
  void kind_changed(jointer::views::AxisKind kind, jointer::views::AxisKind before);
  void snapshot_changed(const jointer::views::SnapshotPtr& before);
  // A different measurement, or none, is now shown. If none is shown and the axis was in measured
  // time, `kind_changed` is emitted first.
  void measurement_changed();
  // The layout may have changed: the plan, the entries of a legend or the lanes of kernels are
  // different, shown or hidden.
  void legend_changed();
  // Something else that is painted has changed.
  void changed();

 private:
  // The maximum of all curves that are shown, except that of a preview.
  [[nodiscard]] std::int64_t highest_bytes() const;
  [[nodiscard]] bool has_place_for(const SacStatePtr& state) const;
  void follow_document();
  void follow_measurement();
  void follow_kernels();
  void update_kernel_lanes();
  void update_rows();

  Document& document_;
  const MovePlanner& planner_;
  SnapshotPtr last_;  // the document's snapshot after its last change
  AxisKind kind_ = AxisKind::estimated_time;
  std::vector<Row> rows_;
  bool show_reserved_ = true, show_ghost_ = true, show_plan_ = true, show_lane_legend_ = true;
  bool show_kernels_ = false;
  std::unique_ptr<const KernelLanes> kernel_lanes_;
  AxisKind kernels_kind_ = AxisKind::estimated_time;  // the axis of `kernel_lanes_`
  const Lane no_kernels_{"kernels", GroupId{}, {}};
};

}  // namespace jointer::views
