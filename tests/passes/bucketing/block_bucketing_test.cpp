#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/module_tree.h"
#include "passes/bucketing/module_plan.h"
#include "tests/passes/run_pass.h"
#include "tests/passes/two_blocks.h"
#include "tests/support/graphs.h"
#include "tests/support/names.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kModel = R"(
  group dp: 0 1
  group tp: 0 1
  x: bf16[4,4] = input
  a: bf16[2,4] = parameter
  b: bf16[2,4] = parameter
  c: bf16[2,4] = parameter
  d: bf16[2,4] = parameter
  e: bf16[2,4] = parameter
  ag_e: bf16[4,4] = _c10d_functional.all_gather_into_tensor(e, 2, 'dp')  {tok_embeddings}
  wt_e: bf16[4,4] = _c10d_functional.wait_tensor(ag_e)  {tok_embeddings}
  h: bf16[4,4] = aten.mm(x, wt_e)  {tok_embeddings}
  ag_a: bf16[4,4] = _c10d_functional.all_gather_into_tensor(a, 2, 'dp')  {layers.0.wq}
  wt_a: bf16[4,4] = _c10d_functional.wait_tensor(ag_a)  {layers.0.wq}
  i: bf16[4,4] = aten.mm(h, wt_a)  {layers.0.wq}
  ag_b: bf16[4,4] = _c10d_functional.all_gather_into_tensor(b, 2, 'dp')  {layers.0.wk}
  wt_b: bf16[4,4] = _c10d_functional.wait_tensor(ag_b)  {layers.0.wk}
  j: bf16[4,4] = aten.mm(i, wt_b)  {layers.0.wk}
  ar: bf16[4,4] = _c10d_functional.all_reduce(j, 'sum', 'tp')  {layers.0}
  wr: bf16[4,4] = _c10d_functional.wait_tensor(ar)  {layers.0}
  ag_c: bf16[4,4] = _c10d_functional.all_gather_into_tensor(c, 2, 'dp')  {layers.1.wq}
  wt_c: bf16[4,4] = _c10d_functional.wait_tensor(ag_c)  {layers.1.wq}
  k: bf16[4,4] = aten.mm(wr, wt_c)  {layers.1.wq}
  ag_d: bf16[4,4] = _c10d_functional.all_gather_into_tensor(d, 2, 'dp')  {layers.1.wk}
  wt_d: bf16[4,4] = _c10d_functional.wait_tensor(ag_d)  {layers.1.wk}
  l: bf16[4,4] = aten.mm(k, wt_d)  {layers.1.wk}
  rs_c: bf16[2,4] = _c10d_functional.reduce_scatter_tensor(k, 'avg', 2, 'dp')  {layers.1.wq}
  wg_c: bf16[2,4] = _c10d_functional.wait_tensor(rs_c)  {layers.1.wq}
  rs_d: bf16[2,4] = _c10d_functional.reduce_scatter_tensor(l, 'avg', 2, 'dp')  {layers.1.wk}
  wg_d: bf16[2,4] = _c10d_functional.wait_tensor(rs_d)  {layers.1.wk}
  return [l, wg_c, wg_d]
)";

std::vector<std::string> starts(const Graph& graph, CollectiveKind kind) {
  std::vector<std::string> names;
  for (const NodeId id : graph.order())
    if (graph.is_collective_start(graph.node(id)) && graph.op(graph.node(id)).collective == kind)
      names.emplace_back(graph.name(id));
  return names;
}

// As torch 2.11 captured it.
Graph old_model() {
  Graph graph = parse(kModel);
  graph.part(PartId(0)).torch_version = "2.11.0";
  return graph;
}

TEST(BlockBucketing, OneBucketPerBlockKindAndGroup) {
  const StepResult step = run_pass(parse(kModel), "transformer_block_bucketing");
  const Graph& graph = *step.graph;
  // A single all-gather is a bucket, too, and the all-reduces of a block are merged.
  EXPECT_THAT(starts(graph, CollectiveKind::all_gather),
              ElementsAre("all_gather_into_tensor_out", "all_gather_into_tensor_out_1",
                          "all_gather_into_tensor_out_2"));
  EXPECT_EQ(starts(graph, CollectiveKind::reduce_scatter).size(), 1U);
  EXPECT_EQ(starts(graph, CollectiveKind::all_reduce).size(), 1U);
  EXPECT_THAT(reason_of(step, "ag_a", "merged"), HasSubstr("all_gather_into_tensor_out_1"));
  EXPECT_THAT(reason_of(step, "ag_e", "alone"), HasSubstr("tok_embeddings"));
  EXPECT_THAT(reason_of(step, "ar", "alone"), HasSubstr("layers.0"));
  // layers.0 starts before the first wait, layers.1 runs during layers.0.
  EXPECT_TRUE(is_before(graph, "all_gather_into_tensor_out_1", "wait_tensor"));
  EXPECT_TRUE(is_before(graph, "all_gather_into_tensor_out_2", "i"));
}

TEST(BlockBucketing, ReportsNoChangesAboveTheLimit) {
  for (const char* torch : {"2.11.0", "2.15.0"}) {
    SCOPED_TRACE(torch);
    Graph graph = parse(kTwoBlocks);
    graph.part(PartId(0)).torch_version = torch;
    PassContext::Options options = simple_costs();
    options.peak_limit = 1;
    const StepResult step = run_pass(graph, "transformer_block_bucketing", options);
    EXPECT_EQ(step.added + step.moved, 0U);
    EXPECT_THAT(reason_of(step, "", "kept"), HasSubstr("Left unchanged: the peak would grow"));
    EXPECT_FALSE(reports_changes(step));
  }
}

TEST(BlockBucketing, ReduceScattersAsAList) {
  const StepResult step =
      run_pass(parse(kModel), "transformer_block_bucketing{bucket_mode=coalesced}");
  const Graph& graph = *step.graph;
  ASSERT_THAT(starts(graph, CollectiveKind::reduce_scatter),
              ElementsAre("reduce_scatter_tensor_coalesced"));
  const Node& list = node(graph, "reduce_scatter_tensor_coalesced");
  EXPECT_EQ(graph.target(list), "_c10d_functional.reduce_scatter_tensor_coalesced.default");
  // Each member has its own wait, and nothing is concatenated for them.
  EXPECT_EQ(graph.tensors(graph.find("reduce_scatter_tensor_coalesced")).size(), 2U);
  std::size_t joined = 0;
  for (const NodeId id : graph.order())
    if (graph.target(graph.node(id)) == "aten.cat.default") ++joined;
  EXPECT_EQ(joined, 4U) << "three all-gathers, which have no list form, and the all-reduce";
}

TEST(BlockBucketing, BucketModesApplyToNewGraphs) {
  const auto run = run_pipeline(
      old_model(), parse_pipeline("transformer_block_bucketing{bucket_mode=coalesced}").value(),
      built_in_passes(), simple_costs());
  ASSERT_TRUE(run && run->error);
  EXPECT_THAT(run->error->message, HasSubstr("torch 2.13 or later"));
}

TEST(BlockBucketing, OneBucketPerBlockKindAndGroupInOlderTorch) {
  const StepResult step = run_pass(old_model(), "transformer_block_bucketing");
  const Graph& graph = *step.graph;
  EXPECT_THAT(starts(graph, CollectiveKind::all_gather),
              ElementsAre("ag_e", "all_gather_into_tensor", "all_gather_into_tensor_1"));
  EXPECT_EQ(starts(graph, CollectiveKind::reduce_scatter).size(), 1U);
  EXPECT_EQ(starts(graph, CollectiveKind::all_reduce).size(), 1U);
  EXPECT_THAT(reason_of(step, "ag_a", "merged"), HasSubstr("ag_b"));
  EXPECT_THAT(reason_of(step, "ag_e", "alone"), HasSubstr("tok_embeddings"));
  EXPECT_THAT(reason_of(step, "ar", "kept"), HasSubstr("Not FSDP's"));
}

TEST(BlockBucketing, SavedStartsAreKeptInOlderTorch) {
  Graph graph = parse(R"(
    kind forward
    group fsdp: 0 1
    p: f32[8] = parameter
    q: f32[8] = parameter
    a: f32[16] = _c10d_functional.all_gather_into_tensor(p, 2, 'fsdp')  {layers.0}
    b: f32[16] = _c10d_functional.all_gather_into_tensor(q, 2, 'fsdp')  {layers.0}
    va: f32[16] = _c10d_functional.wait_tensor(a)                       {layers.0}
    vb: f32[16] = _c10d_functional.wait_tensor(b)                       {layers.0}
    y: f32[16] = aten.add.Tensor(va, vb)                                {layers.0}
    return [y, a]
  )");
  graph.part(PartId(0)).torch_version = "2.11.0";
  const StepResult step = run_pass(std::move(graph), "transformer_block_bucketing");
  EXPECT_EQ(reason_of(step, "a", "kept"), "The output reads its start.");
}

TEST(BlockBucketing, GathersOneBlockAheadInOlderTorch) {
  const StepResult step = run_pass(old_model(), "transformer_block_bucketing");
  const Graph& graph = *step.graph;
  EXPECT_TRUE(
      is_before(graph, "all_gather_into_tensor", "wt_e"));         // layers.0 before the first wait
  EXPECT_TRUE(is_before(graph, "all_gather_into_tensor_1", "i"));  // layers.1 during layers.0
}

TEST(BlockBucketing, AcceptsAPlan) {
  const StepResult step =
      run_pass(parse(kModel),
               "transformer_block_bucketing{module_bucket_plans=[[tok_embeddings,layers.0]]}");
  EXPECT_EQ(starts(*step.graph, CollectiveKind::all_gather).size(), 3U);
  EXPECT_THAT(reason_of(step, "ag_c", "kept"), HasSubstr("not in the plan"));
}

TEST(BlockBucketing, RefusesPlansThatOverlap) {
  const auto run = run_pipeline(
      parse(kModel),
      parse_pipeline("transformer_block_bucketing{module_bucket_plans=[layers.0,layers.0.wq]}")
          .value(),
      built_in_passes(), simple_costs());
  ASSERT_TRUE(run && run->error);
  EXPECT_THAT(run->error->message, HasSubstr("layers.0.wq"));
}

TEST(BlockBucketing, RefusesPathsThatAreNotModules) {
  const auto run = run_pipeline(
      parse(kModel),
      parse_pipeline("transformer_block_bucketing{module_bucket_plans=[layer.0,layers.1]}").value(),
      built_in_passes(), simple_costs());
  ASSERT_TRUE(run && run->error);
  EXPECT_EQ(run->error->kind, Error::Kind::usage);
  EXPECT_THAT(
      run->error->message,
      HasSubstr("module_bucket_plans: expected a module in the graph, got `layer.0`; the graph has "
                "layers.0, "));
}

TEST(ModulePlan, IsDerivedFromTheModel) {
  const Graph graph = parse(kModel);
  const ModulePlan plan = derive_module_plan(ModuleTree(graph));
  EXPECT_THAT(plan, ElementsAre(ElementsAre("tok_embeddings"), ElementsAre("layers.0"),
                                ElementsAre("layers.1")));
}

TEST(GreedyBucketing, FillsUpToTheCap) {
  const Graph graph = parse(kModel);
  // Five all-gathers of 32 bytes each.
  const StepResult all = run_pass(graph, "greedy_bucketing_by_mb");
  EXPECT_EQ(starts(*all.graph, CollectiveKind::all_gather).size(), 1U);
  const StepResult two = run_pass(graph, "greedy_bucketing_by_mb{bucket_cap_mb=0.00007}");
  EXPECT_EQ(starts(*two.graph, CollectiveKind::all_gather).size(), 3U);
  const StepResult none = run_pass(graph, "greedy_bucketing_by_mb{all_gather=false}");
  EXPECT_EQ(starts(*none.graph, CollectiveKind::all_gather).size(), 5U);
  EXPECT_EQ(starts(*none.graph, CollectiveKind::reduce_scatter).size(), 1U);
}

TEST(GreedyBucketing, SaysWhyACollectiveStaysAlone) {
  // Each all-gather is larger than the cap, so the first one is also alone because of its size.
  const StepResult small = run_pass(parse(kModel), "greedy_bucketing_by_mb{bucket_cap_mb=0.00001}");
  EXPECT_THAT(reason_of(small, "ag_e", "apart"),
              HasSubstr("a bucket with ag_a would be too large"));
  const StepResult step = run_pass(parse(R"(
    group dp: 0 1
    group tp: 0 2
    a: bf16[2,4] = parameter
    ag_a: bf16[4,4] = _c10d_functional.all_gather_into_tensor(a, 2, 'dp')
    ag_b: bf16[4,4] = _c10d_functional.all_gather_into_tensor(a, 2, 'tp')
    ag_c: bf16[4,4] = _c10d_functional.all_gather_into_tensor(a, 2, 'dp')
    wt_a: bf16[4,4] = _c10d_functional.wait_tensor(ag_a)
    wt_b: bf16[4,4] = _c10d_functional.wait_tensor(ag_b)
    wt_c: bf16[4,4] = _c10d_functional.wait_tensor(ag_c)
    return [wt_a, wt_b, wt_c]
  )"),
                                   "greedy_bucketing_by_mb");
  EXPECT_THAT(reason_of(step, "ag_a", "apart"), HasSubstr("before and after it differ"));
  EXPECT_THAT(reason_of(step, "ag_b", "apart"), HasSubstr("no other collective of its kind"));
  EXPECT_THAT(reason_of(step, "ag_c", "apart"), HasSubstr("before and after it differ"));
}

TEST(Autobucketing, SaysThatAGroupGathersNoParameters) {
  const StepResult step =
      run_pass(parse(kModel),
               "autobucketing_reordering{torch_compatible=true,bucket_only_internode_comms=true,"
               "pre_bucketing_fsdp_collectives=false}");
  EXPECT_THAT(reason_of(step, "ar", "apart"), HasSubstr("its group gathers no parameters"));
}

TEST(ReassignToPg, KeepsAGroupWithoutAllGathers) {
  const StepResult step = run_pass(parse(kModel), "reassign_to_pg{group=tp}");
  EXPECT_EQ(step.changed, 0U);
  EXPECT_EQ(reason_of(step, "", "kept"), "Group tp has no all-gather.");
}

TEST(ReassignToPg, GathersInATwinGroup) {
  const StepResult step = run_pass(parse(kModel), "reassign_to_pg");
  const Graph& graph = *step.graph;
  const Node& gather = node(graph, "ag_a");
  const Node& scatter = node(graph, "rs_c");
  EXPECT_EQ(graph.text(graph.group(gather.group).name), "dp_all_gather");
  EXPECT_EQ(graph.group(gather.group).ranks, graph.group(scatter.group).ranks);
  EXPECT_EQ(graph.text(graph.group(scatter.group).name), "dp");
  EXPECT_THAT(reason_of(step, "ag_a", "reassigned"), HasSubstr("dp_all_gather"));
}

}  // namespace
}  // namespace jointer::test
