// Times of kernels that were lowered from a graph or built by hand, compared with the rules of
// core/cost/kernel_rules.h.

#include "core/compiled/kernel_times.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/compiled/kernel_accesses.h"
#include "core/cost/kernel_rules.h"
#include "core/kernels/lowering.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/small_ir.h"

namespace jointer::test {
namespace {

using kernels::Kernel;
using kernels::KernelTime;

const DeviceDescription& h100() {
  static const DeviceDescription device = must(load_device("h100"));
  return device;
}

// The work of the kernel that computes an op.
LoopWork work_of(const SmallIr& small, kernels::BufferId result) {
  const kernels::Kernels scheduled = kernels::schedule(small.ir);
  const kernels::OpId op = small.ir.buffers[static_cast<std::size_t>(result)].op;
  const std::int32_t kernel = scheduled.kernel_of[static_cast<std::size_t>(op)];
  return kernels::loop_work(small.ir, scheduled.kernels[static_cast<std::size_t>(kernel)], h100());
}

double bytes(const LoopWork& work, AccessPattern pattern) {
  return work.bytes[static_cast<std::size_t>(pattern)];
}

constexpr std::int64_t kSize = 1024, kBytes = 4 * kSize * kSize;

TEST(KernelAccesses, AlongTheLoopOfMostBytes) {
  SmallIr small;
  const auto x = small.input({kSize, kSize}), y = small.input({kSize, kSize});
  const auto row = small.input({kSize});
  // z[i][j] = x[i][j] + y[j][i] + row[j]
  const auto z = small.pointwise({kSize, kSize}, {{x, {kSize, 1}}, {y, {1, kSize}}, {row, {0, 1}}});
  small.output(z);
  const LoopWork work = work_of(small, z);
  EXPECT_EQ(work.kind, LoopWork::Kind::element_wise);
  EXPECT_EQ(bytes(work, AccessPattern::coalesced), 2 * kBytes + 4 * kSize);
  EXPECT_EQ(bytes(work, AccessPattern::strided), kBytes);
}

TEST(KernelAccesses, OneElementForAllThreadsIsCoalesced) {
  SmallIr small;
  const auto x = small.input({kSize, kSize}), column = small.input({kSize});
  const auto z = small.pointwise({kSize, kSize}, {{x, {kSize, 1}}, {column, {1, 0}}});
  small.output(z);
  const LoopWork work = work_of(small, z);
  EXPECT_EQ(bytes(work, AccessPattern::coalesced), 2 * kBytes + 4 * kSize);
  EXPECT_EQ(bytes(work, AccessPattern::strided), 0);
}

TEST(KernelAccesses, EverySecondElementMovesItsSector) {
  SmallIr small;
  const auto x = small.input({2 * kSize * kSize});
  const auto z = small.pointwise({kSize * kSize}, {{x, {2}}});
  small.output(z);
  const LoopWork work = work_of(small, z);
  EXPECT_EQ(bytes(work, AccessPattern::coalesced), kBytes);
  EXPECT_EQ(bytes(work, AccessPattern::strided), 2 * kBytes);
}

TEST(KernelAccesses, ReductionsAlongRowsAndColumns) {
  SmallIr small;
  const auto x = small.input({kSize, 64 * kSize}), y = small.input({kSize, 64 * kSize});
  const auto rows = small.sum({kSize}, {64 * kSize}, {{x, {64 * kSize, 1}}});
  const auto columns = small.sum({64 * kSize}, {kSize}, {{y, {1, 64 * kSize}}});
  small.output(rows);
  small.output(columns);
  const LoopWork along = work_of(small, rows), across = work_of(small, columns);
  EXPECT_EQ(along.kind, LoopWork::Kind::row_reduction);
  EXPECT_EQ(along.blocks, kSize) << "one for each row";
  EXPECT_EQ(across.kind, LoopWork::Kind::column_reduction);
  EXPECT_EQ(across.blocks, kSize) << "one for 64 columns";
  EXPECT_EQ(bytes(across, AccessPattern::strided), 0) << "neighbors read side by side";
}

// An index that is loaded, times the row's size, plus the column.
kernels::Index gathered(std::int64_t size) {
  kernels::Index index = SmallIr::strided({0, 1});
  const kernels::IndexTerm loaded{{{-1, 1}}, 0, 1, 0, size};
  index.terms.insert(index.terms.begin(), loaded);
  return index;
}

TEST(KernelAccesses, RowsAreGathered) {
  SmallIr small;
  const auto table = small.input({kSize, kSize});
  const auto z = small.pointwise({kSize, kSize}, {{table, {kSize, 1}}});
  small.output(z);
  small.ir.ops.front().reads.front().index = gathered(kSize);
  const LoopWork work = work_of(small, z);
  EXPECT_EQ(bytes(work, AccessPattern::gathered), kBytes);
  EXPECT_EQ(bytes(work, AccessPattern::coalesced), kBytes);
}

struct Timed {
  Graph graph;
  kernels::Ir ir;
  kernels::Kernels scheduled;
  std::vector<NodeCost> costs;
  std::vector<KernelTime> times;
  DeviceDescription device;

  [[nodiscard]] std::size_t kernel_of(const char* name) const {
    for (std::size_t i = 0; i < scheduled.kernels.size(); ++i)
      for (const NodeId id : scheduled.kernels[i].nodes)
        if (id == graph.find(name) && times[i].is_launch) return i;
    throw std::runtime_error(std::string("no kernel computes ") + name);
  }
  [[nodiscard]] const KernelTime& operator[](const char* name) const {
    return times[kernel_of(name)];
  }
};

Timed timed(std::string_view text, DeviceDescription device = h100(),
            const std::function<void(const Graph&, std::vector<NodeCost>&)>& measure = {}) {
  Timed result{.graph = parse(text),
               .ir = {},
               .scheduled = {},
               .costs = {},
               .times = {},
               .device = std::move(device)};
  result.ir = kernels::lower(result.graph, kNewestTorch);
  result.scheduled = kernels::schedule(result.ir);
  result.costs = estimate_all(result.graph, *must(make_estimator({.device = "h100"})));
  if (measure) measure(result.graph, result.costs);
  result.times =
      kernels::kernel_times(result.graph, result.ir, result.scheduled, result.costs, result.device);
  return result;
}

constexpr std::string_view kText = R"(
  kind forward
  x: f32[4096,4096] = input
  small: f32[16] = input
  a: f32[4096,4096] = aten.neg(x)
  b: f32[4096,4096] = aten.abs(a)
  mm: f32[4096,4096] = aten.mm(b, b)
  tiny: f32[16] = aten.neg(small)
  return [mm, tiny]
)";

TEST(KernelTimes, LoopsFollowTheRules) {
  const Timed step = timed(kText);
  const double moved = 2.0 * 4 * 4096 * 4096;
  LoopWork work;
  work.add(AccessPattern::coalesced, moved);
  ASSERT_EQ(step.kernel_of("a"), step.kernel_of("b"));
  EXPECT_NEAR(static_cast<double>(step["a"].ns), loop_time(h100(), work).ns, 1);
  EXPECT_EQ(step["a"].limit, NodeCost::Limit::memory);
  EXPECT_TRUE(step["a"].is_memory_bound);
  EXPECT_FALSE(step["a"].is_time_of_nodes);
  EXPECT_NEAR(static_cast<double>(step["a"].roofline_ns), moved / h100().memory_gbps, 1);
  EXPECT_EQ(step["tiny"].limit, NodeCost::Limit::launch);
}

TEST(KernelTimes, LibrariesTakeTheEstimatesOfTheirNodes) {
  const Timed step = timed(kText);
  const NodeCost& mm = step.costs[step.graph.find("mm").index()];
  EXPECT_EQ(step["mm"].ns, mm.ns);
  EXPECT_EQ(step["mm"].limit, mm.limit);
  EXPECT_TRUE(step["mm"].is_time_of_nodes);
  EXPECT_FALSE(step["mm"].is_memory_bound);
  EXPECT_NEAR(static_cast<double>(step["mm"].roofline_ns),
              2.0 * 4096 * 4096 * 4096 / h100().peak_flops(DType::float32) * 1e9, 1);
}

// torch makes one call of a product and a sum, and names only the sum.
TEST(KernelTimes, AProductThatWasJoinedToASumCounts) {
  const Timed step = timed(R"(
    kind forward
    x: f32[4096,4096] = input
    y: f32[4096,4096] = input
    mm: f32[4096,4096] = aten.mm(x, x)
    sum: f32[4096,4096] = aten.add.Tensor(y, mm)
    return [sum]
  )");
  ASSERT_EQ(step.scheduled.kernels.size(), 1U);
  const auto ns = [&](const char* name) { return step.costs[step.graph.find(name).index()].ns; };
  EXPECT_EQ(step["sum"].ns, ns("mm") + ns("sum"));
  EXPECT_FALSE(step["sum"].is_memory_bound);
}

// The loops that add a bias take the time of what they move, although torch counts the FLOPs of the
// convolution for them.
TEST(KernelTimes, TheBiasOfAConvolutionIsNotBoundByMemory) {
  const Timed step = timed(R"(
    kind forward
    x: f32[16,8,256,256] = input
    w: f32[8,8,3,3] = parameter
    b: f32[8] = parameter
    y: f32[16,8,256,256] = aten.convolution(x, w, b, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    return [y]
  )");
  ASSERT_EQ(step.times.size(), 2U);
  EXPECT_FALSE(step.times[1].is_memory_bound);
  EXPECT_FALSE(step.times[1].is_time_of_nodes);
  EXPECT_EQ(step.times[1].limit, NodeCost::Limit::memory);
}

// A device without rates has the times that the roofline model assumes.
TEST(KernelTimes, WithoutRatesTheBytesTakeTheRooflinesTime) {
  DeviceDescription device = h100();
  device.kernels.reset();
  const Timed step = timed(kText, device);
  EXPECT_NEAR(static_cast<double>(step["a"].ns),
              2.0 * 4 * 4096 * 4096 / (device.memory_gbps * device.efficiency.memory), 1);
  EXPECT_EQ(step["tiny"].ns, static_cast<std::int64_t>(device.kernel_us * 1e3));
}

TEST(KernelTimes, LoopsOfOneMeasuredCallTakeItsTime) {
  const auto measure = [](const Graph& graph, std::vector<NodeCost>& costs) {
    for (const char* name : {"a", "tiny"}) {
      costs[graph.find(name).index()].ns = 7777;
      costs[graph.find(name).index()].limit = NodeCost::Limit::given;
    }
  };
  const Timed step = timed(kText, h100(), measure);
  EXPECT_EQ(step["tiny"].ns, 7777);
  EXPECT_EQ(step["tiny"].limit, NodeCost::Limit::given);
  EXPECT_NE(step["a"].ns, 7777) << "the kernel also computes b";
}

TEST(KernelTimes, ANodeCountsInTheFirstOfItsKernels) {
  Timed step = timed(kText);
  Kernel again = step.scheduled.kernels[step.kernel_of("mm")];
  step.scheduled.kernels.push_back(again);
  const std::vector<KernelTime> times =
      kernels::kernel_times(step.graph, step.ir, step.scheduled, step.costs, step.device);
  EXPECT_EQ(times.back().ns, 0);
  EXPECT_EQ(times[step.kernel_of("mm")].ns, step["mm"].ns);
}

TEST(KernelTimes, AGivenTimeCountsInTheFirstKernelOfASplitReduction) {
  const Timed step = timed(R"(
    kind forward
    x: f32[4096,4096] = input
    y: f32[] = aten.sum(x)
    return [y]
  )",
                           h100(), [](const Graph& graph, std::vector<NodeCost>& costs) {
                             NodeCost& cost = costs[graph.find("y").index()];
                             cost.ns = 7777;
                             cost.limit = NodeCost::Limit::given;
                           });
  ASSERT_EQ(step.times.size(), 2U) << "the reduction is split in two kernels";
  EXPECT_EQ(step.times.front().ns, 7777);
  EXPECT_EQ(step.times.back().ns, 0);
  for (const KernelTime& time : step.times) {
    EXPECT_TRUE(time.is_launch);
    EXPECT_EQ(time.limit, NodeCost::Limit::given);
  }
}

// Loops that are fused into a template take no additional time.
TEST(KernelTimes, AnEpilogueRunsWithItsTemplate) {
  Timed step = timed(kText);
  const std::size_t mm = step.kernel_of("mm"), tiny = step.kernel_of("tiny");
  Kernel& fused = step.scheduled.kernels[mm];
  fused.kind = Kernel::Kind::template_;
  for (const kernels::OpId op : step.scheduled.kernels[tiny].ops) fused.ops.push_back(op);
  fused.nodes.push_back(step.graph.find("tiny"));
  const std::vector<KernelTime> times =
      kernels::kernel_times(step.graph, step.ir, step.scheduled, step.costs, step.device);
  EXPECT_EQ(times[mm].ns, step.costs[step.graph.find("mm").index()].ns);
  EXPECT_TRUE(times[mm].is_time_of_nodes);
  EXPECT_LT(times[mm].roofline_ns, times[mm].ns);
}

TEST(KernelTimes, KernelsOnTheCpuOfAGpusGraphLaunchNothing) {
  Timed step = timed(kText);
  for (Kernel& kernel : step.scheduled.kernels) kernel.is_on_gpu = false;
  for (const KernelTime& time :
       kernels::kernel_times(step.graph, step.ir, step.scheduled, step.costs, step.device)) {
    EXPECT_FALSE(time.is_launch);
    EXPECT_EQ(time.ns, 0);
  }
}

TEST(KernelTimes, SpecialFunctionsBoundAKernelOfADeviceWithFew) {
  DeviceDescription device = h100();
  device.kernels->special_gops = 1;
  const Timed step = timed(R"(
    kind forward
    x: f32[4096,4096] = input
    y: f32[4096,4096] = aten.exp(x)
    return [y]
  )",
                           device);
  EXPECT_EQ(step["y"].limit, NodeCost::Limit::compute);
  EXPECT_GE(step["y"].ns, 4096 * 4096);
}

}  // namespace
}  // namespace jointer::test
