#include "views/widgets/draw_list.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/graph/literal.h"

namespace jointer::views {
namespace {

Lane lane_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& extents) {
  std::vector<LaneItem> items;
  for (const auto& [begin, end] : extents)
    items.push_back({begin, end, NodeId(items.size()),
                     items.size() % 3 == 0 ? ItemColor::stall : ItemColor::matmul});
  return {"lane", GroupId{}, std::move(items)};
}

TEST(FoldLane, DrawsWideItemsAloneAndFoldsNarrowOnes) {
  const Lane lane = lane_of({{0, 100}, {100, 101}, {101, 102}, {102, 103}, {200, 300}});
  AxisView axis(400);
  axis.set_pixels(0, 400);
  const auto runs = fold_lane(lane, axis);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].left, 0);
  EXPECT_EQ(runs[0].right, 100);
  EXPECT_FALSE(runs[0].is_folded());
  EXPECT_TRUE(runs[1].is_folded());
  EXPECT_EQ(runs[1].first, 1U);
  EXPECT_EQ(runs[1].last, 4U);
  EXPECT_EQ(runs[2].left, 200);
}

TEST(FoldLane, BeginsAndEndsWithTheScreen) {
  const Lane lane = lane_of({{0, 100}, {100, 200}, {200, 300}, {300, 400}});
  AxisView axis(400);
  axis.set_pixels(50, 100);
  axis.show(150, 250);
  const auto runs = fold_lane(lane, axis);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs.front().left, 50);
  EXPECT_EQ(runs.back().right, 150);
}

// For any items and zoom: each visible item is in exactly one run, runs are ordered from left to
// right, and their number is bounded by the screen width.
RC_GTEST_PROP(FoldLaneProperties, CoverEveryVisibleItemOnceWithinTheScreen, ()) {
  std::vector<std::pair<std::int64_t, std::int64_t>> extents;
  std::int64_t at = 0;
  const int count = *rc::gen::inRange(1, 400);
  for (int i = 0; i < count; ++i) {
    at += *rc::gen::element<std::int64_t>(0, 0, 1, 7, 1000);
    const std::int64_t end = at + *rc::gen::element<std::int64_t>(1, 2, 30, 5000);
    extents.emplace_back(at, end);
    at = end;
  }
  const Lane lane = lane_of(extents);
  AxisView axis(at);
  const int width = *rc::gen::inRange(20, 2000);
  axis.set_pixels(10, width);
  const double begin = static_cast<double>(*rc::gen::inRange<std::int64_t>(0, at));
  axis.show(begin, begin + static_cast<double>(*rc::gen::inRange<std::int64_t>(1, at + 1)));
  const auto runs = fold_lane(lane, axis);
  std::size_t next = runs.empty() ? 0 : runs.front().first;
  for (const LaneRun& run : runs) {
    RC_ASSERT(run.first == next);
    RC_ASSERT(run.last > run.first);
    RC_ASSERT(run.right > run.left);
    next = run.last;
  }
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const bool visible = static_cast<double>(extents[i].second) > axis.begin() + 1 &&
                         static_cast<double>(extents[i].first) < axis.end() - 1;
    if (visible) RC_ASSERT(!runs.empty() && i >= runs.front().first && i < runs.back().last);
  }
  RC_ASSERT(runs.size() <= static_cast<std::size_t>(width) + 2);
}

RC_GTEST_PROP(RangeMaximumProperties, AgreesWithALinearSearch, ()) {
  const auto values = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(-50, 50)));
  const RangeMaximum maximum(values);
  const auto first = *rc::gen::inRange<std::size_t>(0, values.size());
  const auto last = *rc::gen::inRange<std::size_t>(first + 1, values.size() + 1);
  const auto expected = std::max_element(values.begin() + static_cast<std::ptrdiff_t>(first),
                                         values.begin() + static_cast<std::ptrdiff_t>(last));
  RC_ASSERT(maximum.find(first, last) == static_cast<std::size_t>(expected - values.begin()));
}

class TimelineOfAGraph : public testing::TestWithParam<AxisKind> {
 protected:
  TimelineOfAGraph()
      : graph(*parse_literal(R"(
    group tp: 0 1
    w: bf16[4096,4096] = parameter
    x: bf16[4096,4096] = input
    mm: bf16[4096,4096] = aten.mm(x, w)
    ar: bf16[4096,4096] = _c10d_functional.all_reduce(mm, 'sum', 'tp')
    v: bf16[4096,4096] = aten.view(x, [4096, 4096])
    mm2: bf16[4096,4096] = aten.mm(v, w)
    wt: bf16[4096,4096] = _c10d_functional.wait_tensor(ar)
    y: bf16[4096,4096] = aten.add.Tensor(wt, mm2)
    return [y]
  )")),
        analysis(*analyze(graph)),
        data(graph, analysis, GetParam()) {}

  Graph graph;
  Analysis analysis;
  TimelineData data;
};

TEST_P(TimelineOfAGraph, HasALaneForTheCpuTheComputeStreamAndEachGroup) {
  ASSERT_EQ(data.lanes().size(), 3U);
  EXPECT_EQ(data.lanes()[0].name(), "cpu");
  EXPECT_EQ(data.lanes()[1].name(), "compute");
  EXPECT_EQ(data.lanes()[2].name(), "tp");
  EXPECT_EQ(data.lanes()[2].items().size(), 1U);
  EXPECT_EQ(data.lane_of(graph.find("ar")), 2);
  EXPECT_EQ(data.lane_of(graph.find("mm")), 1);
}

TEST_P(TimelineOfAGraph, PlacesEveryPointOfTheMemoryProfile) {
  EXPECT_EQ(data.point_count(), analysis.memory.profile().size());
  for (std::size_t i = 1; i < data.point_count(); ++i)
    EXPECT_LE(data.position(i - 1), data.position(i));
  const std::size_t largest = data.largest_point(0, data.length() + 1);
  EXPECT_EQ(analysis.memory.profile()[largest], analysis.memory.peak_bytes());
}

TEST_P(TimelineOfAGraph, ShowsTheWholeCurveInItsColumns) {
  AxisView axis(data.length());
  axis.set_pixels(0, 200);
  const auto columns = memory_columns(data, axis);
  ASSERT_FALSE(columns.empty());
  EXPECT_EQ(columns.front().left, 0);
  EXPECT_EQ(columns.back().right, 200);
  for (std::size_t i = 1; i < columns.size(); ++i) EXPECT_EQ(columns[i].left, columns[i - 1].right);
}

INSTANTIATE_TEST_SUITE_P(BothAxes, TimelineOfAGraph,
                         testing::Values(AxisKind::program_order, AxisKind::estimated_time));

}  // namespace
}  // namespace jointer::views
