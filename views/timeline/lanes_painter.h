#pragma once

#include <QCoreApplication>
#include <QPainter>

#include "views/timeline/timeline_scene.h"

namespace jointer::views {

// Paints the lanes with their labels, thin lines below them for the graph as opened, marks for the
// selected nodes, their kernels and the nodes that a search has found, and the flows from
// collectives to their waits.
class LanesPainter {
  Q_DECLARE_TR_FUNCTIONS(LanesPainter)
 public:
  explicit LanesPainter(const TimelineScene& scene) : scene_(scene) {}
  void paint(QPainter& painter) const;

 private:
  struct Detail {
    QString text;
    bool warns = false;
  };
  [[nodiscard]] Detail detail_of(const TimelineContent::Row& row) const;
  [[nodiscard]] QString kernels_label(const TimelineContent::Row& row) const;
  [[nodiscard]] std::int64_t length_of(const TimelineContent::Row& row) const;
  void paint_label(QPainter& painter, std::size_t row) const;
  void paint_ghost(QPainter& painter, std::size_t row) const;
  void paint_cut(QPainter& painter, std::size_t row) const;
  void paint_selection(QPainter& painter) const;
  void paint_selected_kernels(QPainter& painter, std::vector<int>& last_column) const;
  void paint_mark(QPainter& painter, int row, TimelineData::Extent extent, bool is_current,
                  std::vector<int>& last_column) const;
  void paint_hits(QPainter& painter) const;
  void paint_flows(QPainter& painter) const;
  void paint_flow(QPainter& painter, const CollectiveTiming& collective, const QColor& color) const;

  const TimelineScene& scene_;
};

}  // namespace jointer::views
