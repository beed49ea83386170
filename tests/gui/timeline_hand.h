#pragma once

// Drags nodes and selects ranges in the timeline with the mouse.

#include <QTest>
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "core/graph/dependencies.h"
#include "core/schedule/legal_range.h"
#include "views/session/edit/editing.h"
#include "views/timeline/gap_scale.h"
#include "views/timeline/move_tool.h"
#include "views/timeline/timeline_view.h"

namespace jointer::test {

class TimelineHand {
 public:
  // Both must outlive this object.
  TimelineHand(views::Document& document, views::TimelineView& view)
      : document_(document), view_(view) {}

  // Zooms to a node and returns a point in its item where a press picks it up.
  std::optional<QPoint> grip_of(NodeId node) {
    document_.selection().select(node);
    view_.range().show_selection();
    const auto extent = view_.content().data().extent(node);
    for (std::size_t row = 0; row < view_.content().rows().size(); ++row) {
      const QRect& area = view_.layout().lane[row];
      const int left =
          static_cast<int>(view_.range().axis().to_pixel(static_cast<double>(extent.begin)));
      const int right =
          static_cast<int>(view_.range().axis().to_pixel(static_cast<double>(extent.end)));
      for (int x = left; x <= right; ++x)
        if (views::grip_at(view_.scene(), {x, area.center().y()}) == node)
          return QPoint(x, area.center().y());
    }
    return std::nullopt;
  }

  // Drags a node to a gap and keeps the button pressed. Returns the pointer's position, or nullopt
  // if the node cannot be held.
  std::optional<QPoint> drag(NodeId node,
                             const std::function<std::size_t(const views::MovePreview&)>& to) {
    constexpr int kHoldMs = 15000, kMargin = 10;  // closer to an edge, the view would scroll
    views::MovePlanner& planner = document_.editing().planner();
    const auto at = grip_of(node);
    if (!at) return std::nullopt;
    QTest::mousePress(view_.viewport(), Qt::LeftButton, {}, *at);
    QTest::mouseMove(view_.viewport(), *at + QPoint(6, 0));
    if (!QTest::qWaitFor([&] { return planner.held() != nullptr; }, kHoldMs)) return std::nullopt;
    // Zoom out until the position is within reach; the held node stays where it is.
    const views::HeldMove& held = *planner.held();
    const std::size_t gap = to(held.preview);
    const views::GapScale scale(held.from->graph, held.from->analysis,
                                held.from->timeline(view_.content().kind()), held.block,
                                held.preview);
    const auto x_of = [&](std::size_t place) {
      const auto position = static_cast<double>(scale.position(place));
      return static_cast<int>(std::lround(view_.range().axis().to_pixel(position)));
    };
    const auto reach = [&] { return *at + QPoint(6 + x_of(gap) - x_of(planner.held()->gap), 0); };
    const QRect area = view_.layout().content().adjusted(kMargin, 0, -kMargin, 0);
    while (!area.contains(reach()) && !view_.range().axis().shows_all()) view_.zoom(0.7);
    const QPoint last = reach();
    QTest::mouseMove(view_.viewport(), last);
    return last;
  }

 private:
  views::Document& document_;
  views::TimelineView& view_;
};

// Drags over the memory curve, between two shares of its width.
inline void drag_range(const views::TimelineView& view, double from, double to) {
  const QRect area = view.layout().memory;
  const auto at = [&](double share) {
    return QPoint(area.left() + static_cast<int>(share * area.width()), area.center().y());
  };
  QTest::mousePress(view.viewport(), Qt::LeftButton, {}, at(from));
  QTest::mouseMove(view.viewport(), at((from + to) / 2));
  QTest::mouseMove(view.viewport(), at(to));
  QTest::mouseRelease(view.viewport(), Qt::LeftButton, {}, at(to));
}

// The wait with the longest stall that can be moved later.
inline NodeId exposed_wait(const views::Document& document) {
  constexpr std::size_t kRoom = 12;
  const CollectiveTiming* longest = nullptr;
  const Dependencies dependencies(document.graph());
  for (const CollectiveTiming& c : document.analysis().simulation.collectives()) {
    if (!c.wait || (longest != nullptr && c.exposed_ns <= longest->exposed_ns)) continue;
    const auto range = legal_range(document.graph(), dependencies, std::vector{c.wait});
    if (range && range->last >= range->current + kRoom) longest = &c;
  }
  return longest == nullptr ? NodeId{} : longest->wait;
}

}  // namespace jointer::test
