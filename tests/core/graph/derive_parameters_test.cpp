#include "core/graph/derive_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/graph/complete.h"
#include "core/open/open.h"
#include "tests/support/graphs.h"
#include "tests/support/paths.h"

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

// The bucket and the calls that unpack it are in the module of its first member.
TEST(StepParameters, AreNamedAfterTheReadersOfBucketMembers) {
  const Graph graph = undescribed(R"(
    kind train_step
    group dp: 0 1
    w1: f32[4] = input
    w2: f32[6] = input
    w3: f32[4] = input
    x: f32[8] = input
    cat: f32[14] = aten.cat([w1, w2, w3])  {layers.0.wq}
    ag: f32[28] = _c10d_functional.all_gather_into_tensor(cat, 2, 'dp')  {layers.0.wq}
    wt: f32[28] = _c10d_functional.wait_tensor(ag)  {layers.0.wq}
    rows: f32[2,14] = aten.view(wt, [2, 14])  {layers.0.wq}
    parts: (f32[2,4], f32[2,6], f32[2,4]) = aten.split_with_sizes(rows, [4, 6, 4], 1)  {layers.0.wq}
    p0: f32[2,4] = parts[0]  {layers.0.wq}
    p1: f32[2,6] = parts[1]  {layers.0.wq}
    p2: f32[2,4] = parts[2]  {layers.0.wq}
    c0: f32[2,4] = aten.clone(p0)  {layers.0.wq}
    v0: f32[8] = aten.view(c0, [8])  {layers.0.wq}
    v2: f32[2,4] = aten.clone(p2)  {layers.0.wq}
    q: f32[8] = aten.mul.Tensor(x, v0)  {layers.0.wq}
    n: f32[8] = aten.add.Tensor(q, 1)  {layers.0.attention}
    o: f32[2,6] = aten.mul.Tensor(p1, 2)  {layers.0.wo}
    k: f32[2,4] = aten.mul.Tensor(v2, 2)  {layers.0.norm}
    loss: f32[] = aten.sum(n)
    g1: f32[4] = aten.mul.Tensor(w1, loss)  {backward}
    g2: f32[6] = aten.mul.Tensor(w2, loss)  {backward}
    g3: f32[4] = aten.mul.Tensor(w3, loss)  {backward}
    return [loss, g1, g2, g3]
  )");
  EXPECT_EQ(target(graph, "w1"), "layers.0.wq.weight");
  EXPECT_EQ(target(graph, "w2"), "layers.0.wo.weight");
  EXPECT_EQ(target(graph, "w3"), "layers.0.norm.weight");
}

TEST(StepParameters, AreNamedAfterTheReadersOfBuffersThatABucketFills) {
  const Graph graph = undescribed(R"(
    kind train_step
    w1: f32[2,4] = input
    w2: f32[2,6] = input
    b1: f32[2,4] = aten.empty.memory_format([2, 4])  {layers.0.wq}
    b2: f32[2,6] = aten.empty.memory_format([2, 6])  {layers.0.wq}
    early: f32[2,4] = aten.zeros([2, 4])  {layers.0.other}
    cat: f32[2,10] = aten.cat([w1, w2], 1)  {layers.0.wq}
    fill: f32[] = aten.split_with_sizes_copy.out(cat, [4, 6], 1, out=[b1, b2])  {layers.0.wq}
    v1: f32[8] = aten.view(b1, [8])  {layers.0.wq}
    v2: f32[12] = aten.view(b2, [12])  {layers.0.wq}
    q: f32[8] = aten.mul.Tensor(v1, 2)  {layers.0.wq}
    o: f32[12] = aten.mul.Tensor(v2, 2)  {layers.0.wo}
    loss: f32[] = aten.sum(q)
    g1: f32[2,4] = aten.mul.Tensor(w1, loss)  {backward}
    g2: f32[2,6] = aten.mul.Tensor(w2, loss)  {backward}
    return [loss, g1, g2]
  )");
  EXPECT_EQ(target(graph, "w1"), "layers.0.wq.weight");
  EXPECT_EQ(target(graph, "w2"), "layers.0.wo.weight");
}

// torchtitan's passes keep the parameters, so bucketing must not change their names.
TEST(StepParameters, KeepTheirNamesAfterTheTrainersPasses) {
  JOINTER_NEEDS_SHARED();
  const auto names = [](const std::string& file) {
    const auto graph =
        open_graph({.path = shared_directory() + "/captures/torchtitan_0.3/" + file + ".json.zst"});
    if (!graph) throw std::runtime_error(graph.error().message);
    std::map<std::string, std::string> found;
    for (const NodeId id : graph->order())
      if (graph->node(id).role == Role::parameter)
        found.emplace(graph->name(id), graph->text(graph->node(id).role_target));
    return found;
  };
  for (const std::string step : {"llama3_8b_fsdp8_b2_eager", "llama3_8b_fsdp4_tp2"}) {
    const auto traced = names(step + ".traced");
    EXPECT_FALSE(traced.empty());
    EXPECT_EQ(names(step + ".after_passes"), traced) << step;
  }
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
