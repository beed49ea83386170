// Moves of kernels: what holds them, and the peak afterwards.

#include "core/kernels/kernel_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/capture/half_graph.h"
#include "core/graph/literal.h"
#include "core/kernels/compiled_order.h"
#include "core/kernels/lowering.h"
#include "core/open/open.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/small_ir.h"

namespace jointer::test {
namespace {

using kernels::Access;
using kernels::BufferId;
using kernels::Ir;
using kernels::Kernel;
using kernels::KernelOrder;
using kernels::Kernels;
using kernels::OpId;
using kernels::OrderReason;
using testing::ElementsAre;
using testing::HasSubstr;

std::string number_name(std::int32_t kernel) {
  return "kernel " + std::to_string(kernel);
}

// Three calls of a library: the second reads the first, the third reads neither.
struct ThreeCalls {
  ThreeCalls() {
    const BufferId x = small.input({64, 64}, false);
    const BufferId a = small.external({64, 64}, {x});
    const BufferId b = small.external({64, 64}, {a});
    const BufferId c = small.external({64, 64}, {x});
    small.output(b);
    small.output(c);
    scheduled = schedule(small.ir);
  }
  [[nodiscard]] std::int32_t kernel_of(OpId op) const {
    return scheduled.kernel_of[static_cast<std::size_t>(op)];
  }
  SmallIr small;
  Kernels scheduled;
};

TEST(KernelOrder, AKernelWithoutNodesIsCalledByItsNumber) {
  const ThreeCalls calls;
  EXPECT_EQ(kernels::kernel_label(Graph(), calls.scheduled, 1), "kernel 2");
  EXPECT_EQ(kernels::kernel_label(Graph(), calls.scheduled, 1, 5), "kernel 7")
      << "after the five kernels of another graph";
}

TEST(KernelOrder, DataHoldsAKernel) {
  const ThreeCalls calls;
  const KernelOrder order(calls.small.ir, calls.scheduled);
  const std::int32_t first = calls.kernel_of(0), second = calls.kernel_of(1);
  const KernelOrder::Range held = order.range(second);
  EXPECT_EQ(held.after.kernel, first);
  EXPECT_EQ(held.after.reason, OrderReason::data);
  EXPECT_EQ(held.first, order.place(first) + 1);
  EXPECT_EQ(held.before.kernel, -1);
  EXPECT_EQ(held.last, 2);
  EXPECT_EQ(earliest_reason(calls.small.ir, held, number_name),
            "Held by " + number_name(first) + ": earlier, it would read buf0 before it exists.");
  EXPECT_EQ(latest_reason(calls.small.ir, held, number_name), "");
  const KernelOrder::Range holds = order.range(first);
  EXPECT_EQ(holds.before.kernel, second);
  EXPECT_THAT(latest_reason(calls.small.ir, holds, number_name),
              HasSubstr("would read buf0 before it exists"));
}

TEST(KernelOrder, AMoveOutOfTheRangeDoesNothing) {
  const ThreeCalls calls;
  KernelOrder order(calls.small.ir, calls.scheduled);
  const std::int32_t first = calls.kernel_of(0), second = calls.kernel_of(1);
  EXPECT_FALSE(order.move(second, order.place(first)));
  EXPECT_TRUE(order.is_as_scheduled());
}

TEST(KernelOrder, AMoveShiftsThoseInBetween) {
  const ThreeCalls calls;
  KernelOrder order(calls.small.ir, calls.scheduled);
  const std::int32_t third = calls.kernel_of(2);
  const std::int32_t to = order.place(third) == 0 ? 2 : 0;
  ASSERT_TRUE(order.move(third, to));
  EXPECT_EQ(order.place(third), to);
  for (std::int32_t at = 0; at < 3; ++at)
    EXPECT_EQ(order.place(order.order()[static_cast<std::size_t>(at)]), at);
  EXPECT_FALSE(order.is_as_scheduled());
  order.reset();
  EXPECT_TRUE(order.is_as_scheduled());
}

TEST(KernelOrder, PlacesAreRelativeToAnotherKernel) {
  const ThreeCalls calls;
  KernelOrder order(calls.small.ir, calls.scheduled);
  EXPECT_EQ(order.place_next_to(0, 2, true), 1);
  EXPECT_EQ(order.place_next_to(0, 2, false), 2);
  EXPECT_EQ(order.place_next_to(2, 0, true), 0);
  EXPECT_EQ(order.place_next_to(2, 0, false), 1);
  EXPECT_EQ(order.place_next_to(1, 1, true), 1);
}

TEST(KernelOrder, CollectivesKeepTheirOrder) {
  SmallIr small;
  const BufferId x = small.input({64}, false), y = small.input({64}, false);
  small.output(small.external({64}, {x}, kernels::Op::Kind::collective));
  small.output(small.external({64}, {y}, kernels::Op::Kind::collective));
  for (kernels::Op& op : small.ir.ops) op.has_side_effects = true;
  const Kernels scheduled = schedule(small.ir);
  const KernelOrder order(small.ir, scheduled);
  const KernelOrder::Range range = order.range(1);
  EXPECT_EQ(range.first, 1);
  EXPECT_EQ(range.after.reason, OrderReason::collectives);
  EXPECT_THAT(earliest_reason(small.ir, range, number_name), HasSubstr("same order on every rank"));
}

// The second collective may start before the wait for the first, which the graph has before it.
TEST(KernelOrder, ACollectiveNeedsNoEarlierWait) {
  const Graph graph = must(parse_literal(R"(
    x: f32[8,16] = input
    y: f32[8,16] = input
    g1: f32[16,16] = _c10d_functional.all_gather_into_tensor(x, 2, 'dp')
    w1: f32[16,16] = _c10d_functional.wait_tensor(g1)
    g2: f32[16,16] = _c10d_functional.all_gather_into_tensor(y, 2, 'dp')
    w2: f32[16,16] = _c10d_functional.wait_tensor(g2)
    return [w1, w2]
  )"));
  const Ir ir = kernels::lower(graph, kNewestTorch);
  const Kernels scheduled = schedule(ir);
  KernelOrder order(ir, scheduled);
  std::vector<std::int32_t> starts, waits;
  for (std::size_t i = 0; i < scheduled.kernels.size(); ++i) {
    const auto kernel = static_cast<std::int32_t>(i);
    if (scheduled.kernels[i].kind == Kernel::Kind::collective) starts.push_back(kernel);
    if (scheduled.kernels[i].kind == Kernel::Kind::wait) waits.push_back(kernel);
  }
  ASSERT_EQ(starts.size(), 2U);
  ASSERT_EQ(waits.size(), 2U);
  const KernelOrder::Range range = order.range(starts[1]);
  EXPECT_EQ(range.after.kernel, starts[0]);
  EXPECT_EQ(range.after.reason, OrderReason::collectives);
  ASSERT_TRUE(order.move(starts[1], order.place_next_to(starts[1], starts[0], false)));
  EXPECT_LT(order.place(starts[1]), order.place(waits[0]));
  const KernelOrder::Range wait = order.range(waits[1]);
  EXPECT_EQ(wait.after.kernel, starts[1]);
}

// The graph changes x in place after it has been read: through a view, so that no data connects
// the two.
TEST(KernelOrder, AWriteRunsAfterTheReadersOfTheOldValue) {
  const Graph graph = must(parse_literal(R"(
    x: f32[64,64] = input
    y: f32[64,64] = input
    old: f32[64,64] = aten.mm(x, y)
    new: f32[64,64] = aten.mm(y, y)
    written: f32[64,64] = aten.copy_(x, new)
    return [old]
  )"));
  const Ir ir = kernels::lower(graph, kNewestTorch);
  const Kernels scheduled = schedule(ir);
  const KernelOrder order(ir, scheduled);
  const auto kernel_of = [&](const char* name) {
    for (std::size_t i = 0; i < scheduled.kernels.size(); ++i)
      if (std::ranges::find(scheduled.kernels[i].nodes, graph.find(name)) !=
          scheduled.kernels[i].nodes.end())
        return static_cast<std::int32_t>(i);
    return std::int32_t{-1};
  };
  const std::int32_t reader = kernel_of("old"), writer = kernel_of("written");
  ASSERT_GE(reader, 0);
  ASSERT_GE(writer, 0);
  const KernelOrder::Range range = order.range(reader);
  EXPECT_EQ(range.before.kernel, writer);
  EXPECT_EQ(range.before.reason, OrderReason::old_value);
  EXPECT_THAT(latest_reason(ir, range, number_name), HasSubstr("has overwritten"));
}

TEST(KernelOrder, ThePeakFollowsTheOrder) {
  const ThreeCalls calls;
  KernelOrder order(calls.small.ir, calls.scheduled);
  EXPECT_EQ(order.memory().peak, calls.scheduled.peak);
  const std::int64_t buffer = 64 * 64 * 4;
  const std::int32_t third = calls.kernel_of(2);
  // Last, it finds the buffer between the first two freed.
  ASSERT_TRUE(order.move(third, 2));
  EXPECT_EQ(order.memory().peak, 2 * buffer);
  ASSERT_TRUE(order.move(third, 0));
  EXPECT_EQ(order.memory().peak, 3 * buffer);
  const Kernels moved = order.reordered();
  EXPECT_EQ(moved.peak, 3 * buffer);
  EXPECT_THAT(moved.kernels[0].ops, ElementsAre(2));
  EXPECT_EQ(moved.kernel_of[2], 0);
  EXPECT_EQ(moved.after_allocation.size(), 3U);
}

// Random legal moves on real graphs: every dependency of the Ir holds after each, and the peak of
// the order as scheduled is counted as the scheduler counts it.
class OrderOfASample : public testing::TestWithParam<const char*> {};

TEST_P(OrderOfASample, StaysLegal) {
  const Graph pair = must(open_graph({.path = source_path(GetParam())}));
  for (const PartId half : {kForwardPart, kBackwardPart}) {
    const Ir ir = kernels::lower(must(half_graph(pair, half)), kNewestTorch);
    const Kernels scheduled = schedule(ir);
    KernelOrder order(ir, scheduled);
    const KernelOrder::Memory as_scheduled = order.memory();
    EXPECT_EQ(as_scheduled.peak, scheduled.peak);
    EXPECT_EQ(as_scheduled.after_allocation, scheduled.after_allocation);
    EXPECT_EQ(as_scheduled.after_release, scheduled.after_release);
    std::mt19937 random(7);
    for (int i = 0; i < 200; ++i) {
      const auto kernel = static_cast<std::int32_t>(random() % scheduled.kernels.size());
      const KernelOrder::Range range = order.range(kernel);
      ASSERT_LE(range.first, order.place(kernel));
      ASSERT_GE(range.last, order.place(kernel));
      const auto room = static_cast<unsigned>(range.last - range.first + 1);
      ASSERT_TRUE(order.move(kernel, range.first + static_cast<std::int32_t>(random() % room)));
    }
    const Kernels moved = order.reordered();
    EXPECT_FALSE(order.is_as_scheduled());
    for (std::size_t at = 0; at < moved.kernels.size(); ++at)
      for (const OpId op : moved.kernels[at].ops) {
        EXPECT_EQ(moved.kernel_of[static_cast<std::size_t>(op)], static_cast<std::int32_t>(at));
        for (const Access& read : ir.ops[static_cast<std::size_t>(op)].reads) {
          const OpId maker = ir.buffers[static_cast<std::size_t>(read.buffer)].op;
          const bool is_chain = read.kind == Access::Kind::weak &&
                                ir.buffers[static_cast<std::size_t>(read.mutating)].mutates.empty();
          if (maker < 0 || is_chain) continue;
          EXPECT_LE(moved.kernel_of[static_cast<std::size_t>(maker)],
                    static_cast<std::int32_t>(at));
        }
      }
    std::vector<OpId> collectives;
    for (const Kernel& kernel : moved.kernels)
      if (kernel.kind == Kernel::Kind::collective) collectives.push_back(kernel.ops.front());
    EXPECT_TRUE(std::ranges::is_sorted(collectives));
    order.reset();
    EXPECT_EQ(order.memory().peak, scheduled.peak);
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, OrderOfASample,
                         testing::Values("resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst",
                                         "resources/samples/llama_debug_fsdp2.min_cut.json.zst"));

}  // namespace
}  // namespace jointer::test
