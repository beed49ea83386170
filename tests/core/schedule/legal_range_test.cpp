#include "core/schedule/legal_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/graphs.h"
#include "tests/support/must.h"

namespace jointer::test {
namespace {

struct BlockRange {
  Graph graph;
  Result<LegalRange> range;

  [[nodiscard]] std::string earliest() const { return earliest_reason(graph, *range); }
  [[nodiscard]] std::string latest() const { return latest_reason(graph, *range); }
};

BlockRange range_of(std::string_view text, const std::vector<std::string>& names) {
  Graph graph = parse(text);
  std::vector<NodeId> block;
  for (const std::string& name : names) block.push_back(graph.find(name));
  auto range = legal_range(graph, Dependencies(graph), block);
  return {std::move(graph), std::move(range)};
}

constexpr std::string_view kGathered = R"(
  group dp: 0 1
  w: f32[4] = parameter
  x: f32[8] = input
  shard: f32[4] = aten.relu(w)
  a: f32[8] = aten.relu(x)
  gather: f32[8] = _c10d_functional.all_gather_into_tensor(shard, 2, 'dp')
  b: f32[8] = aten.relu(a)
  wait: f32[8] = _c10d_functional.wait_tensor(gather)
  c: f32[8] = aten.relu(b)
  use: f32[8] = aten.mul.Tensor(c, wait)
  return [use]
)";

TEST(LegalRange, StartsMoveBetweenTheirInputsAndTheirWaits) {
  const BlockRange found = range_of(kGathered, {"gather"});
  ASSERT_TRUE(found.range.has_value());
  EXPECT_EQ(found.range->first, 3U);  // w, x and shard are before it
  EXPECT_EQ(found.range->current, 4U);
  EXPECT_EQ(found.range->last, 5U);
  EXPECT_EQ(found.earliest(), "Held by shard: earlier, gather would read it before it exists.");
  EXPECT_EQ(found.latest(), "Held by wait: later, it would read gather before that exists.");
}

TEST(LegalRange, WaitsMoveBetweenTheirStartsAndTheirUses) {
  const BlockRange found = range_of(kGathered, {"wait"});
  ASSERT_TRUE(found.range.has_value());
  EXPECT_EQ(found.range->first, 5U);
  EXPECT_EQ(found.range->current, 6U);
  EXPECT_EQ(found.range->last, 7U);
  EXPECT_EQ(found.earliest(), "Held by gather: earlier, wait would read it before it exists.");
  EXPECT_EQ(found.latest(), "Held by use: later, it would read wait before that exists.");
}

TEST(LegalRange, ABlockIsHeldByTheDependenciesOfAllItsNodes) {
  const BlockRange found = range_of(kGathered, {"gather", "shard"});
  ASSERT_TRUE(found.range.has_value());
  EXPECT_EQ(found.range->first, 2U);
  EXPECT_EQ(found.range->current, 2U);
  EXPECT_EQ(found.range->last, 4U);  // after a and b
  EXPECT_EQ(found.earliest(), "");
  EXPECT_EQ(found.latest(), "Held by wait: later, it would read gather before that exists.");
}

TEST(LegalRange, NodesBetweenThoseOfABlockMustBeFreeToLeave) {
  const BlockRange two = range_of(kGathered, {"gather", "use"});
  ASSERT_FALSE(two.range.has_value());
  EXPECT_EQ(two.range.error().kind, Error::Kind::usage);
  EXPECT_EQ(two.range.error().message,
            "gather and use cannot be adjacent: wait must come after gather and c before use, but "
            "wait precedes c");
  EXPECT_EQ(range_of(kGathered, {"use", "b"}).range.error().message,
            "b and use cannot be adjacent: c must stay between them");
}

TEST(LegalRange, NothingMovesOverAPlaceholder) {
  constexpr std::string_view kText = R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    t: f32[4] = tangent
    b: f32[4] = aten.mul.Tensor(t, t)
    return [a, b]
  )";
  const BlockRange found = range_of(kText, {"b"});
  ASSERT_TRUE(found.range.has_value());
  EXPECT_EQ(found.range->first, found.range->last);
  EXPECT_EQ(range_of(kText, {"a", "b"}).range.error().message,
            "2 nodes cannot be adjacent: a placeholder or an output is between them");
}

TEST(LegalRange, PlaceholdersConstantsAndOutputsAreFixed) {
  for (const auto& [name, kind] : {std::pair{"w", "a placeholder"}, {"output", "the output"}}) {
    const BlockRange found = range_of(kGathered, {name});
    ASSERT_FALSE(found.range.has_value());
    EXPECT_EQ(found.range.error().message,
              fmt::format("{} is {}: placeholders, constants and outputs stay where they are", name,
                          kind));
  }
  EXPECT_FALSE(range_of(kGathered, {}).range.has_value());
}

TEST(LegalRange, OnlyWallsHoldCallsWithoutOtherDependencies) {
  const BlockRange found = range_of(R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    free: f32[4] = aten.relu(x)
    b: f32[4] = aten.relu(a)
    return [b, free]
  )",
                                    {"free"});
  ASSERT_TRUE(found.range.has_value());
  EXPECT_EQ(found.range->first, 1U);
  EXPECT_EQ(found.range->last, 3U);
  EXPECT_EQ(found.earliest(), "");
  EXPECT_EQ(found.latest(), "");
}

TEST(LegalRange, NamesWritesAndEffectsThatHold) {
  constexpr std::string_view kText = R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    view: f32[4] = aten.view(a, [4])
    early: f32[4] = aten.relu(view)
    draw: f32[4] = aten.rand_like(x)
    write: f32[4] = aten.add_.Tensor(a, x)
    again: f32[4] = aten.rand_like(x)
    late: f32[4] = aten.relu(view)
    return [early, late, draw, again]
  )";
  EXPECT_EQ(range_of(kText, {"late"}).earliest(),
            "Held by write: late must stay after it, because one of them writes to memory that "
            "the other uses.");
  EXPECT_EQ(range_of(kText, {"early"}).latest(),
            "Held by write: early must stay before it, because one of them writes to memory that "
            "the other uses.");
  EXPECT_EQ(range_of(kText, {"view"}).latest(),
            "Held by early: later, it would read view before that exists.");
  EXPECT_EQ(range_of(kText, {"again"}).earliest(),
            "Held by draw: again must stay after it, because both may draw from a random generator "
            "or set its state.");
  EXPECT_EQ(range_of(kText, {"draw"}).latest(),
            "Held by again: draw must stay before it, because both may draw from a random "
            "generator or set its state.");
}

TEST(LegalRange, NamesTheReasonOfAnOrderWithoutMemory) {
  constexpr std::string_view kActs = R"(
    x: f32[4] = input
    print: none = aten._print('a')
    check: none = aten._assert_async(x)
    again: none = aten._assert_async(x)
    warn: none = aten.warn('b')
    b: f32[4] = aten.relu(x)
    return [b]
  )";
  constexpr std::string_view kWhy = "because both may have side effects or fail a check.";
  EXPECT_EQ(range_of(kActs, {"check"}).earliest(),
            fmt::format("Held by print: check must stay after it, {}", kWhy));
  EXPECT_EQ(range_of(kActs, {"check"}).latest(),
            fmt::format("Held by again: check must stay before it, {}", kWhy));
  EXPECT_EQ(range_of(kActs, {"warn"}).earliest(),
            fmt::format("Held by again: warn must stay after it, {}", kWhy));
  constexpr std::string_view kSizes = R"(
    x: f32[4] = input
    found: i64[u0,1] = aten.nonzero(x)
    made: f32[u0] = aten.ones([4])
    return [made]
  )";
  EXPECT_EQ(range_of(kSizes, {"made"}).earliest(),
            "Held by found: made must stay after it, because one defines a symbol that the other "
            "uses.");
  constexpr std::string_view kStreams = R"(
    x: f32[4] = input
    event: none = streams.record_event(1, 2)
    b: f32[4] = aten.relu(x)
    return [b]
  )";
  EXPECT_EQ(range_of(kStreams, {"b"}).earliest(),
            "Held by event: b must stay after it, because nothing moves across a stream operator, "
            "a change of the grad mode or a write to unknown memory.");
}

TEST(LegalRange, IsIndependentOfTheOrderOfQueries) {
  const Graph graph = parse(kGathered);
  const Dependencies dependencies(graph);
  std::vector<std::uint32_t> positions;
  for (std::size_t i = 0; i < graph.node_count(); ++i)
    positions.push_back(static_cast<std::uint32_t>(graph.position(NodeId(i))));
  // b precedes gather.
  std::swap(positions[graph.find("b").index()], positions[graph.find("gather").index()]);
  const std::vector<NodeId> block{graph.find("gather")};
  const auto range = must(legal_range(graph, dependencies, block, positions));
  EXPECT_EQ(range.current, 5U);
  EXPECT_EQ(range.first, 3U);
  EXPECT_EQ(range.last, 5U);
  positions[block.front().index()] = ~std::uint32_t{0};
  const auto removed = legal_range(graph, dependencies, block, positions);
  ASSERT_FALSE(removed.has_value());
  EXPECT_EQ(removed.error().message, "gather is no longer in the graph");
}

// b must stay before c, and so before the block.
TEST(LegalRange, CurrentGapOfABlockThatIsNotContiguousIsLegal) {
  const BlockRange found = range_of(R"(
    x: f32[8] = input
    a: f32[8] = aten.relu(x)
    b: f32[8] = aten.relu(x)
    c: f32[8] = aten.relu(b)
    d: f32[8] = aten.relu(x)
    e: f32[8] = aten.mul.Tensor(a, c)
    return [e, d]
  )",
                                    {"a", "c"});
  ASSERT_TRUE(found.range.has_value());
  EXPECT_EQ(found.range->first, 2U);
  EXPECT_EQ(found.range->current, 2U);
  EXPECT_EQ(found.range->last, 3U);
}

TEST(LegalRange, NodesOfBothHalvesAreNotABlock) {
  Graph graph = parse(kGathered);
  // A second half, like a pair's backward.
  const PartId backward = graph.add_part({.kind = CaptureKind::backward, .name = "second"});
  Node n;
  n.part = backward;
  n.name = graph.intern("other");
  n.target = graph.intern_operator("aten.relu.default");
  const NodeId other = graph.add_node(n);
  const auto range =
      legal_range(graph, Dependencies(graph), std::vector{graph.find("gather"), other});
  ASSERT_FALSE(range.has_value());
  EXPECT_EQ(range.error().message,
            "gather and other cannot be moved together: they are in different halves of the pair");
}

}  // namespace
}  // namespace jointer::test
