#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/capture/native_writer.h"
#include "core/graph/validate.h"
#include "tests/passes/run_pass.h"
#include "tests/support/graphs.h"
#include "tests/support/names.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A stage with one layer: its parameter is gathered and its gradient reduced; `grad_x` goes to the
// previous stage.
constexpr std::string_view kStage = R"(
  group dp: 0 1
  w: f32[2,4] = parameter
  b: f32[4] = parameter
  x: f32[4,4] = input
  dy: f32[4,4] = tangent
  ag: f32[4,4] = _c10d_functional.all_gather_into_tensor(w, 2, 'dp')
  wt: f32[4,4] = _c10d_functional.wait_tensor(ag)
  t: f32[4,4] = aten.t(wt)
  mm: f32[4,4] = aten.mm(x, t)
  y: f32[4,4] = aten.add.Tensor(mm, b)
  gx: f32[4,4] = aten.mm(dy, wt)  {backward}
  tx: f32[4,4] = aten.t(x)  {backward}
  gw: f32[4,4] = aten.mm(tx, dy)  {backward}
  rs: f32[2,4] = _c10d_functional.reduce_scatter_tensor(gw, 'sum', 2, 'dp')  {backward}
  wr: f32[2,4] = _c10d_functional.wait_tensor(rs)  {backward}
  gb: f32[4] = aten.sum.dim_IntList(dy, [0])  {backward}
  return [y, wr, gb, gx]
)";

std::vector<std::string> outputs(const Graph& graph, PartId part) {
  std::vector<std::string> found;
  for (const OutputEntry& each : graph.part(part).outputs)
    found.emplace_back(each.node ? graph.name(each.node) : std::string_view("None"));
  return found;
}

constexpr PartId kFirst{0}, kSecond{1};

Graph partitioned(std::string_view text = kStage) {
  return *run_pass(parse(text), "partition_joint_graph{forward_outputs=1}").graph;
}

TEST(PartitionJointGraph, SavesWhatTheBackwardReads) {
  const StepResult step = run_pass(parse(kStage), "partition_joint_graph{forward_outputs=1}");
  const Graph& pair = *step.graph;
  ASSERT_TRUE(pair.is_pair());
  EXPECT_THAT(names_of_part(pair, kFirst, NodeKind::placeholder), ElementsAre("w", "b", "x"));
  EXPECT_THAT(outputs(pair, kFirst), ElementsAre("y", "x", "wt"));
  EXPECT_THAT(names_of_part(pair, kSecond, NodeKind::placeholder), ElementsAre("x", "wt", "dy"));
  EXPECT_THAT(names_of_part(pair, kSecond, NodeKind::call),
              ElementsAre("gx", "tx", "gw", "rs", "wr", "gb"));
  EXPECT_THAT(outputs(pair, kSecond), ElementsAre("wr", "gb", "gx"));
  EXPECT_THAT(reason_of(step, "wt", "saved"), HasSubstr("gx in the backward reads it"));
}

TEST(PartitionJointGraph, KeepsWritesOfTheForward) {
  const Graph pair = *run_pass(parse(R"(
      x: f32[4] = input
      count: f32[4] = buffer
      dy: f32[4] = tangent
      made: f32[4] = aten.sin(x)
      add: f32[4] = aten.add_.Tensor(count, x)
      fill: f32[4] = aten.copy_(made, x)
      y: f32[4] = aten.exp(x)
      g: f32[4] = aten.mul.Tensor(dy, made)  {backward}
      return [y, g]
    )"),
                               "partition_joint_graph{forward_outputs=1}")
                          .graph;
  EXPECT_THAT(outputs(pair, kFirst), ElementsAre("y", "x", "made", "add", "fill"));
  EXPECT_THAT(names_of_part(pair, kSecond, NodeKind::placeholder), ElementsAre("x", "made", "dy"));
}

TEST(PartitionJointGraph, SavesElementsInsteadOfATuple) {
  const Graph pair = *run_pass(parse(R"(
      x: f32[4,4] = input
      dy: f32[2,4] = tangent
      s: (f32[2,4], f32[2,4]) = aten.split.Tensor(x, 2)
      a: f32[2,4] = s[0]
      b: f32[2,4] = s[1]
      y: f32[2,4] = aten.exp(a)
      g: f32[2,4] = aten.mul.Tensor(dy, b)  {backward}
      return [y, g]
    )"),
                               "partition_joint_graph{forward_outputs=1}")
                          .graph;
  EXPECT_THAT(outputs(pair, kFirst), ElementsAre("y", "b"));
}

TEST(PartitionJointGraph, RefusesAForwardThatNeedsTheBackward) {
  EXPECT_THAT(refusal(parse(kStage),
                      "partition_joint_graph{forward_outputs=1,"
                      "backward_inputs=[\"x\"]}"),
              HasSubstr("the forward depends on x"));
  EXPECT_THAT(refusal(parse(kStage), "partition_joint_graph{forward_outputs=9}"),
              HasSubstr("expected an integer from 1 to 4, the number of outputs"));
  EXPECT_THAT(refusal(parse(kStage),
                      "partition_joint_graph{forward_outputs=1,"
                      "backward_inputs=[\"mm\"]}"),
              HasSubstr("expected a placeholder in the graph, got `mm`; the graph has "));
  EXPECT_THAT(refusal(partitioned(), "partition_joint_graph"),
              HasSubstr("needs an unpartitioned graph"));
}

TEST(SplitDiDwGraph, InputsComeFirstAndParametersUseTheirResults) {
  const Graph pair = partitioned();
  const Graph di = *run_pass(pair, "split_di_dw_graph{parameter_gradients=2}").graph;
  EXPECT_THAT(names_of_part(di, kFirst, NodeKind::placeholder), ElementsAre("x", "wt", "dy"));
  EXPECT_EQ(outputs(di, kFirst).front(), "gx");
  const StepResult step =
      run_pass(pair, "split_di_dw_graph{keep=\"backward_weight\",parameter_gradients=2}");
  const Graph& dw = *step.graph;
  EXPECT_THAT(outputs(dw, kFirst), ElementsAre("wr", "gb"));
  // The results of dI that follow its gradients are the inputs of dW.
  auto handed_on = outputs(di, kFirst);
  handed_on.erase(handed_on.begin());
  EXPECT_EQ(names_of_part(dw, kFirst, NodeKind::placeholder), handed_on);
  EXPECT_TRUE(validate(dw) && validate(di));
}

TEST(SplitDiDwGraph, TangentsAreNamedRuntimeGradients) {
  std::string text(kStage);
  for (auto at = text.find("dy"); at != std::string::npos; at = text.find("dy", at + 9))
    text.replace(at, 2, "tangents_1");
  const Graph di = *run_pass(partitioned(text), "split_di_dw_graph{parameter_gradients=2}").graph;
  EXPECT_TRUE(di.find("graph_pp_runtime_grads_1"));
  EXPECT_FALSE(di.find("tangents_1"));
}

TEST(SplitDiDwGraph, KeepsABackwardWithoutGradientsOfInputs) {
  const Graph pair = partitioned();
  const StepResult step = run_pass(pair, "split_di_dw_graph{parameter_gradients=3}");
  EXPECT_EQ(write_native(*step.graph), write_native(pair));
  EXPECT_THAT(refusal(pair, "split_di_dw_graph{parameter_gradients=4}"),
              HasSubstr("the backward has only 3 outputs"));
  EXPECT_THAT(refusal(parse(kStage), "split_di_dw_graph"), HasSubstr("has no backward"));
}

TEST(SplitForwardFsdpCollectives, UnshardGathers) {
  const Graph pair = partitioned();
  const StepResult step =
      run_pass(pair, "split_forward_fsdp_collectives{keep=\"unshard\",parameters=2}");
  EXPECT_THAT(names_of_part(*step.graph, kFirst, NodeKind::placeholder), ElementsAre("w", "b"));
  EXPECT_THAT(names_of_part(*step.graph, kFirst, NodeKind::call), ElementsAre("ag", "wt"));
  EXPECT_THAT(outputs(*step.graph, kFirst), ElementsAre("wt", "b"));
  EXPECT_THAT(reason_of(step, "w", "unsharded"), HasSubstr("returns wt"));
  const Graph forward = *run_pass(pair, "split_forward_fsdp_collectives{parameters=2}").graph;
  EXPECT_THAT(names_of_part(forward, kFirst, NodeKind::placeholder), ElementsAre("wt", "b", "x"));
  EXPECT_THAT(names_of_part(forward, kFirst, NodeKind::call), ElementsAre("t", "mm", "y"));
  EXPECT_THAT(outputs(forward, kFirst), ElementsAre("y", "x", "wt"));
}

TEST(SplitForwardFsdpCollectives, RefusesAGatherThatOtherNodesRead) {
  const Graph graph = parse(R"(
    kind forward
    group dp: 0 1
    w: f32[2,4] = parameter
    x: f32[4,4] = input
    ag: f32[4,4] = _c10d_functional.all_gather_into_tensor(w, 2, 'dp')
    wt: f32[4,4] = _c10d_functional.wait_tensor(ag)
    mm: f32[4,4] = aten.mm(x, wt)
    n: f32[4,4] = aten.neg(ag)
    return [mm, n]
  )");
  EXPECT_THAT(refusal(graph, "split_forward_fsdp_collectives{parameters=1}"),
              HasSubstr("the FSDP all-gather ag must be read only by its wait, but has 2 readers: "
                        "wt, n"));
}

TEST(SplitBackwardFsdpCollectives, ReduceGradReduces) {
  const Graph pair = partitioned();
  const Graph backward =
      *run_pass(pair, "split_backward_fsdp_collectives{parameter_gradients=2}").graph;
  EXPECT_THAT(names_of_part(backward, kFirst, NodeKind::call), ElementsAre("gx", "tx", "gw", "gb"));
  EXPECT_THAT(outputs(backward, kFirst), ElementsAre("gw", "gb", "gx"));
  const StepResult step =
      run_pass(pair, "split_backward_fsdp_collectives{keep=\"reduce_grad\",parameter_gradients=2}");
  EXPECT_THAT(names_of_part(*step.graph, kFirst, NodeKind::placeholder), ElementsAre("gw", "gb"));
  EXPECT_THAT(outputs(*step.graph, kFirst), ElementsAre("wr", "gb"));
  EXPECT_THAT(reason_of(step, "backward:wr", "reduced"), HasSubstr("computes it from gw"));
}

TEST(MultiplexFwBwGraph, TheBackwardComesFirst) {
  const Graph pair = partitioned();
  const Graph both = *run_pass(pair, "multiplex_fw_bw_graph").graph;
  EXPECT_FALSE(both.is_pair());
  EXPECT_THAT(names_of_part(both, kFirst, NodeKind::placeholder),
              ElementsAre("bw_x", "bw_wt", "bw_dy", "w", "b", "x"));
  EXPECT_THAT(names_of_part(both, kFirst, NodeKind::call),
              ElementsAre("gx", "tx", "gw", "rs", "wr", "gb", "ag", "wt", "t", "mm", "y"));
  EXPECT_THAT(outputs(both, kFirst), ElementsAre("wr", "gb", "gx", "y", "x", "wt"));
  EXPECT_EQ(both.node(both.find("gw")).phase, Phase::backward);
  EXPECT_EQ(both.node(both.find("mm")).phase, Phase::forward);
  EXPECT_TRUE(validate(both));
  EXPECT_THAT(refusal(parse(kStage), "multiplex_fw_bw_graph"),
              HasSubstr("needs a forward/backward pair"));
}

}  // namespace
}  // namespace jointer::test
