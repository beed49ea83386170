#include "views/session/kernels/kernel_lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "tests/support/hand_made_kernels.h"
#include "tests/support/snapshots.h"

namespace jointer::views {
namespace {

using KernelKind = kernels::Kernel::Kind;
using ::testing::ElementsAre;

// "2: 0-1" is an item of the kernel 2.
std::vector<std::string> items(const Lane& lane) {
  std::vector<std::string> texts;
  for (const LaneItem& item : lane.items())
    texts.push_back(std::to_string(item.kernel) + ": " + std::to_string(item.begin) + "-" +
                    std::to_string(item.end));
  return texts;
}

class PredictedLanes : public ::testing::Test {
 protected:
  [[nodiscard]] KernelLanes lanes(AxisKind kind, CompiledPart part) const {
    return {test::hand_made_kernels(snapshot_, std::move(part)), kind};
  }
  [[nodiscard]] KernelLanes lanes(AxisKind kind) const {
    return lanes(kind, test::small_step_part(snapshot_->graph));
  }

  SnapshotPtr snapshot_ = test::snapshot_of(test::kSmallStep);
};

// The kernel of relu_1 and g1 is shown at both; the wait and the view launch nothing.
TEST_F(PredictedLanes, InProgramOrderKernelsAreAtTheirNodes) {
  const KernelLanes made = lanes(AxisKind::program_order);
  ASSERT_EQ(made.lanes().size(), 1U);
  EXPECT_THAT(items(made.lanes()[0]),
              ElementsAre("0: 0-1", "1: 1-2", "2: 2-3", "3: 3-4", "4: 4-5", "6: 6-7", "3: 7-8"));
  EXPECT_EQ(made.length(), static_cast<std::int64_t>(snapshot_->analysis.memory.steps().size()));
  ASSERT_EQ(made.places(3).size(), 2U);
  EXPECT_EQ(made.places(3)[1].begin, 7);
  EXPECT_TRUE(made.places(5).empty()) << "the wait";
}

TEST_F(PredictedLanes, NodesWithoutAKernelDoNotEndAStretch) {
  const KernelLanes made = lanes(
      AxisKind::program_order,
      test::hand_made_part(snapshot_->graph, {{KernelKind::pointwise, {"mm", "mm_1"}, 1, 1}}));
  EXPECT_THAT(items(made.lanes()[0]), ElementsAre("0: 0-3"));
}

// A compiled kernel may be tied to no node, and another one may run first at all of its nodes.
TEST_F(PredictedLanes, KernelsWithoutAPlaceAreCounted) {
  EXPECT_EQ(lanes(AxisKind::program_order).left_out(), 0U) << "what launches nothing has no place";
  const CompiledPart part =
      test::hand_made_part(snapshot_->graph, {{KernelKind::pointwise, {"relu"}, 1 << 20, 1 << 20},
                                              {KernelKind::pointwise, {"relu"}, 1 << 20, 1 << 20},
                                              {KernelKind::pointwise, {}, 1 << 20, 1 << 20}});
  const KernelLanes in_order = lanes(AxisKind::program_order, part);
  EXPECT_EQ(in_order.left_out(), 2U);
  EXPECT_EQ(in_order.lanes()[0].items().size(), 1U);
  const KernelLanes in_time = lanes(AxisKind::estimated_time, part);
  EXPECT_EQ(in_time.left_out(), 0U);
  EXPECT_EQ(in_time.lanes()[0].items().size(), 3U);
}

// On the CPU, a C++ function may contain several kernels; the first one has its time.
TEST_F(PredictedLanes, MeasuredKernelsInAnotherOnesFunctionAreNotLeftOut) {
  PartMeasurement measurement{std::make_shared<CompiledTrace>(), {}};
  measurement.ties.kernels = {{.by = TiedBy::name, .calls = {}, .ns = 7},
                              {.by = TiedBy::name, .calls = {}, .ns = {}, .counted_in = 0},
                              {}};
  std::vector<CompiledPart> parts{
      test::hand_made_part(snapshot_->graph, {{KernelKind::pointwise, {"relu"}, 1, 1},
                                              {KernelKind::pointwise, {"relu_1"}, 1, 1},
                                              {KernelKind::pointwise, {"g1"}, 1, 1}})};
  std::vector<PartMeasurement> measurements{measurement};
  const auto measured = std::make_shared<const SnapshotKernels>(
      snapshot_, std::move(parts), std::vector<Compilation>(), std::move(measurements));
  const KernelLanes in_time(measured, AxisKind::estimated_time);
  EXPECT_THAT(items(in_time.lanes()[0]), ElementsAre("0: 0-7"));
  EXPECT_EQ(in_time.left_out(), 1U) << "the kernel that is not in the trace";
  EXPECT_EQ(KernelLanes(measured, AxisKind::program_order).left_out(), 0U);
}

TEST_F(PredictedLanes, InTimeKernelsFollowOneAnother) {
  const KernelLanes made = lanes(AxisKind::estimated_time);
  ASSERT_EQ(made.lanes().size(), 2U);
  const auto compute = made.lanes()[0].items();
  ASSERT_EQ(compute.size(), 5U);
  for (std::size_t i = 0; i < compute.size(); ++i) {
    const std::int64_t ns = made.kernels().rows()[as_index(compute[i].kernel)].ns;
    EXPECT_EQ(compute[i].end - compute[i].begin, ns);
    if (i > 0 && i < 4) {
      EXPECT_EQ(compute[i].begin, compute[i - 1].end);
    }
  }
  // The collective starts after its input, and the kernel after the wait when it has ended.
  const auto collectives = made.lanes()[1].items();
  ASSERT_EQ(collectives.size(), 1U);
  EXPECT_EQ(collectives[0].begin, compute[3].end);
  EXPECT_EQ(compute[4].kernel, 6);
  EXPECT_EQ(compute[4].begin, collectives[0].end);
  EXPECT_EQ(made.length(), compute[4].end);
}

TEST_F(PredictedLanes, ACollectiveWithoutAWaitOverlaps) {
  const KernelLanes made =
      lanes(AxisKind::estimated_time,
            test::hand_made_part(snapshot_->graph, {{KernelKind::collective, {"ar"}, 8, 8},
                                                    {KernelKind::pointwise, {"relu"}, 8, 8}}));
  EXPECT_EQ(made.lanes()[0].items()[0].begin, 0);
  EXPECT_EQ(made.lanes()[1].items()[0].begin, 0);
}

TEST_F(PredictedLanes, ColorsMeanWhatTheyMeanForNodes) {
  const SnapshotKernelsPtr kernels =
      test::hand_made_kernels(snapshot_, test::small_step_part(snapshot_->graph));
  EXPECT_EQ(kernel_color(*kernels, 0), ItemColor::matmul);
  EXPECT_EQ(kernel_color(*kernels, 3), ItemColor::memory);
  EXPECT_EQ(kernel_color(*kernels, 4), ItemColor::all_reduce);
  EXPECT_EQ(kernel_color(*kernels, 6), ItemColor::memory);
}

TEST_F(PredictedLanes, ItemsHaveTheNamesOfTheirKernels) {
  const KernelLanes made = lanes(AxisKind::program_order);
  const Lane& lane = made.lanes()[0];
  ASSERT_NE(lane.text(lane.items()[3]), nullptr);
  EXPECT_EQ(*lane.text(lane.items()[3]), "fused relu, mul");
}

}  // namespace
}  // namespace jointer::views
