#include "views/graph/ladder_marks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/graphs.h"
#include "tests/support/ladders.h"

namespace jointer::views {
namespace {

// The backward of layers.1 reads a saved value and a parameter of the forward.
TEST(LadderMarks, InputsAcrossTheChannelWithoutARungAreMarked) {
  Graph graph = test::parse(R"(
    x: f32[64,64] = input
    w: f32[64,64] = parameter
    dy: f32[64,64] = tangent
    a: f32[64,64] = aten.mm(x, w)            {layers.0}
    b: f32[64,64] = aten.relu(a)             {layers.0}
    c: f32[64,64] = aten.neg(b)              {layers.1}
    gb: f32[64,64] = aten.mul.Tensor(dy, b)  {layers.1 backward}
    gx: f32[64,64] = aten.mm(gb, w)          {layers.1 backward}
    return [c, gx, None]
  )");
  graph.node(graph.find("w")).role_target = graph.intern("layers.0.weight");
  const Ladder ladder(graph, *analyze(graph));
  const LadderLayout layout = test::ladder_layout(graph, ladder, test::all_open(ladder));
  const auto flow = [&](const char* current, const char* other) {
    const LadderMarks marks =
        make_marks(graph, Users(graph), ladder, layout, {}, graph.find(current));
    const NodeId node = graph.find(other);
    const LadderPlace place = layout.place_of(ladder, graph, node);
    const auto found = std::ranges::find_if(marks.flows, [&](const LadderMarks::Flow& each) {
      return each.place == place && each.side == side_of(graph.node(node));
    });
    EXPECT_NE(found, marks.flows.end()) << current << " and " << other;
    return found == marks.flows.end() ? LadderMarks::Flow{} : *found;
  };
  EXPECT_TRUE(flow("gb", "b").has_rung);
  EXPECT_FALSE(flow("gx", "w").has_rung);
  EXPECT_FALSE(flow("gx", "gb").has_rung) << "both are in the backward";
  EXPECT_TRUE(flow("b", "gb").has_rung) << "the user, gb, reads b";
}

}  // namespace
}  // namespace jointer::views
