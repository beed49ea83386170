#pragma once

#include <QPainter>
#include <QRect>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "views/theme/theme.h"
#include "views/widgets/draw_list.h"

namespace jointer::views {

// How blocks are painted: estimates are pale with an outline, and measurements are filled.
enum class LaneStyle : std::uint8_t { estimated, measured };

// Paints a lane: blocks, with their names if those fit; folded runs as stacks of their colors; and
// stalls with hatching. If runs overlap, later ones are painted over earlier ones.
class LaneTrack {
 public:
  LaneTrack(const Graph& graph, const Lane& lane, const AxisView& axis, QRect area,
            const Theme& theme, LaneStyle style)
      : graph_(graph),
        lane_(lane),
        axis_(axis),
        area_(area),
        theme_(theme),
        style_(style),
        runs_(fold_lane(lane, axis)) {}

  void paint(QPainter& painter) const;
  // The topmost run at a pixel column; nullopt if there is none.
  [[nodiscard]] std::optional<LaneRun> run_at(int x) const;
  [[nodiscard]] const std::vector<LaneRun>& runs() const { return runs_; }

 private:
  // Paints runs that do not overlap.
  void paint_runs(QPainter& painter, std::span<const LaneRun> runs) const;
  void paint_blocks(QPainter& painter, ItemColor color, std::vector<QRect>& blocks) const;
  void paint_names(QPainter& painter, std::span<const LaneRun> runs) const;
  void stack_folded(const LaneRun& run, int width,
                    std::array<std::vector<QRect>, kItemColors>& rects) const;

  const Graph& graph_;
  const Lane& lane_;
  const AxisView& axis_;
  QRect area_;
  const Theme& theme_;
  LaneStyle style_;
  std::vector<LaneRun> runs_;
};

}  // namespace jointer::views
