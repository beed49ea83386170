#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/graph/canonical.h"
#include "core/graph/validate.h"
#include "core/open/open.h"
#include "core/partition/partition.h"
#include "tests/support/graphs.h"
#include "tests/support/joints.h"
#include "tests/support/must.h"
#include "tests/support/names.h"
#include "tests/support/passed_values.h"
#include "tests/support/paths.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Graph emitted(const Graph& joint, Partitioner partitioner = Partitioner::min_cut) {
  const auto done = must(partition(joint, {.partitioner = partitioner}));
  return must(emit_pair(done.joint, done.plan, partitioner));
}

TEST(EmitPair, RecomputesRightBeforeTheUse) {
  const Graph pair = emitted(parse(kTwoProducts));
  EXPECT_THAT(names_of_part(pair, kForwardPart),
              ElementsAre("w1", "w2", "x", "mm1", "a1", "mm2", "a2", "y", "output"));
  EXPECT_THAT(names_of_part(pair, kBackwardPart),
              ElementsAre("mm1", "mm2", "dy", "a2", "m2", "g2", "a1", "t2", "gw2", "g1", "output"));
}

TEST(EmitPair, SetsTheAttributesOfEachNode) {
  const Graph pair = emitted(parse(kTwoProducts));
  EXPECT_TRUE(validate(pair));
  const NodeId again = pair.find(kBackwardPart, "a1");
  EXPECT_EQ(pair.node(again).origin, pair.find(kForwardPart, "a1"));
  EXPECT_TRUE(pair.node(again).has(Node::recomputed));
  EXPECT_EQ(pair.node(again).phase, Phase::backward);
  EXPECT_EQ(pair.node(again).policy, MemoryPolicy::prefer_recompute);
  const Node& given = pair.node(pair.find(kBackwardPart, "mm1"));
  EXPECT_EQ(given.kind, NodeKind::placeholder);
  EXPECT_EQ(given.partner, pair.find(kForwardPart, "mm1"));
  EXPECT_EQ(given.role, Role::saved);
  EXPECT_EQ(pair.node(pair.find(kBackwardPart, "dy")).role, Role::tangent);

  std::vector<std::pair<std::string, Role>> outputs;
  for (const OutputEntry& entry : pair.part(kForwardPart).outputs)
    outputs.emplace_back(pair.name(entry.node), entry.role);
  EXPECT_THAT(outputs, ElementsAre(std::pair("y", Role::result), std::pair("mm1", Role::saved),
                                   std::pair("mm2", Role::saved)));
  EXPECT_EQ(pair.part(kBackwardPart).outputs.size(), 3U);
  EXPECT_FALSE(pair.part(kBackwardPart).outputs.front().node) << "no gradient";
}

TEST(EmitPair, DefaultKeepsTheOrderIfNothingIsTagged) {
  const Graph pair = emitted(parse(R"(
    x: f32[8] = input
    dy: f32[8] = tangent
    y: f32[8] = aten.cos(x)
    t: f32[8] = aten.detach(y)
    early: f32[8] = aten.sin(y)  {backward}
    g: f32[8] = aten.mul.Tensor(dy, early)  {backward}
    return [y, g]
  )"),
                             Partitioner::default_partition);
  EXPECT_THAT(names_of_part(pair, kBackwardPart), ElementsAre("y", "dy", "early", "g", "output"));
}

TEST(EmitPair, ElementsOfTuplesFollowTheirTuple) {
  const Graph pair = emitted(parse(R"(
    x: f32[8,8] = input
    dy: f32[8,8] = tangent
    s: (f32[4,8], f32[4,8]) = aten.split.Tensor(x, 4)
    a: f32[4,8] = s[0]
    r: f32[4,8] = aten.relu(a)
    b: f32[4,8] = s[1]
    y: f32[4,8] = aten.mul.Tensor(r, b)
    g: f32[8,8] = aten.neg(dy)  {backward}
    return [y, g]
  )"));
  EXPECT_THAT(names_of_part(pair, kForwardPart),
              ElementsAre("x", "s", "a", "b", "r", "y", "output"));
}

TEST(EmitPair, RefusesAnIncompletePlan) {
  const auto done = must(partition(parse(kTwoProducts)));
  SavePlan plan = done.plan;
  plan.saved.erase(plan.saved.begin());  // mm1; without it the backward needs x and w1
  plan.saved.push_back(done.joint.find("w2"));
  const auto pair = emit_pair(done.joint, plan);
  ASSERT_FALSE(pair);
  EXPECT_EQ(pair.error().kind, Error::Kind::usage);
  EXPECT_THAT(pair.error().message, HasSubstr("backward returns gw2"));
}

constexpr const char* kDropout = R"(
  device {}
  x: f32[64] = input
  dy: f32[64] = tangent
  a: f32[64] = aten.rand_like(x)  {{PREFER_RECOMPUTE}}
  y: f32[64] = aten.mul.Tensor(x, a)
  g: f32[64] = aten.mul.Tensor(dy, a)  {{backward}}
  return [y, g]
)";

TEST(EmitPair, RandomCallsUseGeneratorsOnCuda) {
  const Graph pair = emitted(parse(fmt::format(kDropout, "cuda:0")));
  EXPECT_THAT(names_of_part(pair, kForwardPart),
              ElementsAre("x", "fwd_rng_state_0", "graphsafe_run_with_rng_state", "y", "output"));
  EXPECT_THAT(
      names_of_part(pair, kBackwardPart),
      ElementsAre("x", "dy", "bwd_rng_state_0", "graphsafe_run_with_rng_state", "g", "output"));
  const Node& call = pair.node(pair.find(kBackwardPart, "graphsafe_run_with_rng_state"));
  EXPECT_EQ(call.origin, pair.find(kForwardPart, "graphsafe_run_with_rng_state"));
  EXPECT_EQ(canonical_call(pair, pair.find(kForwardPart, "graphsafe_run_with_rng_state"))
                .find("graphsafe_run_with_rng_state("),
            0U);
}

TEST(EmitPair, RandomCallsSaveTheirStateElsewhere) {
  const Graph pair = emitted(parse(fmt::format(kDropout, "cpu")));
  EXPECT_THAT(names_of_part(pair, kForwardPart),
              ElementsAre("x", "run_and_save_rng_state", "getitem", "getitem_1", "y", "output"));
  EXPECT_THAT(names_of_part(pair, kBackwardPart),
              ElementsAre("x", "rng_state_output_0", "dy", "run_with_rng_state", "g", "output"));
  EXPECT_EQ(pair.node(pair.find(kBackwardPart, "rng_state_output_0")).partner,
            pair.find(kForwardPart, "getitem"));
  // The pair can be written and read back.
  const auto bytes = PaddedBytes(write_native(pair));
  const auto read = must(read_native("pair", bytes));
  EXPECT_EQ(graph_hash(read), graph_hash(pair));
}

// An activation budget may recompute calls without tags.
TEST(EmitPair, UntaggedRandomCallsSaveTheirStateUnderABudget) {
  const Graph joint = parse(R"(
    x: f32[64] = input
    dy: f32[64] = tangent
    a: f32[64] = aten.rand([64])
    y: f32[64] = aten.mul.Tensor(x, a)
    g: f32[64] = aten.mul.Tensor(dy, a)  {backward}
    return [y, g]
  )");
  const auto done = must(partition(joint, {.activation_budget = 0}));
  EXPECT_THAT(names(done.joint, done.plan.redrawn), ElementsAre("a"));
  const Graph pair = must(emit_pair(done.joint, done.plan, Partitioner::min_cut));
  EXPECT_THAT(names_of_part(pair, kForwardPart),
              ElementsAre("x", "fwd_rng_state_0", "graphsafe_run_with_rng_state", "y", "output"));
  EXPECT_THAT(names_of_part(pair, kBackwardPart),
              ElementsAre("dy", "bwd_rng_state_0", "graphsafe_run_with_rng_state", "g", "output"));
  EXPECT_TRUE(must(partition(joint, {})).plan.redrawn.empty()) << "saved, as without a budget";
}

// --- Comparison with the pairs that torch made ---

struct CapturedPair {
  std::string joint, forward, backward;
  Partitioner partitioner = Partitioner::min_cut;
};

// NAME.min_cut.fw with NAME.min_cut.bw and NAME.joint.
std::vector<CapturedPair> captured_pairs() {
  std::vector<CapturedPair> pairs;
  for (const std::string& path : shared_captures())
    for (const auto& [part, partitioner] :
         {std::pair{".min_cut.fw.", Partitioner::min_cut},
          std::pair{".default.fw.", Partitioner::default_partition}}) {
      const auto at = path.find(part);
      if (at == std::string::npos) continue;
      std::string backward = path;
      backward.replace(path.find(".fw."), 4, ".bw.");
      const std::string joint = path.substr(0, at) + ".joint.json.zst";
      if (std::filesystem::exists(joint) && std::filesystem::exists(backward))
        pairs.push_back({joint, path, backward, partitioner});
    }
  return pairs;
}

TEST(SavedForBackward, IsReadFromAPair) {
  const Graph joint = parse(kTwoProducts);
  const auto done = must(partition(joint));
  const auto pair = must(emit_pair(done.joint, done.plan));
  const auto found = passed_values(pair);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(pair.name(found[0].node), "mm1");
  EXPECT_EQ(found[0].bytes, 256);
  EXPECT_FALSE(found[0].is_input);
  const auto plan = must(plan_of_pair(joint, pair));
  EXPECT_EQ(plan.saved, done.plan.saved);
  EXPECT_FALSE(plan_of_pair(parse("x: f32[4] = input\nreturn [x]"), pair));
  EXPECT_FALSE(plan_of_pair(joint, joint));
}

// Jointer gives random states a description, torch does not: see random_states.cpp.
bool is_random_state(std::string_view name) {
  return name.find("rng_state") != std::string_view::npos;
}

class CapturedPairs : public testing::TestWithParam<CapturedPair> {};

TEST_P(CapturedPairs, EqualTheEmittedPairs) {
  const auto joint = open_graph({.path = GetParam().joint});
  const auto wanted = open_graph({.path = GetParam().forward, .backward = GetParam().backward});
  ASSERT_TRUE(joint) << joint.error().message;
  ASSERT_TRUE(wanted) << wanted.error().message;
  const Graph pair = emitted(*joint, GetParam().partitioner);
  for (const PartId part : {kForwardPart, kBackwardPart}) {
    ASSERT_EQ(names_of_part(pair, part), names_of_part(*wanted, part)) << "names and order";
    EXPECT_EQ(pair.part(part).name, wanted->part(part).name);
    EXPECT_EQ(pair.part(part).outputs.size(), wanted->part(part).outputs.size());
  }
  for (std::size_t i = 0; i < pair.order().size(); ++i) {
    const NodeId ours = pair.order()[i], theirs = wanted->order()[i];
    const Node& a = pair.node(ours);
    const Node& b = wanted->node(theirs);
    if (is_random_state(pair.name(ours))) continue;
    ASSERT_EQ(canonical_call(pair, ours), canonical_call(*wanted, theirs)) << pair.name(ours);
    ASSERT_EQ(a.kind, b.kind) << pair.name(ours);
    ASSERT_EQ(a.policy, b.policy) << pair.name(ours);
    ASSERT_EQ(a.role, b.role) << pair.name(ours);
    // In torch's graphs with random states not every node is tagged, so the output's phase is
    // derived.
    if (a.kind != NodeKind::output) {
      ASSERT_EQ(a.phase, b.phase) << pair.name(ours);
    }
    ASSERT_EQ(a.flags, b.flags) << pair.name(ours);
    ASSERT_EQ(pair.text(a.desc), wanted->text(b.desc)) << pair.name(ours);
    ASSERT_EQ(pair.text(a.partitioner_tag), wanted->text(b.partitioner_tag)) << pair.name(ours);
    ASSERT_EQ(pair.text(a.schema_alias), wanted->text(b.schema_alias)) << pair.name(ours);
    ASSERT_EQ(a.partner ? pair.name(a.partner) : "", b.partner ? wanted->name(b.partner) : "")
        << pair.name(ours);
  }
  EXPECT_TRUE(validate(pair));
  const auto read = must(read_native("pair", PaddedBytes(write_native(pair))));
  EXPECT_EQ(graph_hash(read), graph_hash(pair));
  EXPECT_EQ(plan_of_pair(*joint, *wanted)->saved, plan_of_pair(*joint, pair)->saved);
  EXPECT_FALSE(plan_of_pair(*joint, pair)->saved.empty());
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CapturedPairs);
INSTANTIATE_TEST_SUITE_P(Shared, CapturedPairs, testing::ValuesIn(captured_pairs()),
                         [](const auto& parameter) {
                           return parameter_name(
                               testing::TestParamInfo<std::string>(parameter.param.forward, 0));
                         });

}  // namespace
}  // namespace jointer::test
