#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/passes/run_pass.h"
#include "tests/support/graphs.h"
#include "tests/support/names.h"
#include "tests/support/run_pass.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRemove = "remove_fsdp2_unsharded_param_graph_input_usage";

// A layer that is used twice: its parameter is filled, read and resized to zero, and again.
constexpr const char* kTwice = R"(
  whole: f32[4,4] = parameter
  y1: f32[4,4] = input
  y2: f32[4,4] = input
  full1: none = inductor.resize_storage_bytes_(whole, 64)
  copy1: none = fsdp.copy_(whole, y1)
  a: f32[4,4] = aten.mm(whole, whole)
  empty1: none = inductor.resize_storage_bytes_(whole, 0)
  full2: none = inductor.resize_storage_bytes_(whole, 64)
  copy2: none = fsdp.copy_(whole, y2)
  c: f32[8,4] = aten.cat([whole, a], 0)
  t: f32[4,4] = aten.t(whole)
  b: f32[4,4] = aten.mm(a, t)
  empty2: none = inductor.resize_storage_bytes_(whole, 0)
  return [b, c]
)";

TEST(RemoveFsdp2UnshardedParam, ReadsTheGatheredParameter) {
  const StepResult step = run_pipeline_text(parse(kTwice), kRemove).at(0);
  const Graph& after = *step.graph;
  EXPECT_THAT(calls_of(after), ElementsAre("a", "c", "t", "b"));
  EXPECT_THAT(after.inputs(after.find("a")), ElementsAre(after.find("y1")));
  EXPECT_THAT(after.inputs(after.find("c")), ElementsAre(after.find("y2"), after.find("a")))
      << "including arguments in lists";
  EXPECT_EQ(storage_of(after, "t"), storage_of(after, "y2"));
}

TEST(RemoveFsdp2UnshardedParam, KeepsAParameterThatIsResizedElsewhere) {
  const Graph graph = parse(R"(
    whole: f32[4,4] = parameter
    y: f32[4,4] = input
    full: none = inductor.resize_storage_bytes_(whole, 64)
    copy: none = fsdp.copy_(whole, y)
    a: f32[4,4] = aten.mm(whole, whole)
    return [a]
  )");
  const StepResult step = run_pipeline_text(graph, kRemove).at(0);
  EXPECT_THAT(calls_of(*step.graph), ElementsAre("full", "copy", "a"));
  EXPECT_THAT(reason_of(step, "whole"), HasSubstr("each resize to empty"));
}

TEST(RemoveFsdp2UnshardedParam, KeepsAViewThatIsReadAfterTheNextCopy) {
  const Graph graph = parse(R"(
    whole: f32[4,4] = parameter
    y1: f32[4,4] = input
    y2: f32[4,4] = input
    copy1: none = fsdp.copy_(whole, y1)
    t: f32[4,4] = aten.t(whole)
    copy2: none = fsdp.copy_(whole, y2)
    a: f32[4,4] = aten.relu(t)
    return [a]
  )");
  const StepResult step = run_pipeline_text(graph, kRemove).at(0);
  EXPECT_THAT(calls_of(*step.graph), ElementsAre("copy1", "t", "copy2", "a"));
  EXPECT_THAT(reason_of(step, "whole"), HasSubstr("after the next copy"));
}

TEST(RemoveFsdp2UnshardedParam, RefusesOtherWritesAndOtherTargets) {
  EXPECT_THAT(refusal(parse(R"(
    whole: f32[4,4] = parameter
    y: f32[4,4] = input
    copy: none = fsdp.copy_(whole, y)
    w: f32[4,4] = aten.add_.Tensor(whole, 1)
    return [w]
  )"),
                      kRemove),
              testing::AllOf(HasSubstr("w (aten.add_"), HasSubstr("writes to")));
  EXPECT_THAT(refusal(parse(R"(
    x: f32[4,4] = input
    y: f32[4,4] = aten.relu(x)
    copy: none = fsdp.copy_(y, x)
    return [x]
  )"),
                      kRemove),
              HasSubstr("does not write to an input of the graph"));
}

constexpr const char* kGather = R"(
  group fsdp: 0 1
  w: f32[4] = parameter
  buffer: f32[8] = input
  in: (f32[4], f32[8]) = fsdp.all_gather_copy_in([w], buffer, [4], 4, 0)
  shard: f32[4] = in[0]
  g: f32[8] = _c10d_functional.all_gather_into_tensor(shard, 2, 'fsdp')
  wt: f32[8] = _c10d_functional.wait_tensor(g)
  y: f32[8] = aten.relu(wt)
  return [y]
)";

TEST(ReinplaceFsdpAllGather, WritesIntoTheBufferOfTheCopyIn) {
  const StepResult step = run_pipeline_text(parse(kGather), "reinplace_fsdp_all_gather").at(0);
  const Graph& after = *step.graph;
  EXPECT_THAT(calls_of(after), ElementsAre("in", "shard", "getitem", "g", "wt", "y"));
  EXPECT_EQ(after.target(node(after, "g")), "_c10d_functional.all_gather_into_tensor_out.default");
  const Argument* out = after.argument(node(after, "g"), "out");
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(out->node(), after.find("getitem"));
  EXPECT_EQ(storage_of(after, "wt"), storage_of(after, "getitem"));
  EXPECT_LE(step.after.figures.peak_bytes, step.before.figures.peak_bytes);
}

TEST(ReinplaceFsdpAllGather, UsesThePartInTheGraphAndRemovesOthers) {
  const Graph graph = parse(R"(
    group fsdp: 0 1
    w: f32[4] = parameter
    buffer: f32[8] = input
    in: (f32[4], f32[8]) = fsdp.all_gather_copy_in([w], buffer, [4], 4, 0)
    shard: f32[4] = in[0]
    g: f32[8] = _c10d_functional.all_gather_into_tensor(shard, 2, 'fsdp')
    whole: f32[8] = in[1]
    spare: f32[8] = in[1]
    wt: f32[8] = _c10d_functional.wait_tensor(g)
    return [wt]
  )");
  const StepResult step = run_pipeline_text(graph, "reinplace_fsdp_all_gather").at(0);
  EXPECT_EQ(step.removed, 1U);
  EXPECT_EQ(step.added, 0U);
  EXPECT_THAT(calls_of(*step.graph), testing::Contains("g"));
}

TEST(ReinplaceFsdpAllGather, KeepsABufferThatIsRead) {
  const Graph graph = parse(R"(
    group fsdp: 0 1
    w: f32[4] = parameter
    buffer: f32[8] = input
    in: (f32[4], f32[8]) = fsdp.all_gather_copy_in([w], buffer, [4], 4, 0)
    shard: f32[4] = in[0]
    whole: f32[8] = in[1]
    g: f32[8] = _c10d_functional.all_gather_into_tensor(shard, 2, 'fsdp')
    wt: f32[8] = _c10d_functional.wait_tensor(g)
    y: f32[8] = aten.relu(whole)
    return [wt, y]
  )");
  const StepResult step = run_pipeline_text(graph, "reinplace_fsdp_all_gather").at(0);
  EXPECT_EQ(step.changed + step.added + step.removed, 0U);
  EXPECT_THAT(reason_of(step, "g"), HasSubstr("something else reads"));
}

TEST(FsdpReshardAfterFwd, TagsGatheredParameters) {
  const Graph graph = parse(R"(
    group fsdp: 0 1
    w: f32[4,8] = parameter
    g: f32[8,8] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
    wt: f32[8,8] = _c10d_functional.wait_tensor(g)
    y: f32[8,8] = aten.mm(wt, wt)
    return [y]
  )");
  const StepResult again = run_pipeline_text(graph, "fsdp_reshard_after_fwd").at(0);
  EXPECT_EQ(node(*again.graph, "wt").policy, MemoryPolicy::must_recompute);
  EXPECT_EQ(again.retagged, 2U);
  EXPECT_THAT(reason_of(again, "g"), HasSubstr("gathered again"));
  const StepResult kept = run_pipeline_text(graph, "fsdp_reshard_after_fwd{reshard=false}").at(0);
  EXPECT_EQ(node(*kept.graph, "wt").policy, MemoryPolicy::must_save);
}

TEST(FsdpReshardAfterFwd, ReportsExistingTagsOrThatThereIsNothingToTag) {
  const Graph joint = parse(R"(
    group fsdp: 0 1
    s: f32[4,8] = parameter
    ag: f32[8,8] = _c10d_functional.all_gather_into_tensor(s, 2, 'fsdp')
    w: f32[8,8] = _c10d_functional.wait_tensor(ag)
    y: f32[8,8] = aten.relu(w)
    return [y, None]
  )");
  const StepResult first = run_pipeline_text(joint, "fsdp_reshard_after_fwd").at(0);
  EXPECT_EQ(first.retagged, 2U);
  const StepResult again = run_pipeline_text(*first.graph, "fsdp_reshard_after_fwd").at(0);
  ASSERT_EQ(again.decisions.size(), 1U);
  EXPECT_EQ(again.decisions.front().reason, "The gathers of 1 parameter are already tagged.");
  const StepResult none =
      run_pipeline_text(parse("x: f32[4] = input\nreturn [x]"), "fsdp_reshard_after_fwd").at(0);
  ASSERT_EQ(none.decisions.size(), 1U);
  EXPECT_EQ(none.decisions.front().reason, "No all-gather matches FSDP's pattern for parameters.");
}

constexpr const char* kSums = R"(
  group dp: 0 1
  x: f32[8,4] = input
  y: f32[8,4] = input
  z: f32[8,4] = input
  rx: f32[4,4] = _c10d_functional.reduce_scatter_tensor(x, 'avg', 2, 'dp')
  wx: f32[4,4] = _c10d_functional.wait_tensor(rx)
  ry: f32[4,4] = _c10d_functional.reduce_scatter_tensor(y, 'avg', 2, 'dp')
  wy: f32[4,4] = _c10d_functional.wait_tensor(ry)
  rz: f32[4,4] = _c10d_functional.reduce_scatter_tensor(z, 'avg', 2, 'dp')
  wz: f32[4,4] = _c10d_functional.wait_tensor(rz)
  xy: f32[4,4] = aten.add.Tensor(wx, wy)
  xyz: f32[4,4] = aten.add.Tensor(xy, wz)
  return [xyz]
)";

TEST(DedupFsdpReduceScatter, SumsBeforeReducingLevelByLevel) {
  const StepResult step = run_pipeline_text(parse(kSums), "dedup_fsdp_reduce_scatter").at(0);
  const Graph& after = *step.graph;
  ASSERT_THAT(calls_of(after), testing::SizeIs(4));
  const Node& wait = node(after, "xyz");
  EXPECT_EQ(after.target(wait), "_c10d_functional.wait_tensor.default");
  const NodeId reduced = after.inputs(after.find("xyz")).front();
  EXPECT_EQ(after.op(after.node(reduced)).collective, CollectiveKind::reduce_scatter);
  const NodeId sum = after.inputs(reduced).front();
  EXPECT_EQ(after.inputs(sum).back(), after.find("z"));
  EXPECT_THAT(after.inputs(after.inputs(sum).front()),
              ElementsAre(after.find("x"), after.find("y")));
  EXPECT_EQ(after.shape(*after.single_tensor(after.node(sum)))[0].value, 8);
}

TEST(DedupFsdpReduceScatter, KeepsGradientsThatAreReadOrReducedDifferently) {
  const std::string text = kSums;
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string changed = text;
    for (std::size_t at = 0; (at = changed.find(from, at)) != std::string::npos; at += to.size())
      changed.replace(at, from.size(), to);
    return changed;
  };
  for (const std::string& changed :
       {with("'avg'", "'max'"), with("return [xyz]", "return [xyz, wx, wz]"),
        with("add.Tensor(wx, wy)", "mul.Tensor(wx, wy)")}) {
    const Graph graph = parse(changed);
    const StepResult step = run_pipeline_text(graph, "dedup_fsdp_reduce_scatter").at(0);
    EXPECT_EQ(calls_of(*step.graph), calls_of(graph)) << changed;
  }
}

}  // namespace
}  // namespace jointer::test
