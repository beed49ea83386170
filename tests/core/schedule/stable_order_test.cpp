#include "core/schedule/stable_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kFour = R"(
  x: f32[4] = input
  a: f32[4] = aten.relu(x)
  b: f32[4] = aten.relu(x)
  c: f32[4] = aten.relu(a)
  d: f32[4] = aten.relu(b)
  return [c, d]
)";

std::vector<std::string> call_names(const Graph& graph, const std::vector<NodeId>& order) {
  std::vector<std::string> found;
  for (const NodeId id : order)
    if (graph.node(id).kind == NodeKind::call) found.emplace_back(graph.name(id));
  return found;
}

// An input that an extra edge names keeps its position among the inputs: `d` waits for `c`, its
// last one, and not for `b`.
TEST(StableOrder, AnEdgeFromAnInputChangesNothing) {
  const Graph graph = parse(R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    b: f32[4] = aten.relu(x)
    c: f32[4] = aten.relu(x)
    d: f32[4] = aten.add.Tensor(b, c)
    e: f32[4] = aten.relu(c)
    return [a, d, e]
  )");
  const auto id = [&](std::string_view name) { return graph.find(name); };
  const std::vector<NodeId> wanted{
      id("x"), id("d"), id("e"), id("c"), id("b"), id("a"), graph.order().back()};
  const Dependencies dependencies(graph);
  const auto plain = stable_order(graph, dependencies, wanted);
  const std::vector<OrderEdge> edges{{id("b"), id("d")}};
  const auto with_edge = stable_order(graph, dependencies, wanted, edges);
  ASSERT_TRUE(plain && with_edge);
  EXPECT_THAT(call_names(graph, *plain), ElementsAre("c", "e", "b", "d", "a"));
  EXPECT_EQ(*with_edge, *plain);
}

TEST(StableOrder, KeepsAValidOrder) {
  const Graph graph = parse(kFour);
  const auto order = must(stable_order(graph, Dependencies(graph), graph.order()));
  EXPECT_THAT(call_names(graph, order), ElementsAre("a", "b", "c", "d"));
}

TEST(StableOrder, PutsNodesAfterTheirDependencies) {
  const Graph graph = parse(kFour);
  const std::vector<NodeId> wanted{graph.find("x"), graph.find("c"), graph.find("d"),
                                   graph.find("b"), graph.find("a"), graph.order().back()};
  const auto order = must(stable_order(graph, Dependencies(graph), wanted));
  EXPECT_THAT(call_names(graph, order), ElementsAre("b", "d", "a", "c"));
}

TEST(StableOrder, RespectsExtraEdges) {
  const Graph graph = parse(kFour);
  const OrderEdge edge{.before = graph.find("d"), .after = graph.find("c")};
  const auto order =
      must(stable_order(graph, Dependencies(graph), graph.order(), std::span(&edge, 1)));
  EXPECT_THAT(call_names(graph, order), ElementsAre("a", "b", "d", "c"));
}

TEST(StableOrder, NamesACycle) {
  const Graph graph = parse(kFour);
  const OrderEdge edge{.before = graph.find("c"), .after = graph.find("a")};
  const auto order = stable_order(graph, Dependencies(graph), graph.order(), std::span(&edge, 1));
  ASSERT_FALSE(order);
  EXPECT_THAT(order.error().message, HasSubstr("a would have to run before c"));
}

RC_GTEST_PROP(StableOrder, IsLegalForAnyRequest, ()) {
  const Graph graph =
      random_graph(*rc::gen::arbitrary<std::uint64_t>(), {.pair = *rc::gen::arbitrary<bool>()});
  const Dependencies dependencies(graph);
  std::vector<NodeId> wanted(graph.order().begin(), graph.order().end());
  // Any order of the calls between two walls.
  for (std::size_t begin = 0; begin < wanted.size();) {
    std::size_t end = begin;
    while (end < wanted.size() && !is_wall(graph.node(wanted[end]))) ++end;
    for (std::size_t i = begin; i + 1 < end; ++i)
      std::swap(wanted[i], wanted[*rc::gen::inRange(i, end)]);
    begin = end + 1;
  }
  const auto order = stable_order(graph, dependencies, wanted);
  RC_ASSERT(order.has_value());
  std::vector<std::size_t> place(graph.node_count());
  for (std::size_t i = 0; i < order->size(); ++i) place[(*order)[i].index()] = i;
  for (const NodeId id : *order)
    for (const Dependency& d : dependencies.before(id))
      RC_ASSERT(place[d.node.index()] < place[id.index()]);
  std::vector<NodeId> sorted = *order;
  std::sort(sorted.begin(), sorted.end());
  std::sort(wanted.begin(), wanted.end());
  RC_ASSERT(sorted == wanted);
  // A valid order does not change.
  RC_ASSERT(stable_order(graph, dependencies, *order) == *order);
}

}  // namespace
}  // namespace jointer::test
