// Writes into inputs: calls whose order must not change between the halves of a pair.

#include "core/partition/write_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "core/partition/partition.h"
#include "tests/support/graphs.h"
#include "tests/support/joints.h"
#include "tests/support/must.h"

namespace jointer::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(std::string_view text, Partitioner partitioner = Partitioner::min_cut) {
  Graph graph = parse(text);
  // The tags that torch sets: the copy is not part of what was traced as the forward.
  for (const NodeId id : graph.order()) {
    Node& n = graph.node(id);
    const bool is_copy = graph.target(n) == "aten.copy_.default";
    n.partitioner_tag = graph.intern(is_copy                      ? "must_be_in_forward"
                                     : n.phase == Phase::backward ? "is_backward"
                                                                  : "is_forward");
  }
  const auto done = partition(graph, {.partitioner = partitioner});
  return done ? "" : done.error().message;
}

TEST(WriteOrder, TheBackwardDoesNotReadOverwrittenInputs) {
  for (const auto partitioner : {Partitioner::min_cut, Partitioner::default_partition})
    EXPECT_THAT(refusal(kReadByTheBackward, partitioner),
                AllOf(HasSubstr("g uses memory that update writes to"),
                      HasSubstr("let g work on a clone")));
}

TEST(WriteOrder, AViewOfAnInputIsThatInput) {
  EXPECT_THAT(refusal(R"(
                x: f32[8,8] = input
                state: f32[8,8] = buffer
                dy: f32[8,8] = tangent
                t: f32[8,8] = aten.t(state)
                y: f32[8,8] = aten.mm(x, t)
                g: f32[8,8] = aten.mm(dy, t)  {backward}
                update: f32[8,8] = aten.copy_(state, y)
                return [y, g, None]
              )"),
              HasSubstr("g uses memory that update writes to"));
}

TEST(WriteOrder, ACloneMayBeReadAnyTime) {
  EXPECT_EQ(refusal(R"(
              x: f32[64] = input
              state: f32[64] = buffer
              dy: f32[64] = tangent
              before: f32[64] = aten.clone(state)
              y: f32[64] = aten.mul.Tensor(x, before)
              next: f32[64] = aten.add.Tensor(state, 1)
              g: f32[64] = aten.mul.Tensor(dy, before)  {backward}
              update: f32[64] = aten.copy_(state, next)
              return [y, g, None]
            )"),
            "");
}

// A call of the backward that needs no tangent can run in the forward, before the write.
TEST(WriteOrder, SavesWhatCanRunBeforeTheWrite) {
  const auto done = must(partition(parse(R"(
    x: f32[64] = input
    state: f32[64] = buffer
    dy: f32[64] = tangent
    y: f32[64] = aten.mul.Tensor(x, state)
    next: f32[64] = aten.add.Tensor(state, 1)
    c: f32[64] = aten.cos(state)           {backward}
    g: f32[64] = aten.mul.Tensor(dy, c)    {backward}
    update: f32[64] = aten.copy_(state, next)
    return [y, g, None]
  )")));
  const auto pair = must(emit_pair(done.joint, done.plan));
  EXPECT_TRUE(pair.find(PartId(0), "c"));
  EXPECT_EQ(pair.node(pair.find(PartId(1), "c")).kind, NodeKind::placeholder);
}

TEST(WriteOrder, ReportsTheOrderOfHalves) {
  const Graph graph = parse(R"(
    x: f32[8] = input
    a: f32[8] = aten.sin(x)
    w: f32[8] = aten.copy_(x, a)
    b: f32[8] = aten.cos(x)
    return [a, b]
  )");
  const WriteOrder order(graph);
  ASSERT_TRUE(order.any());
  const NodeId a = graph.find("a"), w = graph.find("w"), b = graph.find("b");
  const auto why = [&](std::vector<NodeId> forward, std::vector<NodeId> backward) {
    const auto done = order.check(forward, backward);
    return done ? "" : done.error().message;
  };
  EXPECT_EQ(why({a, w}, {b}), "");
  EXPECT_EQ(why({a, w, b}, {b}), "");
  EXPECT_THAT(why({a, w}, {a, b}), HasSubstr("a uses memory that w writes to"));
  EXPECT_THAT(why({a, b}, {w}),
              HasSubstr("w must write before b uses the same memory, but in the pair b runs first; "
                        "partition a functional graph"));
  EXPECT_THAT(
      why({a}, {}),
      HasSubstr("w writes in place, but its half of the pair lacks the value that it writes to; "
                "partition a functional graph"));
}

TEST(WriteOrder, WrittenValuesAreComputedOnce) {
  const Graph graph = parse(R"(
    x: f32[8] = input
    a: f32[8] = aten.sin(x)
    w: f32[8] = aten.add_.Tensor(a, x)
    return [a]
  )");
  const NodeId a = graph.find("a"), w = graph.find("w");
  const WriteOrder order(graph);
  EXPECT_TRUE(order.check(std::array{a, w}, {}));
  const auto twice = order.check(std::array{a}, std::array{a, w});
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("a allocates the memory that w writes to"));
}

}  // namespace
}  // namespace jointer::test
