#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/passes/run_pass.h"
#include "tests/passes/two_blocks.h"
#include "tests/support/graphs.h"
#include "tests/support/names.h"

namespace jointer::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPass = "schedule_fsdp_comms_to_dense_regions";

// Two blocks; the first has experts. One bucket each, gathered late and reduced late.
constexpr std::string_view kStep = R"(
  kind train_step
  group dp: 0 1
  a: bf16[2,4] = parameter
  b: bf16[2,4] = parameter
  x: bf16[4,4] = input
  ag_a: bf16[4,4] = _c10d_functional.all_gather_into_tensor(a, 2, 'dp')  {layers.0.attention}
  wt_a: bf16[4,4] = _c10d_functional.wait_tensor(ag_a)  {layers.0.attention}
  i: bf16[4,4] = aten.mm(x, wt_a)  {layers.0.attention}
  e: bf16[4,4] = aten.mm(i, i)  {layers.0.moe}
  ag_b: bf16[4,4] = _c10d_functional.all_gather_into_tensor(b, 2, 'dp')  {layers.1.wq}
  wt_b: bf16[4,4] = _c10d_functional.wait_tensor(ag_b)  {layers.1.wq}
  j: bf16[4,4] = aten.mm(e, wt_b)  {layers.1.wq}
  ag_b2: bf16[4,4] = _c10d_functional.all_gather_into_tensor(b, 2, 'dp')  {layers.1.wq backward}
  wt_b2: bf16[4,4] = _c10d_functional.wait_tensor(ag_b2)  {layers.1.wq backward}
  g_i: bf16[4,4] = aten.mm(j, wt_b2)  {layers.1.wq backward}
  g_b: bf16[4,4] = aten.mm(i, j)  {layers.1.wq backward}
  ag_a2: bf16[4,4] = _c10d_functional.all_gather_into_tensor(a, 2, 'dp')  {layers.0.attention backward}
  wt_a2: bf16[4,4] = _c10d_functional.wait_tensor(ag_a2)  {layers.0.attention backward}
  g_e: bf16[4,4] = aten.mm(g_i, g_i)  {layers.0.moe backward}
  g_x: bf16[4,4] = aten.mm(g_e, wt_a2)  {layers.0.attention backward}
  rs_b: bf16[2,4] = _c10d_functional.reduce_scatter_tensor(g_b, 'avg', 2, 'dp')  {layers.1.wq backward}
  out_b: bf16[2,4] = _c10d_functional.wait_tensor(rs_b)  {layers.1.wq backward}
  g_a: bf16[4,4] = aten.mm(x, g_i)  {layers.0.attention backward}
  rs_a: bf16[2,4] = _c10d_functional.reduce_scatter_tensor(g_a, 'avg', 2, 'dp')  {layers.0.attention backward}
  out_a: bf16[2,4] = _c10d_functional.wait_tensor(rs_a)  {layers.0.attention backward}
  return [j, g_x, out_a, out_b]
)";

TEST(DenseRegions, GathersDuringAttentionNotDuringExperts) {
  const StepResult step = run_pass(parse(kStep), std::string(kPass) + "{strict=true}");
  const Graph& graph = *step.graph;
  EXPECT_TRUE(is_before(graph, "ag_b", "i"));  // the attention of layers.0, not its experts
  EXPECT_TRUE(is_before(graph, "wt_a", "ag_b"));
  EXPECT_TRUE(is_before(graph, "ag_a2", "g_i"));  // during the backward of layers.1
  EXPECT_THAT(reason_of(step, "ag_b", "moved"), HasSubstr("forward of layers.0"));
}

TEST(DenseRegions, ReducesDuringAttentionAndWaitsAtTheEnd) {
  const StepResult step = run_pass(parse(kStep), kPass);
  const Graph& graph = *step.graph;
  EXPECT_TRUE(is_before(graph, "rs_b", "g_x"));
  EXPECT_TRUE(is_before(graph, "rs_a", "out_b"));
  EXPECT_THAT(reason_of(step, "out_b", "sunk"), HasSubstr("end"));
}

TEST(DenseRegions, StrictRefusesBlocksWithoutABucketOfEachKind) {
  const Graph graph = parse(kOneBlock);
  const auto run = run_pipeline(graph, parse_pipeline(std::string(kPass) + "{strict=true}").value(),
                                built_in_passes(), simple_costs());
  ASSERT_TRUE(run && run->error);
  EXPECT_THAT(run->error->message,
              HasSubstr("layers.0 has 1 forward FSDP all-gather, 0 backward FSDP all-gathers and 0 "
                        "FSDP reduce-scatters"));
  const StepResult kept = run_pass(graph, kPass);
  EXPECT_EQ(kept.moved, 0U);
  EXPECT_THAT(kept.decisions.back().reason, HasSubstr("neighboring block"));
}

TEST(DenseRegions, CollectivesOfTensorParallelismAreNotBuckets) {
  std::string text(kStep);
  const auto add_after = [&](std::string_view line, std::string_view added) {
    const auto end = text.find('\n', text.find(line));
    text.insert(end + 1, added);
  };
  add_after("group dp", "  group tp: 0 1\n");
  add_after("  i: bf16", R"(
  tp_ag: bf16[8,4] = _c10d_functional.all_gather_into_tensor(i, 2, 'tp')  {layers.0.attention}
  tp_wt: bf16[8,4] = _c10d_functional.wait_tensor(tp_ag)  {layers.0.attention}
  tp_rs: bf16[4,4] = _c10d_functional.reduce_scatter_tensor(tp_wt, 'sum', 2, 'tp')  {layers.0.attention}
  tp_out: bf16[4,4] = _c10d_functional.wait_tensor(tp_rs)  {layers.0.attention}
  tp_use: bf16[4,4] = aten.mm(tp_out, i)  {layers.0.attention}
)");
  add_after("  g_i: bf16", R"(
  tp_rs2: bf16[2,4] = _c10d_functional.reduce_scatter_tensor(g_i, 'sum', 2, 'tp')  {layers.1.wq backward}
  tp_out2: bf16[2,4] = _c10d_functional.wait_tensor(tp_rs2)  {layers.1.wq backward}
  tp_use2: bf16[2,4] = aten.mm(tp_out2, g_i)  {layers.1.wq backward}
)");
  text.replace(text.find("return [j,"), 10, "return [j, tp_use, tp_use2,");
  const StepResult step = run_pass(parse(text), std::string(kPass) + "{strict=true}");
  EXPECT_FALSE(reason_of(step, "ag_b", "moved").empty());
  for (const Decision& each : step.decisions)
    EXPECT_FALSE(each.node.starts_with("tp_")) << each.node << ' ' << each.reason;
}

TEST(DenseRegions, SaysThatTheBucketsAreAlreadyInPlace) {
  const Graph done = *run_pass(parse(kStep), kPass).graph;
  const StepResult again = run_pass(done, kPass);
  EXPECT_EQ(again.moved, 0U);
  EXPECT_THAT(again.decisions.back().reason, HasSubstr("are already where"));
  EXPECT_FALSE(reports_changes(again));
}

TEST(DenseRegions, ReportsNoMovesAboveTheLimit) {
  const Graph graph = parse(kTwoBlocks);
  ASSERT_GT(run_pass(graph, kPass).moved, 0U);
  PassContext::Options options = simple_costs();
  options.peak_limit = 1;
  const StepResult step = run_pass(graph, kPass, options);
  EXPECT_EQ(step.moved, 0U);
  EXPECT_THAT(reason_of(step, "", "kept"), HasSubstr("Left unchanged: the peak would grow"));
  EXPECT_FALSE(reports_changes(step));
}

TEST(DenseRegions, AGradientThatIsUsedStays) {
  const StepResult step = run_pass(parse(R"(
    kind train_step
    group dp: 0 1
    x: bf16[4,4] = input
    y: bf16[4,4] = aten.mm(x, x)  {layers.0 backward}
    rs: bf16[2,4] = _c10d_functional.reduce_scatter_tensor(y, 'avg', 2, 'dp')  {layers.0 backward}
    out: bf16[2,4] = _c10d_functional.wait_tensor(rs)  {layers.0 backward}
    used: bf16[2,4] = aten.relu(out)  {layers.0 backward}
    return [used]
  )"),
                                   kPass);
  EXPECT_THAT(reason_of(step, "out", "kept"),
              HasSubstr("used (aten.relu.default) depends on its result"));
}

}  // namespace
}  // namespace jointer::test
