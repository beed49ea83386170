// Solving again after the user's decisions: the cut gives a plan that respects them, or one
// sentence that names the tags that contradict each other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/cost/node_flops.h"
#include "core/graph/validate.h"
#include "core/open/open.h"
#include "core/partition/plan_what_if.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/names.h"
#include "tests/support/paths.h"
#include "tests/support/reference.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

struct Solved {
  Partition partition;
  std::vector<std::string> saved, offloaded;
  std::map<std::string, std::string> reasons;
};

Solved solve(std::string_view text) {
  Solved solved{
      .partition = must(partition(parse(text))), .saved = {}, .offloaded = {}, .reasons = {}};
  const Graph& joint = solved.partition.joint;
  for (const NodeId id : solved.partition.plan.saved) {
    solved.saved.emplace_back(joint.name(id));
    solved.reasons[solved.saved.back()] = solved.partition.reasons[id.index()].text;
  }
  solved.offloaded = names(joint, solved.partition.plan.offloaded);
  must(emit_pair(joint, solved.partition.plan));
  return solved;
}

// A call with two results, both of which the backward reads. Sorting is not on torch's list of
// calls that may be recomputed.
std::string two_values(const std::string& call_tag, const std::string& first_tag,
                       const std::string& second_tag) {
  return fmt::format(R"(
    x: f32[64,64] = input
    dy: f32[64,64] = tangent
    h: f32[64,64] = aten.sin(x)
    s: (f32[64,64], i64[64,64]) = aten.sort.default(h) {}
    v: f32[64,64] = s[0] {}
    i: i64[64,64] = s[1] {}
    y: f32[64,64] = aten.mul.Tensor(v, v)
    a: f32[64,64] = aten.mul.Tensor(dy, v)  {{backward}}
    g: f32[64,64] = aten.gather(a, 1, i)  {{backward}}
    z: i64[64,64] = aten.mul.Tensor(i, i)
    return [y, z, g]
  )",
                     call_tag, first_tag, second_tag);
}

TEST(SolveAgain, RecomputesOneValueOfATuple) {
  const Solved solved = solve(two_values("", "{MUST_RECOMPUTE}", ""));
  EXPECT_THAT(solved.saved, Not(Contains("v")));
}

TEST(SolveAgain, KeepsTheOtherValuesOfATaggedCall) {
  const Solved solved = solve(two_values("{MUST_SAVE}", "{MUST_RECOMPUTE}", ""));
  EXPECT_THAT(solved.saved, Not(Contains("v")));
  EXPECT_THAT(solved.saved, Contains("i"));
}

TEST(SolveAgain, SavesOneValueOfARecomputedTuple) {
  const Solved solved = solve(two_values("{MUST_RECOMPUTE}", "", "{MUST_SAVE}"));
  EXPECT_THAT(solved.saved, Not(Contains("v")));
  EXPECT_THAT(solved.saved, Contains("i"));
  EXPECT_EQ(solved.reasons.at("i"), "tagged MUST_SAVE");
}

TEST(SolveAgain, OffloadsValuesTaggedForTheHost) {
  const Solved solved = solve(two_values("", "{MUST_CPU_OFFLOAD}", ""));
  EXPECT_THAT(solved.saved, Contains("v"));
  EXPECT_THAT(solved.offloaded, ::testing::ElementsAre("v"));
  EXPECT_EQ(solved.reasons.at("v"), "tagged MUST_CPU_OFFLOAD");
}

TEST(SolveAgain, KeepsResultsOnTheDevice) {
  const Solved solved = solve(R"(
    x: f32[64] = input
    dy: f32[64] = tangent
    y: f32[64] = aten.exp(x)  {MUST_CPU_OFFLOAD}
    g: f32[64] = aten.mul.Tensor(dy, y)  {backward}
    return [y, g]
  )");
  EXPECT_THAT(solved.saved, Contains("y"));
  EXPECT_TRUE(solved.offloaded.empty());
}

TEST(SolveAgain, NamesTagsThatContradictEachOther) {
  // A number from a tensor: the call that makes it may not be recomputed, and nothing else leads to
  // it.
  const auto done = partition(parse(R"(
    x: f32[64,64] = input
    dy: f32[64,64] = tangent
    s: (f32[64,64], i64[64,64]) = aten.sort.default(x)  {MUST_SAVE}
    p: (f32[64,64], i64[64,64]) = prims.device_put(s)  {MUST_RECOMPUTE}
    v: f32[64,64] = p[0]
    y: f32[64,64] = aten.mul.Tensor(v, v)
    g: f32[64,64] = aten.mul.Tensor(dy, v)  {backward}
    return [y, g]
  )"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, Error::Kind::usage);
  EXPECT_EQ(done.error().message,
            "s (tagged MUST_SAVE) is not recomputed, the backward computes p (tagged "
            "MUST_RECOMPUTE), and no value from the one to the other can be saved; change the tag "
            "of one of the two, or of a value between them");
}

class Ticked : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    JOINTER_NEEDS_SHARED();
    JOINTER_SLOW_IF(is_large_capture(GetParam()));
    graph = must(open_graph({.path = capture_path(std::string(GetParam()) + ".joint")}));
    const auto estimator = *make_estimator({});
    costs = estimate_all(graph, *estimator);
    transfers = estimator->transfer_costs();
    flops.resize(graph.node_count());
  }

  [[nodiscard]] std::vector<SaveCandidate> candidates(const Partition& of) const {
    const PlanWhatIf what_if(of.joint, costs, flops, {}, {}, {.transfers = transfers});
    return must(what_if.candidates(of.plan));
  }

  Graph graph;
  std::vector<NodeCost> costs;
  std::vector<Flops> flops;
  TransferCosts transfers;
};

TEST_P(Ticked, ThirtyDecisionsAreRespected) {
  if (IsSkipped()) return;
  const auto base = must(partition(graph));
  const std::vector<SaveCandidate> rows = candidates(base);
  const int runs = graph.order().size() > 20'000 ? 2 : 10;
  for (unsigned seed = 0; seed < static_cast<unsigned>(runs); ++seed) {
    std::mt19937_64 chance(seed);
    Graph ticked = graph;
    std::map<NodeId, PlanAction> ticks;
    while (ticks.size() < 30) {
      const SaveCandidate& row = rows[chance() % rows.size()];
      if (row.chain == 0 || graph.node(row.node).kind != NodeKind::call) continue;
      const PlanAction action =
          row.action == PlanAction::save ? PlanAction::recompute : PlanAction::save;
      ticks[row.node] = action;
      ticked.node(row.node).policy =
          action == PlanAction::save ? MemoryPolicy::must_save : MemoryPolicy::must_recompute;
    }
    const auto again = must(partition(ticked));
    for (const SaveCandidate& row : candidates(again)) {
      const auto tick = ticks.find(row.node);
      if (tick == ticks.end()) continue;
      // Two of torch's rules: cheap views may always be recomputed, and the last value of a
      // recomputed region is saved if the next region reads it.
      if (graph.op(graph.node(row.node)).has(OperatorTag::cheap_view) ||
          again.reasons[row.node.index()].text.starts_with("its region is recomputed"))
        continue;
      EXPECT_EQ(to_string(row.action), to_string(tick->second)) << graph.name(row.node);
    }
    const auto pair = must(emit_pair(again.joint, again.plan));
    const auto sound = validate(pair);
    EXPECT_TRUE(sound) << sound.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(Captures, Ticked,
                         testing::Values("llama3_debug_tp2_fsdp2",
                                         "llama3_debug_tp2_fsdp2_graph_sac",
                                         "deepseek_v3_debug_tp2_fsdp2_ep2",
                                         "deepseek_v3_671b_tp8_fsdp32_ep32"),
                         [](const auto& capture) { return std::string(capture.param); });

}  // namespace
}  // namespace jointer::test
