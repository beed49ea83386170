#include "core/capture/half_graph.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "core/open/open.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"

namespace jointer::test {
namespace {

TEST(HalfGraph, HasTheNodesOfTheHalfInTheirOrder) {
  const Graph pair = must(open_graph(
      {.path = source_path("resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst")}));
  ASSERT_TRUE(pair.is_pair());
  for (const PartId half : {kForwardPart, kBackwardPart}) {
    const Graph alone = must(half_graph(pair, half));
    EXPECT_FALSE(alone.is_pair());
    EXPECT_EQ(alone.part(PartId(0)).kind, pair.part(half).kind);
    std::vector<std::string_view> expected, names;
    for (const NodeId id : pair.order())
      if (pair.node(id).part == half) expected.push_back(pair.name(id));
    for (const NodeId id : alone.order()) names.push_back(alone.name(id));
    EXPECT_EQ(names, expected);
  }
}

TEST(HalfGraph, FollowsTheOrderOfAnEditedPair) {
  Graph pair = must(open_graph(
      {.path = source_path("resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst")}));
  // The last two placeholders of the backward are swapped, which is always legal.
  std::vector<NodeId> inputs;
  for (const NodeId id : pair.order())
    if (pair.node(id).part == kBackwardPart && pair.node(id).kind == NodeKind::placeholder)
      inputs.push_back(id);
  ASSERT_GE(inputs.size(), 2U);
  const NodeId last = inputs.back(), previous = inputs[inputs.size() - 2];
  pair.move(std::vector{last}, previous);
  const Graph alone = must(half_graph(pair, kBackwardPart));
  EXPECT_LT(alone.position(alone.find(pair.name(last))),
            alone.position(alone.find(pair.name(previous))));
}

}  // namespace
}  // namespace jointer::test
