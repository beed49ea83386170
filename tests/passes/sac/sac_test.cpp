#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/edit/replay.h"
#include "core/graph/canonical.h"
#include "tests/passes/run_pass.h"
#include "tests/support/graphs.h"
#include "tests/support/run_pass.h"
#include "tests/support/symbolic_run.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

// A forward of two products and its backward.
constexpr const char* kJoint = R"(
  group fsdp: 0 1
  w: f32[64,64] = parameter
  v: f32[32,64] = parameter
  x: f32[128,64] = input
  dy: f32[128,64] = tangent
  g: f32[64,64] = _c10d_functional.all_gather_into_tensor(v, 2, 'fsdp')
  wt: f32[64,64] = _c10d_functional.wait_tensor(g)
  a: f32[128,64] = aten.mm(x, w)             {layers.0}
  r: f32[128,64] = aten.relu(a)              {layers.0}
  b: f32[128,64] = aten.mm(r, wt)            {layers.1}
  s: f32[128,64] = aten.sigmoid(b)           {layers.1}
  ds: f32[128,64] = aten.mul.Tensor(dy, s)   {backward}
  rt: f32[64,128] = aten.t(r)                {backward}
  dv: f32[64,64] = aten.mm(rt, ds)           {backward}
  vt: f32[64,64] = aten.t(wt)                {backward}
  dr: f32[128,64] = aten.mm(ds, vt)          {backward}
  da: f32[128,64] = aten.mul.Tensor(dr, a)   {backward}
  xt: f32[64,128] = aten.t(x)                {backward}
  dw: f32[64,64] = aten.mm(xt, da)           {backward}
  return [s, dw, dv]
)";

TEST(ApplySac, TagsByListAndByPosition) {
  const StepResult step = run_pipeline_text(parse(kJoint), "apply_sac").at(0);
  EXPECT_EQ(node(*step.graph, "a").policy, MemoryPolicy::must_save);
  EXPECT_EQ(node(*step.graph, "b").policy, MemoryPolicy::prefer_recompute);
  EXPECT_EQ(node(*step.graph, "r").policy, MemoryPolicy::prefer_recompute);
  EXPECT_THAT(reason_of(step, "b"), HasSubstr("1 in 2 calls of aten.mm"));
  EXPECT_THAT(reason_of(step, "r"), HasSubstr("not in the set of operators to save"));
}

TEST(ApplySac, AcceptsACustomListAndNone) {
  const StepResult relu =
      run_pipeline_text(parse(kJoint), "apply_sac{save=[aten.relu],every_nth=[]}").at(0);
  EXPECT_EQ(node(*relu.graph, "r").policy, MemoryPolicy::must_save);
  EXPECT_EQ(node(*relu.graph, "a").policy, MemoryPolicy::prefer_recompute);
  EXPECT_THAT(reason_of(relu, "r"), HasSubstr("is in the set of operators to save"));
  const StepResult none = run_pipeline_text(parse(kJoint), "apply_sac{save=[],every_nth=[]}").at(0);
  for (const NodeId id : none.graph->order())
    EXPECT_NE(none.graph->node(id).policy, MemoryPolicy::must_save) << none.graph->name(id);
}

TEST(ApplySac, RefusesInvalidRules) {
  EXPECT_THAT(refusal(parse(kJoint), "apply_sac{every_nth=[aten.mm]}"),
              HasSubstr("every_nth: expected OPERATOR/N"));
  EXPECT_THAT(refusal(parse(kJoint), "apply_sac{save=[aten.no_such_thing]}"),
              HasSubstr("aten.no_such_thing"));
}

// The name of an edit is a pipeline step that reproduces it.
TEST(SacPasses, AreNamedLikeTheirEdits) {
  for (const char* step :
       {R"(apply_sac{save=[aten.relu],every_nth=["aten.mm/3/layer"],whole_forward=true})",
        "tag_with_memory_policy{policy=full,save_ops=[aten.mm],reshard=false}", "remove_tags",
        "fsdp_reshard_after_fwd{reshard=false}"}) {
    const StepResult first = run_pipeline_text(parse(kJoint), step).at(0);
    EXPECT_EQ(first.edit.by, first.step);
    const StepResult again = run_pipeline_text(parse(kJoint), first.edit.by).at(0);
    EXPECT_EQ(again.edit, first.edit);
  }
}

TEST(TagWithMemoryPolicy, AcceptsUpstreamsPolicies) {
  const StepResult step =
      run_pipeline_text(parse(kJoint), "tag_with_memory_policy{policy=full}").at(0);
  EXPECT_EQ(node(*step.graph, "a").policy, MemoryPolicy::must_recompute);
  EXPECT_THAT(refusal(parse(kJoint), "tag_with_memory_policy{policy=none_such}"),
              HasSubstr("one of default, full"));
}

TEST(RemoveTags, RemovesAll) {
  const auto steps = run_pipeline_text(parse(kJoint), "apply_sac,remove_tags");
  EXPECT_EQ(graph_hash(*steps.at(1).graph), graph_hash(parse(kJoint)));
  for (const NodeId id : steps.at(1).graph->order())
    EXPECT_EQ(steps.at(1).graph->node(id).policy, MemoryPolicy::none);
}

class Partitioners : public testing::TestWithParam<const char*> {};

TEST_P(Partitioners, MakeAPairThatComputesTheSame) {
  const Graph joint = parse(kJoint);
  const auto steps = run_pipeline_text(joint, fmt::format("fsdp_reshard_after_fwd,{}", GetParam()));
  const StepResult& step = steps.at(1);
  ASSERT_TRUE(step.graph->is_pair());
  EXPECT_EQ(symbolic_run(joint), symbolic_run(*step.graph));
  EXPECT_FALSE(step.edit_refusal.empty()) << "no edit makes a pair";
  std::size_t saved = 0;
  for (const Decision& decision : step.decisions) {
    EXPECT_FALSE(decision.reason.empty()) << decision.node;
    EXPECT_THAT(decision.action, testing::AnyOf("saved", "recomputed", "offloaded"));
    saved += decision.action == "saved" ? 1U : 0U;
  }
  EXPECT_GT(saved, 0U);
  EXPECT_THAT(refusal(*step.graph, GetParam()), HasSubstr("needs a joint graph"));
}

INSTANTIATE_TEST_SUITE_P(All, Partitioners,
                         testing::Values("min_cut_partition", "default_partition", "fastest_plan",
                                         "knapsack_budget{budget=0.0}",
                                         "knapsack_budget{solver=greedy,strict=true}",
                                         "min_cut_partition{ignore_tags=true}"));

// The run's limit holds, and a limit that no plan meets is an error that names the lowest peak.
TEST(FastestPlan, StaysWithinTheLimit) {
  const Graph joint = parse(kJoint);
  const auto whole = run_pipeline_text(joint, "fastest_plan");
  PassContext::Options options;
  options.peak_limit = whole.at(0).after.figures.peak_bytes - 1;
  const auto limited =
      run_pipeline(joint, *parse_pipeline("fastest_plan"), built_in_passes(), options);
  ASSERT_TRUE(limited);
  if (limited->error)
    EXPECT_THAT(limited->error->message, HasSubstr("the lowest peak found is"));
  else
    EXPECT_LE(limited->steps.at(0).after.figures.peak_bytes, *options.peak_limit);
  EXPECT_THAT(refusal(joint, "fastest_plan{peak=1}"),
              HasSubstr("found no plan with a peak of at most"));
}

TEST(MinCutPartition, RespectsTagsUnlessConfigured) {
  const auto kept = run_pipeline_text(parse(kJoint), "fsdp_reshard_after_fwd,min_cut_partition");
  EXPECT_THAT(reason_of(kept.at(1), "wt"), HasSubstr("MUST_RECOMPUTE"));
  const auto ignored = run_pipeline_text(
      parse(kJoint), "fsdp_reshard_after_fwd,min_cut_partition{ignore_tags=true}");
  EXPECT_THAT(reason_of(ignored.at(1), "wt"), testing::Not(HasSubstr("MUST_RECOMPUTE")));
}

constexpr const char* kTaggedStep = R"(
  kind train_step
  w: f32[64,64] = parameter
  x: f32[64,64] = input
  a: f32[64,64] = aten.mm(x, w)            {layers.0}
  r: f32[64,64] = aten.relu(a)             {layers.0}
  b: f32[64,64] = aten.mm(r, w)            {layers.1}
  db: f32[64,64] = aten.mm(b, w)           {layers.1 backward}
  dr: f32[64,64] = aten.mul.Tensor(db, r)  {layers.0 backward}
  return [dr]
)";

TEST(SelectiveActivationRemat, RecomputesTaggedCalls) {
  const Graph graph = parse(kTaggedStep);
  const auto steps =
      run_pipeline_text(graph, "tag_with_memory_policy{policy=full},selective_activation_remat");
  const StepResult& step = steps.at(1);
  EXPECT_GT(step.added, 0U);
  EXPECT_EQ(symbolic_run(graph), symbolic_run(*step.graph));
  const auto copies = std::count_if(step.decisions.begin(), step.decisions.end(),
                                    [](const Decision& d) { return d.action == "added"; });
  EXPECT_EQ(static_cast<std::size_t>(copies), step.added);
}

TEST(ApplyCpuOffload, OffloadsTaggedResults) {
  Graph graph = parse(kTaggedStep);
  graph.node(graph.find("r")).policy = MemoryPolicy::must_cpu_offload;
  const StepResult step = run_pipeline_text(graph, "apply_cpu_offload").at(0);
  EXPECT_EQ(step.added, 4U);
  EXPECT_THAT(reason_of(step, "dr"), HasSubstr("reloaded copy"));
  EXPECT_THAT(refusal(graph, "apply_cpu_offload{defer_layers=-1}"), HasSubstr("at least 0"));
}

}  // namespace
}  // namespace jointer::test
