#include "core/graph/derive_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/complete.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

// As in a trace: nothing marks the inputs as parameters.
Graph undescribed(const char* text) {
  Graph graph = parse(text);
  for (const NodeId id : graph.order()) {
    Node& n = graph.node(id);
    n.desc = {};
    n.role_target = {};
    n.role = Role::none;
  }
  if (const auto done = complete(graph); !done) throw std::runtime_error(done.error().message);
  return graph;
}

std::string target(const Graph& graph, const char* name) {
  const Node& n = node(graph, name);
  return n.role == Role::parameter ? std::string(graph.text(n.role_target)) : std::string("none");
}

TEST(StepParameters, AreTheInputsWithGradients) {
  const Graph graph = undescribed(R"(
    kind train_step
    w1: f32[4,8] = input
    w2: f32[4,8] = input
    scale: f32[8] = input
    table: f32[4,4] = input
    x: f32[4,4] = input
    h1: f32[4,8] = aten.mul.Tensor(w1, w2)  {layers.0.moe}
    h2: f32[4,8] = aten.mul.Tensor(h1, scale)  {layers.0.norm}
    y: f32[4,8] = aten.mm(x, h2)
    z: f32[4,8] = aten.mm(table, y)
    loss: f32[] = aten.sum(z)
    g1: f32[4,8] = aten.mul.Tensor(h1, loss)  {backward}
    g2: f32[4,8] = aten.mul.Tensor(h2, loss)  {backward}
    g3: f32[8] = aten.mul.Tensor(scale, loss)  {backward}
    return [loss, g1, g2, g3]
  )");
  EXPECT_EQ(target(graph, "w1"), "layers.0.moe.parameter_0");
  EXPECT_EQ(target(graph, "w2"), "layers.0.moe.parameter_1");
  EXPECT_EQ(target(graph, "scale"), "layers.0.norm.weight");
  EXPECT_EQ(target(graph, "table"), "none");
  EXPECT_EQ(target(graph, "x"), "none");
  const auto& outputs = graph.part(PartId(0)).outputs;
  EXPECT_EQ(outputs.at(0).role, Role::result);
  EXPECT_EQ(outputs.at(2).target, "layers.0.moe.parameter_1");
  EXPECT_EQ(outputs.at(3).role, Role::gradient);
}

TEST(StepParameters, AreNotGuessedIfGradientsDoNotMatch) {
  const Graph graph = undescribed(R"(
    kind train_step
    w: f32[4] = input
    x: f32[2] = input
    loss: f32[] = aten.sum(w)
    g: f32[3] = aten.expand(loss, [3])  {backward}
    return [loss, g]
  )");
  EXPECT_EQ(target(graph, "w"), "none");
  EXPECT_EQ(target(graph, "x"), "none");
}

}  // namespace
}  // namespace jointer::test
