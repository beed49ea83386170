#include "core/graph/derive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/complete.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

TEST(Descriptor, UsesTheInnermostDescriptor) {
  const auto role = [](const char* json) { return parse_descriptor(json).role; };
  EXPECT_EQ(role(R"({"type":"ParamAOTInput","target":"wq"})"), Role::parameter);
  EXPECT_EQ(role(R"({"type":"BufferAOTInput","target":"mask"})"), Role::buffer);
  EXPECT_EQ(role(R"({"type":"PlainAOTInput","idx":0})"), Role::input);
  EXPECT_EQ(role(R"({"type":"TangentAOTInput"})"), Role::tangent);
  EXPECT_EQ(role(R"({"type":"InputMutationAOTOutput"})"), Role::mutation);
  EXPECT_EQ(role(R"({"type":"SavedForBackwardsAOTOutput"})"), Role::saved);
  EXPECT_EQ(role(R"({"type":"PlainAOTOutput"})"), Role::result);
  EXPECT_EQ(role(R"({"type":"SomethingNew"})"), Role::other);
  EXPECT_EQ(role("3"), Role::none);
  EXPECT_EQ(role("{"), Role::none);
  EXPECT_EQ(role(""), Role::none);

  const Descriptor wrapped = parse_descriptor(
      R"({"type":"SubclassGetAttrAOTInput","attr":"_local_tensor",
          "base":{"type":"ParamAOTInput","target":"layers.0.wq.weight"}})");
  EXPECT_EQ(wrapped.role, Role::parameter);
  EXPECT_EQ(wrapped.target, "layers.0.wq.weight");
  const Descriptor gradient = parse_descriptor(
      R"({"type":"GradAOTOutput","grad_of":{"type":"SubclassGetAttrAOTInput",
          "base":{"type":"ParamAOTInput","target":"wq"}}})");
  EXPECT_EQ(gradient.role, Role::gradient);
  EXPECT_EQ(gradient.target, "wq");
}

// As in a captured text: no tags, no descriptors, only FX's names.
Graph untagged(std::string_view text) {
  Graph graph = parse(text);
  for (const NodeId id : graph.order()) {
    Node& n = graph.node(id);
    n.partitioner_tag = n.desc = {};
    n.phase = Phase::forward;
    n.role = Role::none;
  }
  if (const auto done = complete(graph); !done) throw std::runtime_error(done.error().message);
  return graph;
}

constexpr const char* kJoint = R"(
  primals_1: f32[4] = input
  primals_2: f32[4] = input
  tangents_1: f32[4] = input
  y: f32[4] = aten.mul.Tensor(primals_1, primals_2)
  late: f32[4] = aten.relu(primals_2)
  g: f32[4] = aten.mul.Tensor(tangents_1, primals_2)
  again: f32[4] = aten.mul.Tensor(late, g)
  side: f32[4] = aten.relu(primals_1)
  last: f32[4] = aten.relu(y)
  return [last, again, None]
)";

TEST(DerivePhases, FollowTangentsWithoutTags) {
  const Graph graph = untagged(kJoint);
  const auto phase = [&](const char* name) { return node(graph, name).phase; };
  EXPECT_EQ(phase("tangents_1"), Phase::backward);
  EXPECT_EQ(phase("y"), Phase::forward);
  EXPECT_EQ(phase("late"), Phase::forward) << "before the first node that depends on a tangent";
  EXPECT_EQ(phase("g"), Phase::backward);
  EXPECT_EQ(phase("again"), Phase::backward);
  EXPECT_EQ(phase("side"), Phase::backward) << "after it, and feeds no forward output";
  EXPECT_EQ(phase("last"), Phase::forward) << "after it, but a forward output";
  EXPECT_TRUE(std::any_of(graph.facts().begin(), graph.facts().end(), [](const Fact& f) {
    return f.kind == Fact::Kind::derived && f.text.find("does not mark") != std::string::npos;
  }));
}

TEST(DeriveRoles, PrimalsWithGradientsAreParameters) {
  const Graph graph = untagged(kJoint);
  EXPECT_EQ(node(graph, "tangents_1").role, Role::tangent);
  EXPECT_EQ(node(graph, "primals_1").role, Role::parameter);
  EXPECT_EQ(node(graph, "primals_2").role, Role::input) << "its gradient is None";
  const auto& outputs = graph.part(PartId(0)).outputs;
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(outputs[0].role, Role::result);
  EXPECT_EQ(outputs[1].role, Role::gradient);
  EXPECT_FALSE(outputs[2].node);
}

TEST(DerivePhases, ABackwardHasRecomputedForwardNodes) {
  const Graph graph = parse(R"(
    kind backward
    x: f32[4] = saved
    dy: f32[4] = tangent
    relu: f32[4] = aten.relu(x)
    g: f32[4] = aten.mul.Tensor(relu, dy)   {backward}
    return [g]
  )");
  for (const NodeId id : graph.order()) EXPECT_EQ(graph.node(id).phase, Phase::backward);
  EXPECT_TRUE(node(graph, "relu").has(Node::recomputed));
  EXPECT_FALSE(node(graph, "g").has(Node::recomputed));
  EXPECT_EQ(node(graph, "x").role, Role::saved);
  EXPECT_EQ(node(graph, "dy").role, Role::tangent);
}

TEST(DerivePhases, DependentsOfTheBackwardAreBackward) {
  // Only some nodes are tagged: the others follow from dependencies.
  Graph graph = parse(R"(
    x: f32[4] = input
    y: f32[4] = aten.relu(x)
    g: f32[4] = aten.relu(y)     {backward}
    h: f32[4] = aten.relu(g)
    return [h]
  )");
  graph.node(graph.find("h")).partitioner_tag = {};
  derive_phases(graph);
  EXPECT_EQ(node(graph, "y").phase, Phase::forward);
  EXPECT_EQ(node(graph, "h").phase, Phase::backward);
}

}  // namespace
}  // namespace jointer::test
