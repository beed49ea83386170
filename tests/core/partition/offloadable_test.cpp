#include "core/partition/offloadable.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

TEST(Offloadable, SaysWhyAValueStays) {
  const Graph graph = parse(R"(
    group dp: 0 1
    x: f32[8] = input
    a: f32[8] = aten.relu(x)
    part: f32[4] = aten.slice.Tensor(a, 0, 0, 4)
    wide: f32[4,8] = aten.expand(a, [4, 8])
    b: f32[8] = aten.exp(x)
    two: (f32[4], f32[4]) = aten.split.Tensor(a, 4)
    start: f32[8] = _c10d_functional.all_reduce(a, 'sum', 'dp')
    wait: f32[8] = _c10d_functional.wait_tensor(start)
    write: f32[8] = aten.add_.Tensor(b, a)
    again: f32[8] = aten.mul_.Tensor(b, a)
    return [part, wide, wait, again]
  )");
  const Offloadable offloadable(graph);
  const auto why = [&](const char* name) { return offloadable.why_not(graph.find(name)); };
  EXPECT_EQ(why("a"), "");
  EXPECT_EQ(why("x"), "x is not a call that returns a single tensor");
  EXPECT_EQ(why("two"), "two is not a call that returns a single tensor");
  EXPECT_EQ(why("part"), "part does not fill a storage without gaps; offload a tensor that does");
  EXPECT_EQ(why("wide"), "wide does not fill a storage without gaps; offload a tensor that does");
  EXPECT_EQ(why("start"),
            "the collective or copy that start starts may be incomplete; offload the result of its "
            "wait");
  EXPECT_EQ(why("b"), "the memory of b is written to later, last by again");
}

}  // namespace
}  // namespace jointer::test
