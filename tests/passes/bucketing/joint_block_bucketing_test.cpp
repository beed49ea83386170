#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/dependencies.h"
#include "core/graph/module_tree.h"
#include "passes/bucketing/bucket_levels.h"
#include "passes/bucketing/fx_program.h"
#include "passes/bucketing/module_plan.h"
#include "tests/passes/run_pass.h"
#include "tests/passes/two_blocks.h"
#include "tests/support/graphs.h"
#include "tests/support/names.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Property;
using ::testing::Throws;

constexpr const char* kPass = "joint_transformer_block_bucketing_reordering";

// Two blocks of two parameters each, gathered again in the backward.
constexpr std::string_view kStep = R"(
  kind train_step
  group dp: 0 1
  a: f32[2,4] = parameter
  b: f32[2,4] = parameter
  c: f32[2,4] = parameter
  d: f32[2,4] = parameter
  x: bf16[4,4] = input
  cast_a: bf16[2,4] = aten._to_copy(a, dtype=bf16)  {layers.0.wq}
  ag_a: bf16[4,4] = _c10d_functional.all_gather_into_tensor(cast_a, 2, 'dp')  {layers.0.wq}
  wt_a: bf16[4,4] = _c10d_functional.wait_tensor(ag_a)  {layers.0.wq}
  i: bf16[4,4] = aten.mm(x, wt_a)  {layers.0.wq}
  cast_b: bf16[2,4] = aten._to_copy(b, dtype=bf16)  {layers.0.wk}
  ag_b: bf16[4,4] = _c10d_functional.all_gather_into_tensor(cast_b, 2, 'dp')  {layers.0.wk}
  wt_b: bf16[4,4] = _c10d_functional.wait_tensor(ag_b)  {layers.0.wk}
  j: bf16[4,4] = aten.mm(i, wt_b)  {layers.0.wk}
  cast_c: bf16[2,4] = aten._to_copy(c, dtype=bf16)  {layers.1.wq}
  ag_c: bf16[4,4] = _c10d_functional.all_gather_into_tensor(cast_c, 2, 'dp')  {layers.1.wq}
  wt_c: bf16[4,4] = _c10d_functional.wait_tensor(ag_c)  {layers.1.wq}
  k: bf16[4,4] = aten.mm(j, wt_c)  {layers.1.wq}
  ag_c2: bf16[4,4] = _c10d_functional.all_gather_into_tensor(cast_c, 2, 'dp')  {layers.1.wq backward}
  wt_c2: bf16[4,4] = _c10d_functional.wait_tensor(ag_c2)  {layers.1.wq backward}
  g_j: bf16[4,4] = aten.mm(k, wt_c2)  {layers.1.wq backward}
  g_c: bf16[4,4] = aten.mm(j, k)  {layers.1.wq backward}
  rs_c: bf16[2,4] = _c10d_functional.reduce_scatter_tensor(g_c, 'avg', 2, 'dp')  {layers.1.wq backward}
  out_c: bf16[2,4] = _c10d_functional.wait_tensor(rs_c)  {layers.1.wq backward}
  g_b: bf16[4,4] = aten.mm(i, g_j)  {layers.0.wk backward}
  rs_b: bf16[2,4] = _c10d_functional.reduce_scatter_tensor(g_b, 'avg', 2, 'dp')  {layers.0.wk backward}
  out_b: bf16[2,4] = _c10d_functional.wait_tensor(rs_b)  {layers.0.wk backward}
  g_a: bf16[4,4] = aten.mm(x, g_j)  {layers.0.wq backward}
  rs_a: bf16[2,4] = _c10d_functional.reduce_scatter_tensor(g_a, 'avg', 2, 'dp')  {layers.0.wq backward}
  out_a: bf16[2,4] = _c10d_functional.wait_tensor(rs_a)  {layers.0.wq backward}
  return [k, out_a, out_b, out_c]
)";

std::vector<std::string> calls_of(const Graph& graph, std::string_view target) {
  std::vector<std::string> names;
  for (const NodeId id : graph.order())
    if (graph.node(id).kind == NodeKind::call && graph.target(graph.node(id)) == target)
      names.emplace_back(graph.name(id));
  return names;
}

std::vector<std::string> read_by(const Graph& graph, std::string_view name) {
  std::vector<std::string> names;
  for (const NodeId id : graph.inputs(graph.find(name))) names.emplace_back(graph.name(id));
  return names;
}

TEST(JointBlockBucketing, PacksAndCastsTheParametersOfABlock) {
  const StepResult step = run_pass(parse(kStep), kPass);
  const Graph& graph = *step.graph;
  EXPECT_THAT(calls_of(graph, "bucketing._pre_bucket_all_gather.default"),
              ElementsAre("_pre_bucket_all_gather", "_pre_bucket_all_gather_1",
                          "_pre_bucket_all_gather_2"));
  EXPECT_THAT(read_by(graph, "_pre_bucket_all_gather"), ElementsAre("a", "b"));
  EXPECT_FALSE(graph.find("cast_a"));  // its only reader is now in the bucket
  EXPECT_TRUE(graph.find("cast_c"));   // two collectives read it
  EXPECT_THAT(reason_of(step, "ag_a", "merged"), HasSubstr("all_gather_into_tensor_out"));
  EXPECT_THAT(reason_of(step, "ag_c", "alone"), HasSubstr("layers.1"));
}

TEST(JointBlockBucketing, PacksAsTheTorchOfTheCaptureDoes) {
  struct Case {
    const char* torch;
    std::int64_t bfloat16;  // its index among torch's dtypes
    std::size_t arguments;
  };
  for (const Case& each : {Case{"2.11.0", 0, 6}, Case{"2.12.1", 0, 6}, Case{"2.13.0", 0, 5},
                           Case{"2.14.0", 1, 5}, Case{"2.15.0", 1, 5}}) {
    SCOPED_TRACE(each.torch);
    Graph step = parse(kStep);
    step.part(PartId(0)).torch_version = each.torch;
    const StepResult result = run_pass(step, kPass);
    const Graph& graph = *result.graph;
    const auto args = graph.args(graph.node(graph.find("_pre_bucket_all_gather")));
    ASSERT_EQ(args.size(), each.arguments);
    const auto dtypes = graph.children(args[args.size() - 2]);
    ASSERT_EQ(dtypes.size(), 2U);
    EXPECT_EQ(dtypes[0].integer, each.bfloat16);
    EXPECT_EQ(dtypes[1].integer, each.bfloat16);
  }
}

TEST(JointBlockBucketing, ForwardAndBackwardDoNotShareABucket) {
  const Graph graph = *run_pass(parse(kStep), kPass).graph;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (graph.text(n.extra).find("fsdp_bucket") == std::string_view::npos) continue;
    EXPECT_EQ(n.has(Node::autograd_backward),
              graph.text(n.extra).find("bwd") != std::string_view::npos)
        << graph.name(id);
  }
  EXPECT_THAT(read_by(graph, "_pre_bucket_reduce_scatter"), ElementsAre("g_a", "g_b"));
}

TEST(JointBlockBucketing, RunsDuringThePreviousBlock) {
  const StepResult step = run_pass(parse(kStep), kPass);
  const Graph& graph = *step.graph;
  // The second block is gathered while the first one computes.
  EXPECT_TRUE(is_before(graph, "all_gather_into_tensor_out_1", "i"));
  // Gradients of the second block are reduced while those of the first one are computed.
  const auto starts = calls_of(graph, "_c10d_functional.reduce_scatter_tensor.default");
  ASSERT_EQ(starts.size(), 2U);
  const NodeId first = graph.find(starts[0]);
  for (const NodeId id : graph.order())
    if (graph.is_wait(graph.node(id)) && graph.inputs(id).front() == first) {
      EXPECT_TRUE(is_before(graph, starts[1], graph.name(id)));
    }
  EXPECT_THAT(reason_of(step, "all_gather_into_tensor_out_1", "prefetched"), HasSubstr("before"));
}

TEST(JointBlockBucketing, ReportsNoChangesAboveTheLimit) {
  PassContext::Options options = simple_costs();
  options.peak_limit = 1;
  const StepResult step = run_pass(parse(kTwoBlocks), kPass, options);
  EXPECT_EQ(step.added + step.moved, 0U);
  EXPECT_THAT(reason_of(step, "", "kept"), HasSubstr("Left unchanged: the peak would grow"));
  EXPECT_FALSE(reports_changes(step));
}

TEST(JointBlockBucketing, FollowsTheOrderOfParameters) {
  const Graph graph = *run_pass(parse(kStep), std::string(kPass) +
                                                  "{fsdp_param_module_order=[layers.0.wk,"
                                                  "layers.0.wq]}")
                           .graph;
  EXPECT_THAT(read_by(graph, "_pre_bucket_all_gather"), ElementsAre("b", "a"));
}

TEST(JointBlockBucketing, RefusesAnOrderOfUnknownModules) {
  EXPECT_THAT(
      [] {
        run_pass(parse(kStep), std::string(kPass) + "{fsdp_param_module_order=[layers.0.wx]}");
      },
      Throws<std::runtime_error>(
          Property(&std::runtime_error::what,
                   HasSubstr("fsdp_param_module_order: expected a module in the graph, got "
                             "`layers.0.wx`; the graph has layers.0.w"))));
}

TEST(JointBlockBucketing, LeavesWrittenValues) {
  const StepResult step = run_pass(parse(R"(
    kind train_step
    group dp: 0 1
    a: bf16[2,4] = parameter
    ag_a: bf16[4,4] = _c10d_functional.all_gather_into_tensor(a, 2, 'dp')  {layers.0}
    wt_a: bf16[4,4] = _c10d_functional.wait_tensor(ag_a)  {layers.0}
    add: bf16[4,4] = aten.add_.Tensor(wt_a, 1)  {layers.0}
    return [add]
  )"),
                                   kPass);
  EXPECT_THAT(reason_of(step, "ag_a", "kept"), HasSubstr("writes"));
  EXPECT_TRUE(step.graph->find("ag_a"));
}

TEST(JointBlockBucketing, ExplainsWhyNothingChanges) {
  const StepResult step = run_pass(parse(R"(
    x: f32[4] = input
    y: f32[4] = aten.relu(x)  {layers.0}
    return [y]
  )"),
                                   kPass);
  EXPECT_THAT(reason_of(step, "", "kept"), HasSubstr("FSDP"));
}

TEST(JointModulePlan, SeparatesShardedRoutedExperts) {
  const Graph graph = parse(R"(
    group dp: 0 1
    a: bf16[2,4] = parameter
    x: bf16[4,4] = input
    e: bf16[4,4] = aten.relu(x)  {tok_embeddings}
    r: bf16[4,4] = aten.relu(e)  {layers.0.attention}
    ag: bf16[4,4] = _c10d_functional.all_gather_into_tensor(a, 2, 'dp')  {layers.1.moe.routed_experts.inner_experts}
    wt: bf16[4,4] = _c10d_functional.wait_tensor(ag)  {layers.1.moe.routed_experts.inner_experts}
    s: bf16[4,4] = aten.mm(r, wt)  {lm_head}
    t: bf16[4,4] = aten.relu(s)  {norm}
    u: bf16[4,4] = aten.relu(t)  {loss}
    return [u]
  )");
  EXPECT_THAT(
      derive_joint_module_plan(graph, ModuleTree(graph)),
      ElementsAre(ElementsAre("tok_embeddings"), ElementsAre("layers.0"),
                  ElementsAre("layers.1.attention_norm", "layers.1.attention", "layers.1.ffn_norm",
                              "layers.1.moe.router", "layers.1.moe.shared_experts"),
                  ElementsAre("layers.1.moe.routed_experts.inner_experts"),
                  ElementsAre("norm", "lm_head")));
}

// Three all-reduces, of which the last two need the first.
constexpr std::string_view kChain = R"(
  group tp: 0 1
  x: f32[4] = input
  ar1: f32[4] = _c10d_functional.all_reduce(x, 'sum', 'tp')
  wt1: f32[4] = _c10d_functional.wait_tensor(ar1)
  y: f32[4] = aten.relu(wt1)
  ar2: f32[4] = _c10d_functional.all_reduce(y, 'sum', 'tp')
  wt2: f32[4] = _c10d_functional.wait_tensor(ar2)
  ar3: f32[4] = _c10d_functional.all_reduce(y, 'sum', 'tp')
  wt3: f32[4] = _c10d_functional.wait_tensor(ar3)
  return [wt2, wt3]
)";

TEST(BucketLevels, MembersOfALevelAreIndependent) {
  const Graph graph = parse(kChain);
  std::vector<WaitedCollective> all;
  for (const char* number : {"1", "2", "3"})
    all.push_back({graph.find(std::string("ar") + number), graph.find(std::string("wt") + number)});
  BucketLevels levels(graph, PartId(0), all);
  const std::vector<std::uint32_t> every{0, 1, 2};
  EXPECT_THAT(levels.split(every), ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
}

TEST(BucketLevels, ADependentOfOneMemberDependsOnAll) {
  const Graph graph = parse(R"(
    group tp: 0 1
    x: f32[4] = input
    ar1: f32[4] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    wt1: f32[4] = _c10d_functional.wait_tensor(ar1)
    y: f32[4] = aten.relu(wt1)
    ar2: f32[4] = _c10d_functional.all_reduce(y, 'max', 'tp')
    wt2: f32[4] = _c10d_functional.wait_tensor(ar2)
    ar3: f32[4] = _c10d_functional.all_reduce(x, 'max', 'tp')
    wt3: f32[4] = _c10d_functional.wait_tensor(ar3)
    z: f32[4] = aten.relu(wt3)
    ar4: f32[4] = _c10d_functional.all_reduce(z, 'sum', 'tp')
    wt4: f32[4] = _c10d_functional.wait_tensor(ar4)
    return [wt2, wt4]
  )");
  std::vector<WaitedCollective> all;
  for (const char* number : {"1", "2", "3", "4"})
    all.push_back({graph.find(std::string("ar") + number), graph.find(std::string("wt") + number)});
  BucketLevels levels(graph, PartId(0), all);
  // 1 and 4 are independent until 2, which needs 1, and 3, which 4 needs, are merged.
  EXPECT_THAT(levels.split(std::vector<std::uint32_t>{0, 3}), ElementsAre(ElementsAre(0, 3)));
  levels.merge(std::vector<std::uint32_t>{1, 2});
  EXPECT_THAT(levels.split(std::vector<std::uint32_t>{0, 3}),
              ElementsAre(ElementsAre(0), ElementsAre(3)));
}

TEST(FxProgram, SortsCallsAfterTheirInputs) {
  Graph graph = parse(R"(
    x: f32[4] = input
    a: f32[4] = aten.relu(x)
    b: f32[4] = aten.relu(a)
    c: f32[4] = aten.relu(b)
    d: f32[4] = aten.relu(x)
    return [c, d]
  )");
  FxProgram program(graph, PartId(0));
  program.move_before(graph.find("c"), graph.find("a"));
  ASSERT_TRUE(program.sort_if_needed(std::vector{graph.find("c")}));
  program.apply();
  std::vector<std::string> names;
  for (const NodeId id : graph.order()) names.emplace_back(graph.name(id));
  names.pop_back();
  EXPECT_THAT(names, ElementsAre("x", "a", "b", "c", "d"));
  EXPECT_THAT(program.users(graph.find("c")), testing::SizeIs(1));
  EXPECT_THAT(program.users(graph.find("x")), testing::Not(IsEmpty()));
}

TEST(ReassignCollectivePgs, ReassignsEveryGroupThatGathers) {
  const Graph graph = parse(R"(
    group dp: 0 1
    a: bf16[2,4] = parameter
    ag: bf16[4,4] = _c10d_functional.all_gather_into_tensor(a, 2, 'dp')
    wt: bf16[4,4] = _c10d_functional.wait_tensor(ag)
    return [wt]
  )");
  const StepResult step = run_pass(graph, "reassign_collective_pgs");
  EXPECT_EQ(step.graph->text(step.graph->group(node(*step.graph, "ag").group).name),
            "dp_fsdp_extra");
  EXPECT_EQ(run_pass(*step.graph, "reassign_collective_pgs").moved, 0U);
  EXPECT_THAT(reason_of(run_pass(graph, "reassign_to_pg"), "", "kept"), HasSubstr("reduces"));
}

}  // namespace
}  // namespace jointer::test
