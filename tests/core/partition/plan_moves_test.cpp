// The bytes of the values that change together.

#include "core/partition/plan_moves.h"

#include <gtest/gtest.h>

#include "core/partition/partition.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"

namespace jointer::test {
namespace {

// A storage with several recomputed values counts once, as one with several saved values does.
TEST(PlanMoves, AStorageCountsOnce) {
  const Partition made = must(partition(parse(R"(
    x: f32[128,4] = input
    b: f32[128,4] = aten.cos(x)
    v: f32[512] = aten.view(b, [512])
    c: f32[512] = aten.sin(v)
    dy: f32[512] = tangent
    gv: f32[512] = aten.mul.Tensor(dy, v)        {backward}
    gb: f32[128,4] = aten.view(gv, [128, 4])     {backward}
    ga: f32[128,4] = aten.mul.Tensor(gb, b)      {backward}
    return [c, ga]
  )"),
                                        {.partitioner = Partitioner::default_partition}));
  std::vector<NodeCost> costs(made.joint.node_count());
  const PlanWhatIf what_if(made.joint, costs, std::vector<Flops>(made.joint.node_count()), {}, {},
                           {.partitioner = Partitioner::default_partition});
  constexpr std::int64_t kBytes = 2048;
  for (const SavePlan& plan : {made.plan, must(what_if.plan_of({}, {}))}) {
    const auto moves = moves_of(made.joint, must(what_if.candidates(plan)), {});
    ASSERT_FALSE(moves.empty());
    for (const PlanMove& move : moves) {
      EXPECT_EQ(move.bytes(), kBytes);
      EXPECT_EQ(move.nodes(), (std::vector<NodeId>{made.joint.find("b"), made.joint.find("v")}));
    }
  }
}

}  // namespace
}  // namespace jointer::test
