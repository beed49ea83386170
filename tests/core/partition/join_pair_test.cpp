#include "core/partition/join_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/complete.h"
#include "core/graph/validate.h"
#include "core/open/open.h"
#include "core/partition/part_copy.h"
#include "core/partition/partition.h"
#include "core/schedule/memory_timeline.h"
#include "tests/support/graphs.h"
#include "tests/support/joints.h"
#include "tests/support/must.h"
#include "tests/support/names.h"
#include "tests/support/paths.h"
#include "tests/support/symbolic_run.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Graph emitted(const Graph& joint, const SavePlan& plan) {
  return must(emit_pair(joint, plan));
}

Graph partitioned(std::string_view text) {
  const Graph joint = parse(text);
  const auto done = must(partition(joint));
  return emitted(done.joint, done.plan);
}

JoinedPair joined(const Graph& pair) {
  auto made = must(join_with_plan(pair));
  if (const auto sound = validate(made.joint); !sound)
    throw std::runtime_error(sound.error().message);
  return made;
}

std::string refusal(const Graph& pair) {
  const auto made = join_with_plan(pair);
  if (made) return {};
  EXPECT_EQ(made.error().kind, Error::Kind::usage);
  return made.error().message;
}

// A pair of two literals.
Graph pair_of(std::string_view forward, std::string_view backward) {
  Graph pair;
  const auto add = [&](std::string_view text, CaptureKind kind, const char* name) {
    const Graph half = parse(text);
    PartCopy copy(half, pair, kind, name);
    for (const NodeId id : half.order()) copy.copy(id);
    copy.finish_constants();
  };
  add(forward, CaptureKind::forward, "it.fw");
  add(backward, CaptureKind::backward, "it.bw");
  pair.set_title("it");
  if (const auto done = complete(pair); !done) throw std::runtime_error(done.error().message);
  return pair;
}

TEST(JoinPair, IsTheInverseOfPartitioning) {
  const Graph pair = partitioned(kTwoProducts);
  const JoinedPair made = joined(pair);
  EXPECT_THAT(names(made.joint, made.joint.order()),
              ElementsAre("w1", "w2", "x", "dy", "mm1", "a1", "mm2", "a2", "y", "m2", "g2", "t2",
                          "gw2", "g1", "output"));
  EXPECT_EQ(symbolic_run(made.joint), symbolic_run(parse(kTwoProducts)));
  EXPECT_EQ(made.merged, 2U);
  EXPECT_THAT(names(made.joint, made.plan.saved), ElementsAre("mm1", "mm2"));
  EXPECT_TRUE(made.plan.offloaded.empty() && made.plan.redrawn.empty());
}

TEST(JoinPair, KeepsWhatAJointGraphHas) {
  const Graph first = parse(kTwoProducts);
  const Graph joint = joined(partitioned(kTwoProducts)).joint;
  EXPECT_FALSE(joint.is_pair());
  EXPECT_EQ(joint.part(kForwardPart).kind, CaptureKind::joint);
  for (const NodeId id : joint.order()) {
    const Node &n = joint.node(id), &before = node(first, joint.name(id));
    EXPECT_EQ(n.phase, before.phase) << joint.name(id);
    EXPECT_EQ(n.policy, before.policy) << joint.name(id);
    EXPECT_EQ(n.role, before.role) << joint.name(id);
    EXPECT_FALSE(n.has(Node::recomputed)) << joint.name(id);
    EXPECT_FALSE(n.origin || n.partner) << joint.name(id);
    EXPECT_EQ(bool(n.module), bool(before.module)) << joint.name(id);
  }
  const auto& outputs = joint.part(kForwardPart).outputs;
  ASSERT_EQ(outputs.size(), 4U);
  EXPECT_EQ(outputs[0].role, Role::result);
  EXPECT_FALSE(outputs[1].node);
}

TEST(JoinPair, CallsThatOnlyTheBackwardRunsComeAfterTheirInputs) {
  // y does not need the result, so only the backward computes it.
  const Graph pair = partitioned(R"(
    x: f32[8,8] = input
    dy: f32[8,8] = tangent
    s: f32[8,8] = aten.sigmoid(x)
    c: f32[8,8] = aten.cos(x)  {MUST_RECOMPUTE}
    y: f32[8,8] = aten.neg(s)
    g: f32[8,8] = aten.mul.Tensor(dy, c)  {backward}
    return [y, g]
  )");
  ASSERT_FALSE(pair.find(kForwardPart, "c"));
  const Graph joint = joined(pair).joint;
  EXPECT_LT(joint.position(joint.find("c")), joint.position(joint.find("s")));
  EXPECT_EQ(node(joint, "c").phase, Phase::forward);
}

TEST(JoinPair, ViewsOfSavedValuesShareTheirMemory) {
  const JoinedPair made = joined(partitioned(R"(
    x: f32[8,8] = input
    dy: f32[64] = tangent
    s: f32[8,8] = aten.sigmoid(x)
    y: f32[64] = aten.view(s, [64])
    v: f32[64] = aten.view(s, [64])  {backward}
    g: f32[64] = aten.mul.Tensor(dy, v)  {backward}
    return [y, g]
  )"));
  EXPECT_EQ(storage_of(made.joint, "s"), storage_of(made.joint, "y"));
}

TEST(JoinPair, OffloadingIsUndone) {
  const Graph joint = parse(kTwoProducts);
  const auto done = must(partition(joint));
  SavePlan plan = done.plan;
  plan.offloaded = {done.joint.find("mm1")};
  const Graph pair = emitted(done.joint, plan);
  ASSERT_TRUE(pair.find("cpu_offload_mm1"));
  const JoinedPair made = joined(pair);
  for (const NodeId id : made.joint.order())
    EXPECT_FALSE(made.joint.is_transfer(made.joint.node(id))) << made.joint.name(id);
  EXPECT_THAT(names(made.joint, made.plan.saved), ElementsAre("mm1", "mm2"));
  EXPECT_THAT(names(made.joint, made.plan.offloaded), ElementsAre("mm1"));
}

constexpr const char* kForwardWithHost = R"(
  kind forward
  x: f32[8] = input
  s: f32[8] = aten.sigmoid(x)
  y: f32[8] = aten.neg(s)
  device cpu
  h: f32[8] = prims.device_put(s, 'cpu')
  return [y, h]
)";

TEST(JoinPair, PlainCopiesToTheHostAreUndone) {
  const JoinedPair made = joined(pair_of(kForwardWithHost, R"(
    kind backward
    device cpu
    h: f32[8] = saved
    device cuda:0
    tangents_1: f32[8] = tangent
    back: f32[8] = prims.device_put(h, 'cuda:0')
    g: f32[8] = aten.mul.Tensor(tangents_1, back)  {backward}
    return [g]
  )"));
  EXPECT_THAT(names(made.joint, made.joint.order()),
              ElementsAre("x", "tangents_1", "s", "y", "g", "output"));
  EXPECT_THAT(names(made.joint, made.plan.offloaded), ElementsAre("s"));
}

TEST(JoinPair, AHostCopyThatIsUsedOnTheHostStays) {
  const JoinedPair made = joined(pair_of(kForwardWithHost, R"(
    kind backward
    device cpu
    h: f32[8] = saved
    tangents_1: f32[8] = tangent
    g: f32[8] = aten.mul.Tensor(tangents_1, h)  {backward}
    return [g]
  )"));
  EXPECT_TRUE(made.joint.find("h"));
  EXPECT_THAT(names(made.joint, made.plan.saved), ElementsAre("h"));
  EXPECT_TRUE(made.plan.offloaded.empty());
}

// On a device, where states are tensors or generators.
std::string dropout_on(const char* device) {
  return std::string("device ") + device + R"(
    x: f32[8,8] = input
    dy: f32[8,8] = tangent
    d: (f32[8,8], b8[8,8]) = aten.native_dropout(x, 0.5, True)  {MUST_RECOMPUTE}
    v: f32[8,8] = d[0]  {MUST_RECOMPUTE}
    s: f32[8,8] = aten.sin(v)  {MUST_RECOMPUTE}
    y: f32[8,8] = aten.neg(s)
    g: f32[8,8] = aten.mul.Tensor(dy, s)  {backward}
    return [y, g]
  )";
}

TEST(JoinPair, RandomStatesAreUndone) {
  for (const char* device : {"cuda:0", "cpu"}) {
    SCOPED_TRACE(device);
    const Graph pair = partitioned(dropout_on(device));
    const JoinedPair made = joined(pair);
    const NodeId call = made.joint.find("native_dropout");
    ASSERT_TRUE(call);
    EXPECT_EQ(made.joint.target(made.joint.node(call)), "aten.native_dropout.default");
    EXPECT_EQ(made.joint.node(call).policy, MemoryPolicy::must_recompute);
    EXPECT_THAT(names(made.joint, made.plan.redrawn), ElementsAre("native_dropout"));
    EXPECT_EQ(made.undescribed, 0U);
    for (const NodeId id : made.joint.order())
      EXPECT_EQ(made.joint.name(id).find("rng_state"), std::string_view::npos);
    const Graph again = emitted(made.joint, made.plan);
    EXPECT_EQ(again.order().size(), pair.order().size());
    EXPECT_EQ(MemoryTimeline(again).peak_bytes(), MemoryTimeline(pair).peak_bytes());
  }
}

TEST(JoinPair, ACallThatDrawsOtherNumbersStaysInTheBackward) {
  const JoinedPair made = joined(pair_of(R"(
    kind forward
    x: f32[8] = input
    r: f32[8] = aten.rand_like(x)
    y: f32[8] = aten.mul.Tensor(x, r)
    return [y, x]
  )",
                                         R"(
    kind backward
    x: f32[8] = saved
    tangents_1: f32[8] = tangent
    r: f32[8] = aten.rand_like(x)  {backward}
    g: f32[8] = aten.mul.Tensor(tangents_1, r)  {backward}
    return [g]
  )"));
  const Node& drawn = node(made.joint, "r_1");
  EXPECT_EQ(made.joint.text(drawn.partitioner_tag), "must_be_in_backward");
  EXPECT_EQ(drawn.phase, Phase::backward);
  const auto pair = must(emit_pair(made.joint, made.plan));
  EXPECT_TRUE(pair.find(kBackwardPart, "r_1"));
  EXPECT_FALSE(pair.find(kForwardPart, "r_1"));
}

TEST(JoinPair, ACallThatReadsLaterContentsIsADifferentCall) {
  const JoinedPair made = joined(pair_of(R"(
    kind forward
    b: f32[8] = buffer
    x: f32[8] = input
    c: f32[8] = aten.cos(b)
    y: f32[8] = aten.mul.Tensor(x, c)
    w: f32[8] = aten.copy_(b, y)
    return [y, b]
  )",
                                         R"(
    kind backward
    b: f32[8] = saved
    tangents_1: f32[8] = tangent
    c: f32[8] = aten.cos(b)  {backward}
    g: f32[8] = aten.mul.Tensor(tangents_1, c)  {backward}
    return [g]
  )"));
  ASSERT_TRUE(made.joint.find("c_1"));
  EXPECT_LT(made.joint.position(made.joint.find("w")), made.joint.position(made.joint.find("c_1")));
}

TEST(JoinPair, CopiesIntoInputsComeLast) {
  const JoinedPair made = joined(pair_of(R"(
    kind forward
    b: f32[8] = buffer
    x: f32[8] = input
    y: f32[8] = aten.neg(x)
    w: f32[8] = aten.copy_(b, y)
    return [y, x]
  )",
                                         R"(
    kind backward
    x: f32[8] = saved
    tangents_1: f32[8] = tangent
    g: f32[8] = aten.mul.Tensor(tangents_1, x)  {backward}
    return [g]
  )"));
  EXPECT_THAT(names(made.joint, made.joint.order()),
              ElementsAre("b", "x", "tangents_1", "y", "g", "w", "output"));
}

TEST(JoinPair, ACopyWhoseResultTheBackwardReadsComesBeforeIt) {
  const JoinedPair made = joined(pair_of(R"(
    kind forward
    b: f32[8] = buffer
    x: f32[8] = input
    y: f32[8] = aten.neg(x)
    w: f32[8] = aten.copy_(b, y)
    return [y, w]
  )",
                                         R"(
    kind backward
    w: f32[8] = saved
    tangents_1: f32[8] = tangent
    v: f32[8] = aten.view(w, [8])  {backward}
    return [v]
  )"));
  EXPECT_THAT(names(made.joint, made.joint.order()),
              ElementsAre("b", "x", "tangents_1", "y", "w", "v", "output"));
}

TEST(JoinPair, NamesStayUnique) {
  const JoinedPair made = joined(pair_of(R"(
    kind forward
    x: f32[8] = input
    m: f32[8] = aten.neg(x)
    y: f32[8] = aten.cos(m)
    return [y, x]
  )",
                                         R"(
    kind backward
    x: f32[8] = saved
    tangents_1: f32[8] = tangent
    m: f32[8] = aten.sin(x)  {backward}
    g: f32[8] = aten.mul.Tensor(tangents_1, m)  {backward}
    return [g]
  )"));
  EXPECT_EQ(made.merged, 0U);
  EXPECT_EQ(made.joint.target(node(made.joint, "m")), "aten.neg.default");
  EXPECT_EQ(made.joint.target(node(made.joint, "m_1")), "aten.sin.default");
}

TEST(JoinPair, OnlyAPairIsJoined) {
  EXPECT_THAT(refusal(parse(kTwoProducts)), HasSubstr("only a pair can be joined"));
  EXPECT_THAT(refusal(parse("kind forward\nx: f32[8] = input\nreturn [x]")),
              HasSubstr("is a forward graph; open it with its backward"));
  Graph untitled = parse("kind forward\nx: f32[8] = input\nreturn [x]");
  untitled.set_title("");
  EXPECT_THAT(refusal(untitled), HasSubstr("but the graph is a forward graph"));
}

TEST(JoinPair, AnInputFromElsewhereIsRefused) {
  Graph pair = partitioned(kTwoProducts);
  const NodeId given = pair.find(kBackwardPart, "mm1");
  pair.node(given).partner = {};
  EXPECT_THAT(refusal(pair), HasSubstr("mm1, an input of the backward, is neither a tangent nor a "
                                       "result of the forward; open the two halves"));
}

TEST(JoinPair, AStateWithoutItsCallIsRefused) {
  // The forward's call is plain, so nothing shows which numbers the backward repeats.
  Graph pair = partitioned(dropout_on("cuda:0"));
  for (const NodeId id : pair.order())
    if (pair.name(id) == "fwd_rng_state_0")
      pair.node(id).target = pair.intern_operator("fwd_rng_state_7");
  EXPECT_THAT(refusal(pair), HasSubstr("draws numbers from bwd_rng_state_0, which is not the "
                                       "random state of a call"));
}

// Torch's own pairs, joined, lead to the pairs that torch made of the captured joint graphs.
TEST(JoinPair, PairsOfTorchHaveThePlansOfTheirJointGraphs) {
  JOINTER_NEEDS_SHARED();
  for (const char* name : {"llama3_debug_tp2_fsdp2", "llama3_debug_tp2_fsdp2_graph_sac"}) {
    const std::string base = shared_directory() + "/captures/" + name;
    const auto pair = must(open_graph(
        {.path = base + ".min_cut.fw.json.zst", .backward = base + ".min_cut.bw.json.zst"}));
    const JoinedPair made = joined(pair);
    const auto done = must(partition(made.joint));
    EXPECT_EQ(done.plan, made.plan);
  }
}

}  // namespace
}  // namespace jointer::test
