// Passes on the order of kernels, on graphs of a few ops. Torch 2.11 has no `simple_overlap`, which
// would move kernels once more. tests/differential/test_kernel_passes.py compares with torch.

#include "passes/kernel_order/kernel_passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/support/small_ir.h"

namespace jointer {
namespace {

using kernels::BufferId;
using kernels::Op;
using kernels::OpId;
using test::SmallIr;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr TorchVersion kOld{2, 11};
const std::string kRaise = "reorder_communication_preserving_peak_memory";
const std::string kSink = "sink_waits_iterative";

// The order of first ops, and the only pass's report.
struct Ordered {
  std::vector<OpId> order;
  KernelPassReport report;
};

Ordered ordered(const SmallIr& small, const std::string& passes, std::vector<double> ms) {
  ms.resize(small.ir.ops.size(), 1.0);
  const auto pipeline = parse_pipeline(passes);
  EXPECT_TRUE(pipeline);
  const Result<OrderedKernels> made = order_kernels(small.ir, kOld, *pipeline, ms);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  if (!made) return {};
  Ordered found{{}, made->reports.back()};
  for (const kernels::Kernel& kernel : made->kernels.kernels)
    found.order.push_back(kernel.ops.front());
  EXPECT_EQ(found.order, found.report.order);
  EXPECT_EQ(made->kernels.peak, found.report.peak_after);
  return found;
}

// op0: compute; op1: a collective; op2: its wait; op3: reads both.
SmallIr one_collective() {
  SmallIr small;
  const BufferId x = small.input({64}, false), y = small.input({64}, false);
  const BufferId a = small.external({64}, {x});
  const BufferId c = small.external({64}, {y}, Op::Kind::collective);
  const BufferId w = small.external({64}, {c}, Op::Kind::wait);
  small.output(small.external({64}, {a, w}));
  return small;
}

TEST(KernelPasses, ACollectiveMovesBeforeComputeThatItDoesNotNeed) {
  const Ordered found = ordered(one_collective(), kRaise, {3, 5, 0, 1});
  EXPECT_THAT(found.order, ElementsAre(1, 0, 2, 3));
  ASSERT_EQ(found.report.moves.size(), 1U);
  const KernelPassMove& move = found.report.moves[0];
  EXPECT_EQ(move.op, 1);
  EXPECT_EQ(move.communication_ms, 10);  // times the factor of collectives
  EXPECT_EQ(move.initial_exposed_ms, 10);
  EXPECT_EQ(move.final_exposed_ms, 7);
  EXPECT_EQ(move.improvement_ms(), 3);
  EXPECT_EQ(move.moves, 1);
  EXPECT_EQ(move.limit, KernelLimit::none);
  EXPECT_EQ(move.end, 2);
  EXPECT_EQ(move.overlapping, 1);
}

TEST(KernelPasses, AHiddenCollectiveStaysIfTimesAreUsed) {
  SmallIr small;
  const BufferId x = small.input({64}, false), y = small.input({64}, false);
  const BufferId a = small.external({64}, {x});
  const BufferId c = small.external({64}, {y}, Op::Kind::collective);
  const BufferId b = small.external({64}, {x});
  const BufferId w = small.external({64}, {c}, Op::Kind::wait);
  small.output(small.external({64}, {a, b, w}));
  const Ordered found =
      ordered(small, kRaise + "{reorder_iterative_use_runtime_estimations=true}", {1, 2, 7, 0, 1});
  EXPECT_THAT(found.order, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(found.report.moves[0].limit, KernelLimit::hidden);
  const Ordered without = ordered(small, kRaise, {1, 2, 7, 0, 1});
  EXPECT_THAT(without.order, ElementsAre(1, 0, 2, 3, 4));
}

TEST(KernelPasses, AnInputMovesAlongUnlessItTakesLong) {
  SmallIr small;
  const BufferId x = small.input({64}, false), y = small.input({64}, false);
  const BufferId a = small.external({64}, {x});
  const BufferId b = small.external({64}, {y});
  const BufferId c = small.external({64}, {b}, Op::Kind::collective);
  const BufferId w = small.external({64}, {c}, Op::Kind::wait);
  small.output(small.external({64}, {a, w}));
  const Ordered found = ordered(small, kRaise, {});
  EXPECT_THAT(found.order, ElementsAre(1, 2, 0, 3, 4));
  EXPECT_EQ(found.report.moves[0].grouped, 1);
  small.ir.ops[1].ir = "ExternKernelOut";
  const Ordered stays = ordered(small, kRaise, {});
  EXPECT_THAT(stays.order, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(stays.report.moves[0].limit, KernelLimit::data_dependency);
  EXPECT_EQ(stays.report.moves[0].at, 1);
  EXPECT_EQ(limit_sentence(stays.report.moves[0], "op1"),
            "op1, a long-running kernel, is tied to it by data and cannot move along.");
}

TEST(KernelPasses, MemoryStopsACollective) {
  SmallIr small;
  const BufferId x = small.input({64}, false), y = small.input({64}, false);
  const BufferId large = small.external({4096}, {x});
  const BufferId a = small.external({64}, {large});
  const BufferId c = small.external({4096}, {y}, Op::Kind::collective);
  const BufferId w = small.external({64}, {c}, Op::Kind::wait);
  small.output(small.external({64}, {a, w}));
  const Ordered found = ordered(small, kRaise + "{reorder_iterative_peak_memory_budget=0.2}", {});
  EXPECT_THAT(found.order, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(found.report.moves[0].limit, KernelLimit::memory);
  EXPECT_EQ(found.report.moves[0].at, 1);
  const Ordered more = ordered(small, kRaise + "{reorder_iterative_peak_memory_budget=1}", {});
  EXPECT_THAT(more.order, ElementsAre(2, 0, 1, 3, 4));
  EXPECT_GT(more.report.peak_after, more.report.peak_before);
}

TEST(KernelPasses, AWaitMovesUntilItsReader) {
  SmallIr small;
  const BufferId x = small.input({64}, false), y = small.input({64}, false);
  const BufferId c = small.external({64}, {y}, Op::Kind::collective);
  const BufferId w = small.external({64}, {c}, Op::Kind::wait);
  const BufferId a = small.external({64}, {x});
  const BufferId b = small.external({64}, {w});
  const BufferId d = small.external({64}, {x});
  small.ir.ops[3].ir = "ExternKernelOut";
  small.output(small.external({64}, {a, b, d}));
  const Ordered found = ordered(small, kSink, {4, 0, 3, 1, 1, 1});
  EXPECT_THAT(found.order, ElementsAre(0, 2, 1, 3, 4, 5));
  const KernelPassMove& move = found.report.moves[0];
  EXPECT_EQ(move.limit, KernelLimit::data_dependency);
  EXPECT_EQ(move.at, 3);
  EXPECT_EQ(move.initial_exposed_ms, 8);
  EXPECT_EQ(move.final_exposed_ms, 5);
  EXPECT_EQ(move.end, 0);
}

// op0: a collective, op1: its wait, op2: another one, which must follow, op3: its wait.
SmallIr two_collectives() {
  SmallIr small;
  const BufferId y = small.input({64}, false), z = small.input({64}, false);
  const BufferId c = small.external({64}, {y}, Op::Kind::collective);
  const BufferId w = small.external({64}, {c}, Op::Kind::wait);
  const BufferId d = small.external({64}, {z}, Op::Kind::collective);
  kernels::Access order;
  order.buffer = c;
  order.kind = kernels::Access::Kind::weak;
  order.mutating = d;
  small.ir.ops[2].reads.push_back(order);
  const BufferId v = small.external({64}, {d}, Op::Kind::wait);
  small.output(small.external({64}, {w, v}));
  return small;
}

TEST(KernelPasses, WaitsDoNotPassCollectivesUnlessTheyMay) {
  const Ordered found = ordered(two_collectives(), kSink, {});
  EXPECT_THAT(found.order, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(found.report.moves[1].limit, KernelLimit::collective_ahead);
  EXPECT_EQ(found.report.moves[1].at, 2);
  const Ordered may =
      ordered(two_collectives(), kSink + "{sink_waits_iterative_swap_with_collectives=true}", {});
  EXPECT_EQ(may.order.front(), 0);
  EXPECT_EQ(may.order[1], 2);
}

TEST(KernelPasses, CollectivesOvertakeEachOtherOnlyIfTheyMay) {
  const Ordered safe = ordered(two_collectives(),
                               kRaise + "{reorder_iterative_unsafe_collectives_reorder=false}", {});
  EXPECT_THAT(safe.order, ElementsAre(0, 2, 1, 3, 4));
  EXPECT_EQ(safe.report.moves[1].limit, KernelLimit::collective_order);
  const Ordered unsafe = ordered(two_collectives(), kRaise, {});
  EXPECT_THAT(unsafe.order, ElementsAre(2, 0, 1, 3, 4));
}

TEST(KernelPasses, OnlySomeMoveIfThereIsALimit) {
  const Ordered found =
      ordered(two_collectives(), kRaise + "{reorder_iterative_debug_limit_to_reorder=1}", {});
  EXPECT_EQ(found.report.moves.size(), 1U);
  EXPECT_THAT(found.order, ElementsAre(0, 1, 2, 3, 4));
}

TEST(KernelPasses, ListsRaiseCollectivesAndSinkWaits) {
  SmallIr small;
  const BufferId x = small.input({64}, false), y = small.input({64}, false);
  const BufferId a = small.external({64}, {x});
  const BufferId c = small.external({64}, {y}, Op::Kind::collective);
  const BufferId w = small.external({64}, {c}, Op::Kind::wait);
  const BufferId b = small.external({64}, {x});
  small.output(small.external({64}, {a, b, w}));
  EXPECT_THAT(ordered(small, "raise_comms", {}).order, ElementsAre(1, 0, 2, 3, 4));
  EXPECT_THAT(ordered(small, "sink_waits", {}).order, ElementsAre(0, 1, 3, 2, 4));
  // The first compute is enough to hide the collective, so that the wait is next only at the end.
  const Ordered both = ordered(small, "reorder_compute_for_overlap", {5, 2, 0, 1, 1});
  EXPECT_THAT(both.order, ElementsAre(1, 0, 3, 2, 4));
  EXPECT_EQ(both.report.moves[0].initial_exposed_ms, 2);
  EXPECT_EQ(both.report.moves[0].final_exposed_ms, -4);
}

TEST(KernelPasses, CollectivesKeepTheirOrderInLists) {
  EXPECT_THAT(ordered(two_collectives(), "raise_comms", {}).order, ElementsAre(0, 2, 1, 3, 4));
}

// The collective reads the second op of the list, which reads op1.
TEST(KernelPasses, ListsRaiseWhatTheOpsOfAForeachKernelRead) {
  SmallIr small;
  const BufferId x = small.input({64}, false), y = small.input({64}, false);
  const BufferId a = small.external({64}, {x});
  const BufferId b = small.external({64}, {y});
  const BufferId first = small.pointwise({64}, {{x, {1}}});
  const BufferId second = small.pointwise({64}, {{b, {1}}});
  small.ir.lists = {{2, 3}};
  const BufferId c = small.external({64}, {second}, Op::Kind::collective);
  const BufferId w = small.external({64}, {c}, Op::Kind::wait);
  small.output(small.external({64}, {a, first, w}));
  const std::vector<OpId> order = ordered(small, "raise_comms", {}).order;
  ASSERT_EQ(order.size(), 6U);
  EXPECT_TRUE(std::ranges::find(order, 1) < std::ranges::find(order, 0));
}

TEST(KernelPasses, UnknownPassesAndOptionsAreRefused) {
  const SmallIr small = one_collective();
  const std::vector<double> ms(small.ir.ops.size(), 1.0);
  const auto run = [&](std::string_view text) {
    return order_kernels(small.ir, kOld, *parse_pipeline(text), ms);
  };
  const auto unknown = run("sink_wait");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, Error::Kind::usage);
  EXPECT_THAT(unknown.error().message, HasSubstr("sink_waits"));
  const auto option = run("sink_waits_iterative{budget=1}");
  ASSERT_FALSE(option);
  EXPECT_THAT(option.error().message, HasSubstr("sink_waits_iterative: "));
  EXPECT_TRUE(run("~raise_comms")->reports.empty());
}

// Library calls, collectives and waits in any order; each collective follows the previous one.
SmallIr random_program(unsigned seed) {
  std::mt19937 random(seed);
  SmallIr small;
  std::vector<BufferId> values{small.input({64}), small.input({64}, false)};
  std::vector<BufferId> started;
  BufferId last = -1;
  const auto any = [&] { return values[random() % values.size()]; };
  const auto size = [&] { return static_cast<std::int64_t>(1 + random() % 500); };
  for (int i = 0; i < 60; ++i) switch (random() % 4) {
      case 0: {
        const BufferId start = small.external({size()}, {any()}, Op::Kind::collective);
        if (last >= 0) {
          kernels::Access order;
          order.buffer = last;
          order.kind = kernels::Access::Kind::weak;
          order.mutating = start;
          small.ir.ops.back().reads.push_back(order);
        }
        last = start;
        started.push_back(start);
        break;
      }
      case 1:
        if (!started.empty()) {
          values.push_back(small.external({64}, {started.back()}, Op::Kind::wait));
          started.pop_back();
        }
        break;
      default:
        values.push_back(small.external({size()}, {any(), any()}));
        if (random() % 3 == 0) small.ir.ops.back().ir = "ExternKernelOut";
    }
  for (const BufferId start : started)
    values.push_back(small.external({64}, {start}, Op::Kind::wait));
  for (const BufferId id : values)
    if (small.ir.buffers[static_cast<std::size_t>(id)].users.empty()) small.output(id);
  return small;
}

class KernelOrderOfSeed : public testing::TestWithParam<unsigned> {};

TEST_P(KernelOrderOfSeed, EachKernelRunsOnceAfterWhatItReads) {
  const SmallIr small = random_program(GetParam());
  std::mt19937 random(GetParam());
  std::vector<double> ms;
  for (std::size_t i = 0; i < small.ir.ops.size(); ++i)
    ms.push_back(small.ir.ops[i].kind == Op::Kind::wait ? 0 : static_cast<double>(random() % 10));
  const std::string times = "=true,reorder_sink_runtime_estimations_non_comm_mult=2}";
  for (const std::string& pass : {std::string("raise_comms"), std::string("sink_waits"),
                                  std::string("reorder_compute_for_overlap"), kRaise, kSink,
                                  kRaise + "{reorder_iterative_use_runtime_estimations" + times,
                                  kSink + "{sink_iterative_use_runtime_estimations" + times,
                                  kSink + "{sink_waits_iterative_swap_with_collectives=true}"}) {
    SCOPED_TRACE(pass);
    const Ordered found = ordered(small, pass, ms);
    std::vector<std::size_t> place(small.ir.ops.size(), small.ir.ops.size());
    for (std::size_t i = 0; i < found.order.size(); ++i)
      place[static_cast<std::size_t>(found.order[i])] = i;
    EXPECT_EQ(found.order.size(), kernels::schedule(small.ir, kOld).kernels.size());
    for (const OpId op : found.order)
      for (const kernels::Access& read : small.ir.ops[static_cast<std::size_t>(op)].reads) {
        const OpId maker = small.ir.buffers[static_cast<std::size_t>(read.buffer)].op;
        if (maker < 0 || read.kind == kernels::Access::Kind::weak) continue;
        EXPECT_LT(place[static_cast<std::size_t>(maker)], place[static_cast<std::size_t>(op)]);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, KernelOrderOfSeed, testing::Range(0U, 30U));

}  // namespace
}  // namespace jointer
