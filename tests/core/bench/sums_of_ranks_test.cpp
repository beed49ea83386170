#include "core/bench/sums_of_ranks.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "core/edit/merge.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/must_apply.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Two sums of different sizes. `{0}`: the group's ranks; `{1}`: the reduction.
constexpr const char* kSums = R"(
  group dp: {0}
  x: f32[8,4] = input
  y: f32[16,4] = input
  a: f32[8,4] = aten.relu(x)
  b: f32[16,4] = aten.relu(y)
  r: f32[8,4] = _c10d_functional.all_reduce(a, '{1}', 'dp')
  s: f32[16,4] = _c10d_functional.all_reduce(b, '{1}', 'dp')
  rw: f32[8,4] = _c10d_functional.wait_tensor(r)
  sw: f32[16,4] = _c10d_functional.wait_tensor(s)
  return [rw, sw]
)";

Graph with_sums(const char* ranks, const char* reduction = "sum") {
  return parse(fmt::format(fmt::runtime(kSums), ranks, reduction));
}

TEST(SumsOfRanks, AreThoseOfMoreThanTwoRanks) {
  EXPECT_THAT(sums_of_ranks(with_sums("0 1 2")),
              ElementsAre("_c10d_functional.all_reduce.default sum dp: float32[32]",
                          "_c10d_functional.all_reduce.default sum dp: float32[64]"));
  EXPECT_THAT(sums_of_ranks(with_sums("0 1")), IsEmpty());
  EXPECT_THAT(sums_of_ranks(with_sums("0 1 2", "max")), IsEmpty());
}

// Neither the program order nor the name of an input changes how a sum is computed.
TEST(SumsOfRanks, StayTheSameIfCallsMove) {
  EXPECT_EQ(sums_of_ranks(parse(R"(
    group dp: 0 1 2
    x: f32[8,4] = input
    y: f32[16,4] = input
    c: f32[16,4] = aten.relu(y)
    s: f32[16,4] = _c10d_functional.all_reduce(c, 'sum', 'dp')
    a: f32[8,4] = aten.relu(x)
    r: f32[8,4] = _c10d_functional.all_reduce(a, 'sum', 'dp')
    sw: f32[16,4] = _c10d_functional.wait_tensor(s)
    rw: f32[8,4] = _c10d_functional.wait_tensor(r)
    return [rw, sw]
  )")),
            sums_of_ranks(with_sums("0 1 2")));
}

// As after a pass that recomputes it.
TEST(SumsOfRanks, ARepeatedSumIsListedOnce) {
  EXPECT_THAT(sums_of_ranks(parse(R"(
    group tp: 0 1 2
    x: f32[8] = input
    a: f32[8] = aten.relu(x)
    r: f32[8] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    rw: f32[8] = _c10d_functional.wait_tensor(r)
    s: f32[8] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    sw: f32[8] = _c10d_functional.wait_tensor(s)
    return [rw, sw]
  )")),
              SizeIs(1));
}

TEST(SumsOfRanks, ABucketDiffersFromItsMembers) {
  const Graph before = with_sums("0 1 2");
  Graph after = before;
  const std::array starts{before.find("r"), before.find("s")};
  must_apply(after, must(merge_collectives(before, starts)));
  const auto sums = sums_of_ranks(after);
  ASSERT_THAT(sums, SizeIs(1));
  EXPECT_NE(sums, sums_of_ranks(before));
}

// The members' places in the message have changed, but not its size.
TEST(SumsOfRanks, TheOrderOfMembersCounts) {
  const auto bucket = [](const char* members) {
    return sums_of_ranks(parse(fmt::format(R"(
      group dp: 0 1 2
      x: f32[8] = input
      y: f32[8] = input
      a: f32[8] = aten.relu(x)
      b: f32[8] = aten.sin(y)
      av: f32[4,2] = aten.view(a, [4, 2])
      bv: f32[4,2] = aten.view(b, [4, 2])
      c: f32[8,2] = aten.cat([{}])
      r: f32[8,2] = _c10d_functional.all_reduce(c, 'sum', 'dp')
      rw: f32[8,2] = _c10d_functional.wait_tensor(r)
      return [rw]
    )",
                                           members)));
  };
  EXPECT_THAT(bucket("av, bv"),
              ElementsAre("_c10d_functional.all_reduce.default sum dp: float32[16] of a[8] b[8]"));
  EXPECT_NE(bucket("av, bv"), bucket("bv, av"));
}

}  // namespace
}  // namespace jointer::test
