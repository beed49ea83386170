#include "core/graph/layer_counterparts.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"

namespace jointer {
namespace {

class LayerCounterpartsTest : public testing::Test {
 protected:
  [[nodiscard]] NodeId node(const char* name) const { return graph_.find(name); }
  [[nodiscard]] std::vector<std::string> counterparts(const char* name) const {
    std::vector<std::string> names;
    for (const NodeId id : layers_.of(node(name))) names.emplace_back(graph_.name(id));
    return names;
  }
  using Names = std::vector<std::string>;

  // Layer 2 multiplies once more; layer 3 has a different shape.
  Graph graph_ = test::parse(R"(
    w: f32[8,8] = parameter
    x: f32[8,8] = input
    e: f32[8,8] = aten.relu(x)                    {embedding}
    a0: f32[8,8] = aten.mm(e, w)                  {layers.0.wq}
    b0: f32[8,8] = aten.mm(a0, w)                 {layers.0.wq}
    r0: f32[8,8] = aten.relu(b0)                  {layers.0}
    a1: f32[8,8] = aten.mm(r0, w)                 {layers.1.wq}
    b1: f32[8,8] = aten.mm(a1, w)                 {layers.1.wq}
    r1: f32[8,8] = aten.relu(b1)                  {layers.1}
    a2: f32[8,8] = aten.mm(r1, w)                 {layers.2.wq}
    b2: f32[8,8] = aten.mm(a2, w)                 {layers.2.wq}
    c2: f32[8,8] = aten.mm(b2, w)                 {layers.2.wq}
    r2: f32[8,8] = aten.relu(c2)                  {layers.2}
    s3: f32[64] = aten.reshape(r2, [64])          {layers.3}
    r3: f32[64] = aten.relu(s3)                   {layers.3}
    d1: f32[8,8] = aten.relu(r1)                  {layers.1 backward}
    d0: f32[8,8] = aten.relu(d1)                  {layers.0 backward}
    return [r3, d0]
  )");
  LayerCounterparts layers_{graph_, ModuleTree(graph_)};
};

TEST_F(LayerCounterpartsTest, HaveTheSameOperatorShapeModuleAndIndex) {
  EXPECT_EQ(counterparts("r1"), (Names{"r0", "r1", "r2"}));
  EXPECT_EQ(counterparts("b0"), (Names{"b0", "b1"}));
  EXPECT_EQ(layers_.in_layer(node("b0"), 1), node("b1"));
  EXPECT_EQ(layers_.in_layer(node("b0"), 0), node("b0"));
  EXPECT_EQ(layers_.layer_of(node("b1")), 1);
}

TEST_F(LayerCounterpartsTest, ALayerWithMoreSuchCallsDiffers) {
  EXPECT_FALSE(layers_.in_layer(node("a0"), 2));
  EXPECT_EQ(counterparts("c2"), Names{"c2"});
}

TEST_F(LayerCounterpartsTest, ShapesAndPhasesDiffer) {
  EXPECT_FALSE(layers_.in_layer(node("r0"), 3));
  EXPECT_EQ(counterparts("d1"), (Names{"d0", "d1"}));
}

TEST_F(LayerCounterpartsTest, CallsOutsideOfLayersHaveNone) {
  EXPECT_EQ(counterparts("e"), Names{});
  EXPECT_EQ(counterparts("x"), Names{});
  EXPECT_EQ(layers_.layer_of(node("e")), Layers::kNone);
  EXPECT_FALSE(layers_.in_layer(node("e"), 0));
  EXPECT_EQ(layers_.layers(), (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST_F(LayerCounterpartsTest, NodesAddedLaterAreInNoLayer) {
  EXPECT_EQ(layers_.layer_of(NodeId(graph_.node_count())), Layers::kNone);
}

}  // namespace
}  // namespace jointer
