// Tests the axes of a measurement: positions of its nodes, its bytes and the estimate's moments.

#include "views/session/snapshot/measured_timeline.h"

#include <gtest/gtest.h>

#include "tests/support/measured_step.h"
#include "views/session/document/document.h"
#include "views/session/text/measured_text.h"

namespace jointer::views {
namespace {

using MeasuredTimelineTest = test::MeasuredSmallStep;

TEST_F(MeasuredTimelineTest, HasTheLanesOfTheEstimate) {
  const MeasuredTimeline m = lay(all);
  for (const AxisKind kind : {AxisKind::program_order, AxisKind::measured_time}) {
    const TimelineData& data = m.timeline(kind);
    ASSERT_EQ(data.lanes().size(), snapshot->estimated_time.lanes().size());
    EXPECT_TRUE(data.lanes()[0].items().empty());
    EXPECT_EQ(data.lane_of(node("mm")), 1);
    EXPECT_EQ(data.lane_of(node("ar")), 2);
    EXPECT_EQ(data.lane_of(node("wt")), 1);
    EXPECT_EQ(data.lane_of(node("x")), -1);
  }
  EXPECT_EQ(m.timeline(AxisKind::measured_time).extent(node("relu")).begin, 100'000);
  EXPECT_EQ(m.timeline(AxisKind::measured_time).extent(node("relu")).end, 200'000);
  const auto step = static_cast<std::int64_t>(*snapshot->analysis.memory.step_of(node("relu")));
  EXPECT_EQ(m.timeline(AxisKind::program_order).extent(node("relu")).begin, step);
}

TEST_F(MeasuredTimelineTest, PlacesTheEstimatesMomentsWhenTheirNodesRan) {
  const MeasuredTimeline m = lay(all);
  const TimelineData& data = m.timeline(AxisKind::measured_time);
  ASSERT_EQ(data.point_count(), snapshot->analysis.memory.profile().size());
  const std::size_t step = *snapshot->analysis.memory.step_of(node("mm_1"));
  EXPECT_EQ(data.position(1 + 2 * step), 200'000);
  EXPECT_EQ(data.position(2 + 2 * step), 300'000);
  // The next node runs while the collective is in flight.
  const std::size_t start = *snapshot->analysis.memory.step_of(node("ar"));
  EXPECT_EQ(data.position(2 + 2 * start), data.position(1 + 2 * start));
  for (std::size_t i = 1; i < data.point_count(); ++i)
    EXPECT_LE(data.position(i - 1), data.position(i));
  EXPECT_EQ(data.length(), all.step_ns);
}

TEST_F(MeasuredTimelineTest, IgnoresAProfileOfAnotherGraph) {
  all.memory_profile.pop_back();
  const MeasuredTimeline m = lay(all);
  EXPECT_TRUE(m.curve(AxisKind::program_order).empty());
  EXPECT_TRUE(m.curve(AxisKind::measured_time).empty());
  EXPECT_EQ(m.peak_bytes(), 0);
}

// In a trace of the CPU, the end of a collective whose wait did not block is unknown.
TEST_F(MeasuredTimelineTest, SaysThatADurationIsUnknown) {
  for (MeasuredNode& each : all.nodes)
    if (each.node == node("ar")) each.own_ns = -1;
  const MeasuredTimeline m = lay(all);
  EXPECT_EQ(measured_ns(*snapshot, *m.find(node("ar"))), std::nullopt);
  EXPECT_EQ(measured_lines(*snapshot, m, node("ar")).first(), "measured duration unknown");
  EXPECT_EQ(measured_ns(*snapshot, *m.find(node("mm"))), 100'000);
  EXPECT_TRUE(measured_lines(*snapshot, m, node("mm")).first().startsWith("measured 100 us"));
}

TEST_F(MeasuredTimelineTest, ScalesTheEstimateWithoutMeasuredNodes) {
  const MeasuredTimeline m =
      lay({.label = "snapshot.pickle",
           .memory_over_time = {{0, 100}, {50'000'000, 300}, {90'000'000, 200}}});
  const TimelineData& data = m.timeline(AxisKind::measured_time);
  EXPECT_EQ(data.length(), 90'000'000);
  EXPECT_EQ(data.position(data.point_count() - 1), 90'000'000);
  EXPECT_TRUE(m.curve(AxisKind::program_order).empty());
  const MeasuredCurve& curve = m.curve(AxisKind::measured_time);
  EXPECT_EQ(curve.bytes(curve.largest_point(0, 90'000'000)), 300);
  EXPECT_EQ(m.peak_bytes(), 300);
  EXPECT_EQ(m.find(node("mm")), nullptr);
}

// A graph that was compiled as a whole: no node has a time, and the wait does not stall.
TEST_F(MeasuredTimelineTest, ACompiledBlockIsOneItemOfCompute) {
  const auto steps = snapshot->analysis.memory.steps();
  all.nodes.clear();
  all.blocks = {{.name = "joint",
                 .nodes = {steps.begin(), steps.end()},
                 .start_ns = 10'000,
                 .end_ns = 90'000,
                 .own_ns = 80'000,
                 .peak_bytes = 4096,
                 .memory = {{0, 1000}, {40'000, 4096}, {60'000, 2000}, {80'000, 1500}}}};
  all.alone = true;
  const MeasuredTimeline m = lay(all);
  const Lane& compute = m.timeline(AxisKind::measured_time).lanes()[1];
  ASSERT_EQ(compute.items().size(), 1U);
  const LaneItem& item = compute.items().front();
  EXPECT_EQ(item.begin, 10'000);
  EXPECT_EQ(item.end, 90'000);
  EXPECT_EQ(item.color, ItemColor::compiled);
  ASSERT_NE(compute.text(item), nullptr);
  EXPECT_EQ(*compute.text(item), "compiled joint, 80.0 us");
  // It is drawn over the lane of its collective too.
  const Lane& group = m.timeline(AxisKind::measured_time).lanes()[2];
  ASSERT_EQ(group.items().size(), 1U);
  EXPECT_EQ(group.items().front().begin, 10'000);
  EXPECT_EQ(group.items().front().end, 90'000);
  ASSERT_NE(group.text(group.items().front()), nullptr);
  EXPECT_EQ(m.timeline(AxisKind::measured_time).lane_of(node("ar")), 2);
  const Lane& in_order = m.timeline(AxisKind::program_order).lanes()[1];
  ASSERT_EQ(in_order.items().size(), 1U);
  EXPECT_EQ(in_order.items().front().begin, 0);
  EXPECT_EQ(in_order.items().front().end, std::ssize(steps));
  EXPECT_EQ(m.find(node("wt")), nullptr);
  ASSERT_NE(m.block_of(node("wt")), nullptr);
  EXPECT_EQ(m.block_of(node("wt"))->peak_bytes, 4096);
  EXPECT_EQ(m.block_of(node("x")), nullptr);
  // Memory is drawn over the whole block, not at one of its ends.
  const TimelineData& data = m.timeline(AxisKind::measured_time);
  EXPECT_EQ(data.position(1), 10'000);
  EXPECT_EQ(data.position(data.point_count() - 1), 90'000);
  EXPECT_GT(data.position(3), data.position(1));
  // The curve is that of the block while it ran.
  const MeasuredCurve& curve = m.curve(AxisKind::measured_time);
  const auto bytes_at = [&](std::int64_t ns) { return curve.bytes(curve.point_at(ns)); };
  EXPECT_EQ(bytes_at(0), all.memory_profile.front());
  EXPECT_EQ(bytes_at(20'000), 1000);
  EXPECT_EQ(bytes_at(60'000), 4096);
  EXPECT_EQ(bytes_at(75'000), 2000);
  EXPECT_EQ(bytes_at(90'000), all.memory_profile.back());
}

TEST_F(MeasuredTimelineTest, ABlockIsCutWhereOtherNodesInterruptIt) {
  const auto steps = snapshot->analysis.memory.steps();
  ASSERT_GE(steps.size(), 4U);
  const MeasuredNode between = all.nodes[1];
  all.nodes = {between};
  all.blocks = {{.name = "region 1",
                 .nodes = {steps[0], steps[2], steps[3]},
                 .start_ns = 0,
                 .end_ns = 50'000,
                 .own_ns = 50'000,
                 .peak_bytes = 1}};
  const MeasuredTimeline m = lay(all);
  const auto items = m.timeline(AxisKind::program_order).lanes()[1].items();
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].end, 1);
  EXPECT_EQ(items[1].node, between.node);
  EXPECT_EQ(items[2].begin, 2);
  EXPECT_EQ(items[2].end, 4);
}

// As after an edit that added nodes was undone.
TEST_F(MeasuredTimelineTest, ABlockLacksNodesThatTheGraphDoesNotHave) {
  const NodeId gone(std::size_t{10'000});
  all.nodes.clear();
  all.blocks = {{.name = "region 1",
                 .nodes = {gone, node("mm"), node("relu"), gone},
                 .start_ns = 0,
                 .end_ns = 50'000,
                 .own_ns = 50'000,
                 .peak_bytes = 1},
                {.name = "region 2",
                 .nodes = {gone},
                 .start_ns = 60'000,
                 .end_ns = 70'000,
                 .own_ns = 10'000,
                 .peak_bytes = 1}};
  const MeasuredTimeline m = lay(all);
  for (const AxisKind kind : {AxisKind::program_order, AxisKind::measured_time}) {
    const auto items = m.timeline(kind).lanes()[1].items();
    ASSERT_EQ(items.size(), 1U);
    EXPECT_EQ(items[0].node, node("mm"));
    EXPECT_EQ(items[0].block, 0);
  }
  // The nodes that are left share the whole time.
  const TimelineData& data = m.timeline(AxisKind::measured_time);
  const std::size_t last = *snapshot->analysis.memory.step_of(node("relu"));
  EXPECT_EQ(data.position(2 + 2 * last), 50'000);
  EXPECT_EQ(m.block_of(gone), nullptr);
  EXPECT_EQ(estimated_ns(*snapshot, *m.block_of(node("mm"))),
            estimated_ns(*snapshot, node("mm")) + estimated_ns(*snapshot, node("relu")));
}

TEST_F(MeasuredTimelineTest, ASingleRankHasNoNetworkTimes) {
  all.alone = true;
  const MeasuredTimeline m = lay(all);
  EXPECT_EQ(m.find(node("ar")), nullptr);
  EXPECT_EQ(m.find(node("wt")), nullptr);
  EXPECT_NE(m.find(node("mm")), nullptr);
  EXPECT_TRUE(m.timeline(AxisKind::measured_time).lanes()[2].items().empty());
}

TEST_F(MeasuredTimelineTest, ASingleRankHasTheTimesOfCopiesToAndFromTheHost) {
  snapshot = test::snapshot_of(R"(
    x: f32[262144] = input
    a: f32[262144] = aten.relu(x)
    device cpu
    off: f32[262144] = ao.offload(a)
    host: f32[262144] = ao.wait_tensor(off, a)
    device cuda:0
    b: f32[262144] = aten.sin(x)
    back: f32[262144] = ao.reload(host, 'cuda:0')
    again: f32[262144] = ao.wait_tensor(back)
    c: f32[262144] = aten.mul.Tensor(again, b)
    return [c]
  )");
  all = measurement_of_all(*snapshot);
  all.alone = true;
  const MeasuredTimeline m = lay(all);
  const TimelineData& data = m.timeline(AxisKind::measured_time);
  for (const char* name : {"off", "host", "back", "again"}) {
    EXPECT_NE(m.find(node(name)), nullptr) << name;
    EXPECT_GT(data.extent(node(name)).end, data.extent(node(name)).begin) << name;
    EXPECT_GE(data.lane_of(node(name)), 1) << name;
  }
}

TEST_F(MeasuredTimelineTest, SkipsNodesThatTheGraphDoesNotHave) {
  all.nodes.push_back({NodeId(std::size_t{10'000}), 0, 5, 5});
  const MeasuredTimeline m = lay(all);
  EXPECT_EQ(m.find(NodeId(std::size_t{10'000})), nullptr);
}

// --- Kernels ---

TEST_F(MeasuredTimelineTest, KernelsHaveALaneForEachStream) {
  EXPECT_EQ(lay(all).timeline(AxisKind::measured_time).first_kernel_lane(),
            snapshot->estimated_time.lanes().size())
      << "none without kernels";
  add_kernels();
  const MeasuredTimeline m = lay(all);
  const TimelineData& data = m.timeline(AxisKind::measured_time);
  const std::size_t first = data.first_kernel_lane();
  ASSERT_EQ(first, snapshot->estimated_time.lanes().size());
  ASSERT_EQ(data.lanes().size(), first + 2);
  const Lane& stream = data.lanes()[first];
  EXPECT_EQ(stream.name(), "stream 7");
  ASSERT_EQ(stream.items().size(), 3U);
  const LaneItem& second = stream.items()[1];
  EXPECT_EQ(second.begin, 60'000);
  EXPECT_EQ(second.end, 90'000);
  EXPECT_EQ(second.node, node("mm"));
  EXPECT_EQ(second.color, ItemColor::matmul);
  EXPECT_EQ(second.kernel, 1);
  ASSERT_NE(stream.text(second), nullptr);
  EXPECT_EQ(*stream.text(second), "reduce<float>");
  EXPECT_EQ(stream.items()[2].color, ItemColor::memory);
  const Lane& other = data.lanes()[first + 1];
  EXPECT_EQ(other.name(), "stream 21");
  ASSERT_EQ(other.items().size(), 1U);
  EXPECT_EQ(other.items()[0].color, ItemColor::all_reduce);
  EXPECT_EQ(data.lane_of_kernel(1), static_cast<int>(first));
  EXPECT_EQ(data.lane_of_kernel(3), static_cast<int>(first) + 1);
  EXPECT_EQ(data.lane_of_kernel(4), -1);
  // Nodes remain in their own lanes.
  EXPECT_EQ(data.lane_of(node("mm")), 1);
  EXPECT_EQ(data.lanes()[1].text(data.lanes()[1].items().front()), nullptr);
  // A kernel has no position in program order.
  EXPECT_EQ(m.timeline(AxisKind::program_order).lanes().size(), first);
  EXPECT_EQ(m.timeline(AxisKind::program_order).lane_of_kernel(0), -1);
}

TEST_F(MeasuredTimelineTest, KnowsTheKernelsOfANode) {
  add_kernels();
  const MeasuredTimeline m = lay(all);
  ASSERT_EQ(m.kernels_of(node("mm")).size(), 2U);
  EXPECT_EQ(m.kernels_of(node("mm"))[0], 0U);
  EXPECT_EQ(m.kernels_of(node("mm"))[1], 1U);
  ASSERT_EQ(m.kernels_of(node("ar")).size(), 1U);
  EXPECT_EQ(m.kernels_of(node("ar"))[0], 3U);
  EXPECT_TRUE(m.kernels_of(node("mm_1")).empty());
  EXPECT_TRUE(m.kernels_of(NodeId()).empty());
  EXPECT_TRUE(lay({.label = "no kernels"}).kernels_of(node("mm")).empty());
}

TEST_F(MeasuredTimelineTest, DescribesAKernel) {
  add_kernels();
  const MeasuredTimeline m = lay(all);
  const QStringList one = kernel_lines(*snapshot, m, 2);
  ASSERT_EQ(one.size(), 5);
  EXPECT_EQ(one[0], "void at::native::clamp<4, float>(int, float)");
  EXPECT_EQ(one[1], "measured 50.0 us on stream 7");
  EXPECT_TRUE(one[2].startsWith("launched by relu, aten.relu")) << one[2].toStdString();
  EXPECT_TRUE(one[3].startsWith("ran from ") && one[3].endsWith("(rank 0, interpret)"));
  EXPECT_TRUE(one[4].startsWith("reached ") && one[4].contains("GB/s") &&
              one[4].contains("of peak"))
      << one[4].toStdString();
  // Several kernels share their node's work.
  const QStringList several = kernel_lines(*snapshot, m, 0);
  ASSERT_EQ(several.size(), 5);
  EXPECT_TRUE(several[4].startsWith("the node's 2 kernels reached ")) << several[4].toStdString();
  EXPECT_TRUE(kernel_lines(*snapshot, m, 3)[4].contains("bus bandwidth"));
  // A long name is cut off.
  all.kernels[0].name.assign(5000, 'x');
  EXPECT_LT(kernel_lines(*snapshot, lay(all), 0)[0].size(), 300);
}

TEST_F(MeasuredTimelineTest, KernelsOfLocalCopiesReachNothing) {
  add_kernels();
  all.alone = true;
  const MeasuredTimeline m = lay(all);
  const TimelineData& data = m.timeline(AxisKind::measured_time);
  const auto lane = static_cast<std::size_t>(data.lane_of_kernel(3));
  EXPECT_EQ(data.lanes()[lane].items()[0].color, ItemColor::memory);
  EXPECT_EQ(kernel_lines(*snapshot, m, 3).size(), 4);
}

TEST_F(MeasuredTimelineTest, KernelsOfACompiledBlockBelongToTheBlock) {
  add_kernels();
  all.nodes.clear();
  all.blocks = {{.name = "region 1",
                 .nodes = {node("mm"), node("relu")},
                 .start_ns = 0,
                 .end_ns = 150'000,
                 .own_ns = 150'000,
                 .peak_bytes = 1}};
  const MeasuredTimeline m = lay(all);
  const TimelineData& data = m.timeline(AxisKind::measured_time);
  EXPECT_EQ(data.lanes()[data.first_kernel_lane()].items()[0].color, ItemColor::compiled);
  EXPECT_EQ(data.lanes()[data.first_kernel_lane() + 1].items()[0].color, ItemColor::all_reduce);
  const QStringList lines = kernel_lines(*snapshot, m, 0);
  ASSERT_EQ(lines.size(), 4);
  EXPECT_EQ(lines[2], "launched by compiled region 1, 2 nodes");
}

TEST_F(MeasuredTimelineTest, LeavesOutKernelsWithoutATimeOrANode) {
  add_kernels();
  const std::size_t streams = lay(all).timeline(AxisKind::measured_time).lanes().size();
  all.kernels.push_back({NodeId(std::size_t{10'000}), "elsewhere", 99, 600'000, 700'000});
  all.kernels.push_back({node("relu"), "empty", 99, 700'000, 700'000});
  all.kernels.push_back({node("x"), "of an input", 99, 700'000, 800'000});
  const MeasuredTimeline m = lay(all);
  const TimelineData& data = m.timeline(AxisKind::measured_time);
  EXPECT_EQ(data.lanes().size(), streams);
  EXPECT_EQ(data.lane_of_kernel(4), -1);
  EXPECT_EQ(data.lane_of_kernel(5), -1);
  EXPECT_EQ(data.lane_of_kernel(6), -1);
}

TEST_F(MeasuredTimelineTest, TheAxisFitsTheLastKernel) {
  add_kernels();
  all.kernels.push_back({node("gw0"), "late", 7, all.step_ns, 2 * all.step_ns});
  EXPECT_EQ(lay(all).timeline(AxisKind::measured_time).length(), 2 * all.step_ns);
}

// --- The document's measurement ---

class MeasurementsOfADocument : public MeasuredTimelineTest {
 protected:
  static MeasurementPtr named(std::string label) {
    return std::make_shared<Measurement>(Measurement{.label = std::move(label)});
  }
  [[nodiscard]] std::string shown() const {
    return document.measured() == nullptr ? "" : document.measured()->measurement().label;
  }
  Document document{{}, snapshot};
};

TEST_F(MeasurementsOfADocument, AreThoseOfOneRunAndImports) {
  const MeasurementPtr first = named("run 1, rank 0"), other = named("run 1, rank 1");
  document.set_run({first, other});
  EXPECT_EQ(shown(), "run 1, rank 0");
  document.show_measurement(other);
  EXPECT_EQ(shown(), "run 1, rank 1");
  document.add_import(named("trace.json"));
  EXPECT_EQ(shown(), "trace.json");
  document.set_run({named("run 2, rank 0")});
  EXPECT_EQ(shown(), "run 2, rank 0");
  ASSERT_EQ(document.measurements().size(), 2U);
  EXPECT_EQ(document.measurements()[1]->label, "trace.json");
  document.show_measurement(nullptr);
  EXPECT_EQ(shown(), "");
  EXPECT_EQ(document.measurements().size(), 2U);
}

TEST_F(MeasurementsOfADocument, RemovingARunKeepsImports) {
  document.set_run({named("run")});
  document.set_run({});
  EXPECT_EQ(shown(), "");
  document.set_run({named("run")});
  document.add_import(named("trace.json"));
  document.set_run({});
  EXPECT_EQ(shown(), "trace.json");
  EXPECT_EQ(document.measurements().size(), 1U);
}

}  // namespace
}  // namespace jointer::views
