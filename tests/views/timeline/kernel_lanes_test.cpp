// Tests the lanes of kernels in a timeline, without a widget.

#include <gtest/gtest.h>

#include "tests/support/held_pool.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/measured_step.h"
#include "tests/support/snapshots.h"
#include "views/session/kernels/kernel_lanes.h"
#include "views/session/kernels/kernel_order_edits.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/timeline/timeline_content.h"
#include "views/widgets/draw_list.h"

namespace jointer::views {
namespace {

class KernelLanes : public test::MeasuredSmallStep {
 protected:
  KernelLanes() { add_kernels(); }
  // The names of the rows of kernels, from top to bottom.
  [[nodiscard]] std::vector<std::string> streams() const {
    std::vector<std::string> names;
    for (const TimelineContent::Row& row : content.rows())
      if (row.has_kernels) names.push_back(content.lane(row).name());
    return names;
  }

  Document document{OpenRequest{}, snapshot};
  TimelineContent content{document};
};

TEST_F(KernelLanes, AreBelowTheOthersOnAxesOfTime) {
  const std::vector<std::string> both{"stream 7", "stream 21"}, none;
  EXPECT_EQ(streams(), none) << "no measurement";
  document.add_import(std::make_shared<Measurement>(all));
  EXPECT_EQ(content.kind(), AxisKind::estimated_time);
  EXPECT_EQ(streams(), both);
  content.set_kind(AxisKind::measured_time);
  EXPECT_EQ(streams(), both);
  const auto& rows = content.rows();
  ASSERT_GT(rows.size(), 2U);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    EXPECT_EQ(rows[row].has_kernels, row + 2 >= rows.size()) << row;
    EXPECT_TRUE(rows[row].is_measured || !rows[row].has_kernels) << row;
  }
  // The row of a kernel, and that of its node.
  const TimelineData& data = *content.measured();
  EXPECT_EQ(content.row_of(static_cast<std::size_t>(data.lane_of_kernel(3)), true),
            static_cast<int>(rows.size()) - 1);
  EXPECT_FALSE(rows[static_cast<std::size_t>(content.row_of(node("ar"), true))].has_kernels);
  content.set_kind(AxisKind::program_order);
  EXPECT_EQ(streams(), none);
  content.set_kind(AxisKind::measured_time);
  document.show_measurement(nullptr);
  EXPECT_EQ(streams(), none);
}

// 200,000 kernels of 1 us.
TEST_F(KernelLanes, CostAsManyRunsAsThereArePixels) {
  constexpr std::int64_t kCount = 200'000;
  all.kernels.clear();
  for (std::int64_t i = 0; i < kCount; ++i)
    all.kernels.push_back(
        {node(i % 2 == 0 ? "mm" : "relu"), "kernel", 7, i * 1000, (i + 1) * 1000});
  const MeasuredTimeline m = lay(all);
  const TimelineData& data = m.timeline(AxisKind::measured_time);
  const Lane& lane = data.lanes()[data.first_kernel_lane()];
  ASSERT_EQ(lane.items().size(), static_cast<std::size_t>(kCount));
  AxisView axis(data.length());
  axis.set_pixels(0, 900);
  const auto runs = fold_lane(lane, axis);
  EXPECT_LE(runs.size(), 901U);
  EXPECT_EQ(runs.back().last, static_cast<std::size_t>(kCount));
  axis.show(0, 10'000);
  EXPECT_FALSE(fold_lane(lane, axis).front().is_folded());
}

TEST(LanesOfPredictedKernels, FollowTheOrderThatTheUserHasMade) {
  test::HeldPool pool;
  Document document(OpenRequest{}, test::snapshot_of(test::kTwoProductChains));
  const QObject pane;
  document.kernels().watch(pane);
  pool.run_all(8);
  TimelineContent content(document);
  content.set_show_kernels(true);
  ASSERT_TRUE(content.kernel_lanes());
  EXPECT_EQ(content.kernel_lanes()->shared_kernels(), document.kernels().shown());
  KernelOrderEdits& order = document.kernel_order();
  bool is_moved = false;
  for (std::size_t row = 0; row < 3 && !is_moved; ++row)
    is_moved = order.move_far(row, KernelOrderEdits::Direction::earlier);
  ASSERT_TRUE(is_moved);
  pool.run_all(4);
  ASSERT_NE(order.shown(), document.kernels().shown());
  EXPECT_EQ(content.kernel_lanes()->shared_kernels(), order.shown());
  order.undo();
  EXPECT_EQ(content.kernel_lanes()->shared_kernels(), document.kernels().shown());
  document.kernels().stop_watching(pane);
}

}  // namespace
}  // namespace jointer::views
