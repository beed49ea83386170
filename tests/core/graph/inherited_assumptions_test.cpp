// Tests which assumptions hold for a graph that was made from another one.

#include "core/graph/inherited_assumptions.h"

#include <gtest/gtest.h>

#include "core/partition/join_pair.h"
#include "core/partition/partition.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

// Nothing reads `seen`, whose size is known only at run time.
constexpr std::string_view kGathering = R"(
  w: f32[16,64] = parameter
  x: f32[u0,64] = input
  dy: f32[u0,64] = tangent
  g: f32[64,64] = _c10d_functional.all_gather_into_tensor(w, 4, 'fsdp')
  v: f32[64,64] = _c10d_functional.wait_tensor(g)
  seen: i64[u1,2] = aten.nonzero(v)
  y: f32[u0,64] = aten.mm(x, v)
  t: f32[64,64] = aten.t(v)           {backward}
  gx: f32[u0,64] = aten.mm(dy, t)     {backward}
  return [y, None, gx]
)";

Assumptions parsed(std::string_view text) {
  return Assumptions::parse(text).value();
}

std::string inherited(std::string_view given, const Graph& made) {
  return inherited_assumptions(parsed(given), made).text();
}

TEST(InheritedAssumptions, DropSymbolsThatTheGraphLacks) {
  const Graph graph = parse(kGathering);
  EXPECT_EQ(inherited("8,u0=32,u1=7,u5=9", graph), "8,u0=32,u1=7");
  EXPECT_TRUE(inherited_assumptions({}, graph).empty());
}

TEST(InheritedAssumptions, DropGroupsThatNoCallUses) {
  EXPECT_EQ(inherited("stride:fsdp=2,stride:tp=4", parse(kGathering)), "stride:fsdp=2");
}

TEST(InheritedAssumptions, DropGroupsWhoseRanksAreKnown) {
  EXPECT_EQ(inherited("stride:fsdp=2", parse("group fsdp: 0 1 2 3\n" + std::string(kGathering))),
            "");
}

// The file of such a graph does not contain the original.
TEST(InheritedAssumptions, ATwinWithoutItsOriginalGetsItsDistance) {
  Graph graph = parse(R"(
    x: f32[64] = input
    g: f32[256] = _c10d_functional.all_gather_into_tensor(x, 4, 'fsdp')
    v: f32[256] = _c10d_functional.wait_tensor(g)
    h: f32[256] = _c10d_functional.all_gather_into_tensor(x, 4, 'fsdp_extra')
    u: f32[256] = _c10d_functional.wait_tensor(h)
    return [u]
  )");
  EXPECT_EQ(inherited("stride:fsdp=2", graph), "stride:fsdp=2");
  for (const char* name : {"v", "g"}) graph.erase(graph.find(name));
  EXPECT_EQ(inherited("stride:fsdp=2", graph), "stride:fsdp_extra=2");
}

TEST(InheritedAssumptions, NumbersOfRanksHoldForGroupsOfUnknownSize) {
  Graph graph = parse(R"(
    x: f32[64] = input
    g: f32[64] = _c10d_functional.all_reduce(x, 'sum', 'dp')
    v: f32[64] = _c10d_functional.wait_tensor(g)
    h: f32[64] = _c10d_functional.all_reduce(v, 'sum', 'dp_extra')
    u: f32[64] = _c10d_functional.wait_tensor(h)
    t: f32[64] = aten.neg(u)
    return [t]
  )");
  EXPECT_EQ(inherited("ranks:=4,ranks:dp=16,ranks:tp=2", graph), "ranks:dp=16");
  EXPECT_EQ(inherited("ranks:dp=16,ranks:dp_extra=8", graph), "ranks:dp=16,ranks:dp_extra=8");
  EXPECT_EQ(inherited("ranks:fsdp=2", parse(kGathering)), "") << "its size is known";
  EXPECT_EQ(inherited("ranks:=4", parse(R"(
    x: f32[64] = input
    g: f32[64] = _c10d_functional.all_reduce(x, 'sum', None)
    return [g]
  )")),
            "ranks:=4");
}

TEST(InheritedAssumptions, HoldForAPairAndItsJointGraph) {
  Graph graph = parse(kGathering);
  ASSERT_TRUE(graph.assume(parsed("stride:fsdp=2,u0=32,u1=7")));
  const auto done = partition(graph);
  ASSERT_TRUE(done) << done.error().message;
  const auto pair = emit_pair(done->joint, done->plan);
  ASSERT_TRUE(pair) << pair.error().message;
  // The pair lacks the only call with u1, which nothing reads.
  EXPECT_EQ(pair->assumptions().text(), "stride:fsdp=2,u0=32");
  const Tensor& y = pair->tensors(pair->node(pair->find(kForwardPart, "y"))).front();
  EXPECT_EQ(pair->shape(y).front().value, 32);
  const auto joined = join_with_plan(*pair);
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_EQ(joined->joint.assumptions().text(), "stride:fsdp=2,u0=32");
}

}  // namespace
}  // namespace jointer::test
