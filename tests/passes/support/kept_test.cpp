// The reasons that graph_trainer's passes give for not changing a graph.

#include "passes/support/kept.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/passes/run_pass.h"
#include "tests/passes/two_blocks.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

using ::testing::HasSubstr;

// The last decision about the whole graph, of a step that changed nothing.
std::string why_kept(const Graph& graph, std::string_view pipeline) {
  const StepResult step = run_pass(graph, pipeline);
  EXPECT_EQ(step.moved + step.added + step.removed + step.changed + step.retagged, 0U) << pipeline;
  for (std::size_t i = step.decisions.size(); i-- > 0;)
    if (step.decisions[i].node.empty() && step.decisions[i].action != "note")
      return step.decisions[i].reason;
  return {};
}

// Two layers; nothing is tagged, and no collective is FSDP's.
constexpr std::string_view kPlain = R"(
  kind train_step
  group tp: 0 1
  w: bf16[4,4] = parameter
  x: bf16[4,4] = input
  a: bf16[4,4] = aten.mm(x, w)  {layers.0.wq}
  b: bf16[4,4] = aten.relu(a)  {layers.0.mlp}
  ag: bf16[8,4] = _c10d_functional.all_gather_into_tensor(b, 2, 'tp')  {layers.0.mlp}
  wt: bf16[8,4] = _c10d_functional.wait_tensor(ag)  {layers.0.mlp}
  c: bf16[8,4] = aten.mm(wt, w)  {layers.1.wq}
  g: bf16[8,4] = aten.mm(c, w)  {layers.1.wq backward}
  h: bf16[8,4] = aten.mul.Tensor(g, wt)  {layers.0.mlp backward}
  return [h]
)";

TEST(Kept, ReasonsAreThoseOfThePass) {
  const Graph graph = parse(kPlain);
  const std::vector<std::pair<std::string, std::string>> reasons{
      {"eliminate_dead_code", "Every call has a reader"},
      {"canonicalize_graph", "No call can be removed"},
      {"deduplicate_fsdp_unshard_chains", "No FSDP parameter is gathered twice"},
      {"apply_cpu_offload", "No result is tagged for offload"},
      {"selective_activation_remat", "No value is tagged for recomputation"},
      {"populate_chunk_dim_metadata", "No input has a symbolic batch size"},
      {"ep_overlap_chunk", "No module that matches layers.*.moe exchanges tokens"},
      {"isolate_ep_process_group", "The graph has no all_to_all_single"},
      {"reassign_collective_pgs", "No group gathers FSDP parameters"},
      {"joint_transformer_block_bucketing_reordering", "No FSDP collective"},
      {"ep_overlap_schedule", "exchanges tokens"},
      {"concretize_ep_chunk_symbolic_shapes", "No size in the graph contains a chunk symbol"},
      {"schedule_fsdp_comms_to_dense_regions", "no FSDP all-gather or reduce-scatter"},
      {"annotate_flex_attention_for_regional_inductor", "The graph has no flex_attention"},
      {"annotate_rmsnorm_for_regional_inductor", "The graph has no fused RMSNorm"},
      {"regional_inductor", "no call is annotated with compile_with_inductor"},
      {"insert_kernel_annotations", "does not record which modules its nodes belong to"},
  };
  for (const auto& [pass, reason] : reasons)
    EXPECT_THAT(why_kept(graph, pass), HasSubstr(reason)) << pass;
}

TEST(Kept, ASecondRunSaysThatItIsDone) {
  const Graph graph = parse(kPlain);
  EXPECT_EQ(why_kept(graph_after(graph, "tag_with_memory_policy"), "tag_with_memory_policy"),
            "Every call of the forward already has its tag.");
  const Graph recomputed = graph_after(graph_after(graph, "tag_with_memory_policy{policy=full}"),
                                       "selective_activation_remat");
  EXPECT_THAT(why_kept(recomputed, "selective_activation_remat"), HasSubstr("already recomputed"));
}

TEST(Kept, TaggedResultsThatTheBackwardDoesNotReadAreCounted) {
  const Graph graph = parse(R"(
    kind train_step
    x: f32[8,8] = input
    a: f32[8,8] = aten.relu(x)  {layers.0 MUST_CPU_OFFLOAD}
    b: f32[8,8] = aten.relu(a)  {layers.1 MUST_RECOMPUTE}
    c: f32[8,8] = aten.relu(b)  {layers.1}
    g: f32[8,8] = aten.neg(c)  {layers.1 backward}
    return [g]
  )");
  EXPECT_THAT(why_kept(graph, "apply_cpu_offload"), HasSubstr("1 result is tagged"));
  EXPECT_THAT(why_kept(graph, "selective_activation_remat"),
              HasSubstr("does not read the only value that is tagged"));
}

TEST(Kept, ResultsThatStayAreTheReasonOfApplyCpuOffload) {
  EXPECT_EQ(why_kept(parse(R"(
    kind train_step
    x: f32[8,8] = input
    a: f32[8,8] = aten.relu(x)  {layers.0 MUST_CPU_OFFLOAD}
    g: f32[8,8] = aten.neg(a)  {layers.0 backward}
    return [a, g]
  )"),
                     "apply_cpu_offload"),
            "1 result stays on the device: it is returned.");
}

TEST(Kept, AGraphWithTwinsSaysThatGathersAreReassigned) {
  const Graph graph = parse(kOneBlock);
  const StepResult first = run_pass(graph, "reassign_collective_pgs");
  EXPECT_EQ(first.decisions.back().reason,
            "1 all-gather of group dp runs in its twin dp_fsdp_extra. Every rank must create that "
            "group.");
  EXPECT_THAT(why_kept(*first.graph, "reassign_collective_pgs"), HasSubstr("twins"));
}

TEST(Kept, AllToAllsWithTheirOwnGroup) {
  EXPECT_THAT(why_kept(parse(R"(
    kind train_step
    group ep: 0 1
    x: bf16[4,4] = input
    a: bf16[4,4] = _c10d_functional.all_to_all_single(x, [2, 2], [2, 2], 'ep')  {layers.0.moe}
    w: bf16[4,4] = _c10d_functional.wait_tensor(a)  {layers.0.moe}
    return [w]
  )"),
                       "isolate_ep_process_group"),
              HasSubstr("shares its group"));
}

TEST(Kept, ExistingMarksAreNotDecidedAgain) {
  const Graph graph = parse(R"(
    kind train_step
    w: f32[4] = parameter
    x: f32[4,4] = input
    n: (f32[4,4], f32[4,1]) = aten._fused_rms_norm(x, [4], w, None)  {layers.0}
    y: f32[4,4] = n[0]  {layers.0}
    return [y]
  )");
  const std::string pass = "annotate_rmsnorm_for_regional_inductor";
  const Graph marked = graph_after(graph, pass);
  EXPECT_EQ(why_kept(marked, pass), "Every fused RMSNorm is already marked.");
  EXPECT_THAT(why_kept(marked, "regional_inductor"),
              HasSubstr("`jointer bench --passes` compiles 2 calls in it"));
  EXPECT_THAT(why_kept(graph, "regional_inductor{mark=[n]}"), HasSubstr("compiles 1 call in it"));
}

}  // namespace
}  // namespace jointer::test
