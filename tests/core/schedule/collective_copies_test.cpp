#include "core/schedule/collective_copies.h"

#include <gtest/gtest.h>

#include "core/schedule/memory_timeline.h"
#include "tests/support/graphs.h"

namespace jointer {
namespace {

// The reduce-scatter's input is copied from its start to its wait, and the all-gather's output
// exists twice during that time.
TEST(CollectiveCopies, AreLiveFromStartToWait) {
  const Graph graph = test::parse(R"(
    device cpu
    group g: 0 1
    x: f32[8] = input
    ag: f32[16] = _c10d_functional.all_gather_into_tensor(x, 2, 'g')
    w: f32[16] = _c10d_functional.wait_tensor(ag)
    y: f32[16] = aten.neg(w)
    rs: f32[8] = _c10d_functional.reduce_scatter_tensor(y, 'sum', 2, 'g')
    v: f32[8] = _c10d_functional.wait_tensor(rs)
    return [v]
  )");
  const auto copies = find_collective_copies(graph, CollectiveLibrary::gloo, DeviceType::cpu);
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0].bytes, 64);
  EXPECT_EQ(copies[0].first, 0);
  EXPECT_EQ(copies[0].last, 1);
  EXPECT_EQ(copies[1].bytes, 64);
  EXPECT_EQ(copies[1].first, 3);
  EXPECT_EQ(copies[1].last, 4);
  EXPECT_TRUE(find_collective_copies(graph, CollectiveLibrary::none, DeviceType::cpu).empty());

  const MemoryTimeline without(graph, {.runs_on = DeviceType::cpu});
  const MemoryTimeline with(graph,
                            {.runs_on = DeviceType::cpu, .collectives = CollectiveLibrary::gloo});
  EXPECT_EQ(with.profile()[1], without.profile()[1] + 64);  // at the all-gather
  EXPECT_EQ(with.profile()[4], without.profile()[4]);       // after its wait
}

}  // namespace
}  // namespace jointer
