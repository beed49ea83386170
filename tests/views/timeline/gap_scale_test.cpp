#include "views/timeline/gap_scale.h"

#include <gtest/gtest.h>

#include "tests/support/two_gathers.h"
#include "views/session/edit/block_move.h"

namespace jointer::views {
namespace {

class GapScaleTest : public test::TwoGathers {};

TEST_F(GapScaleTest, gaps_are_at_the_start_of_the_next_node) {
  const std::vector block{node("v1")};
  const MovePreview preview(*what_if_->preview(block), 0);
  const GapScale scale(graph(), snapshot_->analysis, snapshot_->program_order, block, preview);
  EXPECT_EQ(scale.first(), preview.first());
  EXPECT_EQ(scale.last(), preview.last());
  for (std::size_t gap = scale.first(); gap <= scale.last(); ++gap) {
    if (gap > scale.first()) {
      EXPECT_LT(scale.position(gap - 1), scale.position(gap));
    }
    EXPECT_EQ(scale.gap_at(static_cast<double>(scale.position(gap))), gap);
  }
  EXPECT_EQ(scale.gap_at(-100), scale.first());
  EXPECT_EQ(scale.gap_at(1e9), scale.last());
  // All gaps are within one pixel column, however narrow the axis is.
  AxisView axis(snapshot_->program_order.length());
  for (const double width : {3.0, 1000.0}) {
    axis.set_pixels(10, width);
    std::size_t next = scale.first();
    for (const GapScale::Column& column : scale.columns(axis)) {
      EXPECT_EQ(column.first, next);
      next = column.last + 1;
    }
    EXPECT_EQ(next, scale.last() + 1);
  }
}

TEST_F(GapScaleTest, pointer_snaps_to_the_best_positions) {
  const std::vector block{node("v1")};
  const MovePreview preview(*what_if_->preview(block), 1LL << 40);
  const GapScale scale(graph(), snapshot_->analysis, snapshot_->program_order, block, preview);
  AxisView axis(snapshot_->program_order.length());
  axis.set_pixels(0, 1000);
  const std::size_t best = preview.best.fastest_within.value();
  const double at = static_cast<double>(scale.position(best));
  const double near = at + 5 / axis.pixels_per_unit();
  EXPECT_EQ(scale.snapped(near, preview.best, axis, 6), best);
}

}  // namespace
}  // namespace jointer::views
