#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/edit/edit.h"
#include "core/graph/canonical.h"
#include "passes/ep_overlap/chunk_sizes.h"
#include "tests/passes/ep_overlap/expert_step.h"
#include "tests/passes/run_pass.h"
#include "tests/support/graphs.h"
#include "tests/support/names.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> inputs_of(const Graph& graph, std::string_view name) {
  std::vector<std::string> names;
  for (const NodeId id : graph.inputs(node(graph, name))) names.emplace_back(graph.name(id));
  return names;
}

std::string size_of(const Graph& graph, std::string_view name, std::size_t dim) {
  const Tensor& tensor = graph.tensors(node(graph, name)).front();
  const Dim size = graph.shape(tensor)[dim];
  return size.expression ? std::string(graph.expression_text(size.expression))
                         : std::to_string(size.value);
}

OrderedJson marks_of(const Graph& graph, std::string_view name) {
  return *parse_json(graph.text(node(graph, name).custom), "custom");
}

TEST(EpOverlapChunk, DuplicatesAModuleInBothDirections) {
  const StepResult step = run_pass(traced(), "ep_overlap_chunk");
  const Graph& graph = *step.graph;
  EXPECT_THAT(
      calls_of(graph),
      ElementsAre("sym_size_int", "floordiv", "split_with_sizes_default", "getitem", "getitem_1",
                  "d_chunk0", "d_chunk1", "v_chunk0", "v_chunk1", "m_chunk0", "m_chunk1",
                  "m_chunk0_chunk_materialized", "s", "l", "gs", "sym_size_int_1", "floordiv_1",
                  "split_with_sizes_default_1", "getitem_2", "getitem_3", "t_chunk0", "t_chunk1",
                  "gw_chunk0", "gw_chunk1", "gw_chunk0_chunk_materialized"));
  EXPECT_EQ(size_of(graph, "getitem", 0), "(u0//2)");
  EXPECT_EQ(size_of(graph, "m_chunk1", 0), "(u0//2)");
  EXPECT_EQ(size_of(graph, "m_chunk0_chunk_materialized", 0), "u0");
  EXPECT_EQ(graph.target(node(graph, "m_chunk0_chunk_materialized")), "aten.cat.default");
  EXPECT_EQ(graph.target(node(graph, "gw_chunk0_chunk_materialized")), "aten.add.Tensor");
  // Values that the forward left in halves are not split again.
  EXPECT_THAT(inputs_of(graph, "t_chunk1"), ElementsAre("v_chunk1"));
  EXPECT_THAT(inputs_of(graph, "m_chunk0"), ElementsAre("v_chunk0", "w"));
  EXPECT_THAT(inputs_of(graph, "gs"), ElementsAre("m_chunk0_chunk_materialized"));
  EXPECT_THAT(reason_of(step, "m_chunk1", "chunked"),
              HasSubstr("m for chunk 1 of layers.1.moe (forward)"));
  EXPECT_THAT(reason_of(step, "gw_chunk0_chunk_materialized", "joined"), HasSubstr("sum"));
}

TEST(EpOverlapChunk, AnnotatesItsCalls) {
  const StepResult step = run_pass(traced(), "ep_overlap_chunk");
  const OrderedJson copy = marks_of(*step.graph, "gw_chunk1");
  EXPECT_EQ(copy["module_fqn"], "layers.1.moe");
  EXPECT_EQ(copy["chunked_region_fqn"], "layers.1.moe");
  EXPECT_EQ(copy["chunked_region_role"], "body");
  EXPECT_EQ(copy["chunk_id"], 1);
  EXPECT_EQ(copy["chunked_region_is_backward"], true);
  const OrderedJson joined = marks_of(*step.graph, "m_chunk0_chunk_materialized");
  EXPECT_EQ(joined["module_fqn"], "layers.1");
  EXPECT_EQ(joined["chunked_region_role"], "materialization");
  EXPECT_FALSE(joined.contains("chunk_id"));
  EXPECT_TRUE(node(*step.graph, "floordiv_1").has(Node::autograd_backward));
  EXPECT_FALSE(node(*step.graph, "floordiv").has(Node::autograd_backward));
}

TEST(EpOverlapChunk, HalvesAreViewsOfTheWhole) {
  const Graph graph = graph_after(traced(), "ep_overlap_chunk");
  EXPECT_EQ(storage_of(graph, "getitem"), storage_of(graph, "x"));
  EXPECT_EQ(storage_of(graph, "getitem_1"), storage_of(graph, "x"));
  EXPECT_EQ(storage_of(graph, "t_chunk1"), storage_of(graph, "v_chunk1"));
  EXPECT_NE(storage_of(graph, "m_chunk0"), storage_of(graph, "m_chunk1"));
  EXPECT_NE(storage_of(graph, "m_chunk0"), storage_of(graph, "m_chunk0_chunk_materialized"));
  EXPECT_EQ(graph.offset(graph.tensors(node(graph, "getitem_1")).front()).value, 2 * 4);
  EXPECT_EQ(graph.storage(storage_of(graph, "m_chunk0")).bytes.value, 2 * 4 * 4);
}

TEST(EpOverlapChunk, ItsResultIsAnEdit) {
  const Graph before = traced();
  const StepResult step = run_pass(before, "ep_overlap_chunk");
  ASSERT_TRUE(step.edit_refusal.empty()) << step.edit_refusal;
  Graph again = before;
  for (const Edit& edit : step.edits) ASSERT_TRUE(apply(again, edit));
  EXPECT_EQ(graph_hash(again), graph_hash(*step.graph));
  EXPECT_EQ(marks_of(again, "m_chunk1"), marks_of(*step.graph, "m_chunk1"));
}

TEST(EpOverlapChunk, ASequenceIsMadeContiguous) {
  const std::string text = [] {
    std::string step(kExpertStep);
    for (auto at = step.find("f32[u0,4]"); at != std::string::npos; at = step.find("f32[u0,4]", at))
      step.replace(at, 9, "f32[2,u0,4]");
    const auto mm = step.find("aten.mm(v, w)");
    return step.replace(mm, 13, "aten.matmul(v, w)");
  }();
  std::string forward = text.substr(0, text.find("  gs:")) + "  return [l]\n";
  const Graph graph = graph_after(traced(forward, {"d", "v", "m"}), "ep_overlap_chunk{mode=seq}");
  EXPECT_THAT(inputs_of(graph, "d_chunk0"), ElementsAre("clone_default"));
  EXPECT_THAT(inputs_of(graph, "clone_default_1"), ElementsAre("getitem_1"));
  EXPECT_EQ(size_of(graph, "clone_default", 1), "(u0//2)");
  const Tensor& clone = graph.tensors(node(graph, "clone_default")).front();
  EXPECT_EQ(graph.expression_text(graph.stride(clone)[0].expression), "4*Max(1, (u0//2))");
}

TEST(EpOverlapChunk, TheSecondChunkWritesAfterTheFirst) {
  std::string text(kExpertStep.substr(0, kExpertStep.find("  gs:")));
  text.replace(text.find("  x: f32"), 2, "  n: f32[4] = buffer\n  ");
  text.replace(text.find("  s: f32"), 2,
               "  c: f32[4] = aten.sum.dim_IntList(m, [0])\n"
               "  b: f32[4] = aten.add_.Tensor(n, c)\n  ");
  const StepResult step =
      run_pass(traced(text + "  return [l]\n", {"d", "v", "m", "c", "b"}), "ep_overlap_chunk");
  EXPECT_THAT(inputs_of(*step.graph, "b_chunk0"), ElementsAre("n", "c_chunk0"));
  EXPECT_THAT(inputs_of(*step.graph, "b_chunk1"), ElementsAre("b_chunk0", "c_chunk1"));
}

TEST(EpOverlapChunk, AddsGradientsOfBothChunksBeforeViews) {
  std::string text(kExpertStep);
  text.replace(text.find("  d: f32"), 2, "  y: f32[u0,2,2] = input\n  ");
  text.replace(text.find("  gw: f32"), 2,
               "  gx: f32[u0,4] = aten.mm(gs, w)  {backward}\n"
               "  gv: f32[u0,2,2] = aten.view(gx, [-1, 2, 2])  {backward}\n  ");
  text.replace(text.find("return [l, gw]"), 14,
               "z: f32[u0,2,2] = aten.mul.Tensor(gv, y)  {backward}\n  return [l, gw, z]");
  const std::vector<std::string> inside{"d", "v", "m", "t", "gx", "gv", "gw"};
  const Graph early = graph_after(traced(text, inside), "ep_overlap_chunk");
  EXPECT_THAT(inputs_of(early, "gv_chunk_materialized"),
              ElementsAre("gx_chunk0_chunk_materialized", "sym_size_int_2"));
  EXPECT_LT(early.position(early.find("sym_size_int_2")),
            early.position(early.find("gv_chunk_materialized")));
  EXPECT_FALSE(early.find("gv_chunk0"));
  const Graph late =
      graph_after(traced(text, inside), "ep_overlap_chunk{optimize_grad_live_out=false}");
  EXPECT_THAT(inputs_of(late, "gv_chunk0_chunk_materialized"),
              ElementsAre("gv_chunk0", "gv_chunk1"));
}

TEST(EpOverlapChunk, RefusesWhatItCannotSplit) {
  EXPECT_THAT(refusal(traced(kExpertStep, {"m"}), "ep_overlap_chunk{require_all_to_all=true}"),
              HasSubstr("none contains an all_to_all_single"));
  EXPECT_THAT(refusal(traced(kExpertStep, {"m"}), "ep_overlap_chunk{require_all_to_all=false}"),
              "");
  EXPECT_THAT(refusal(traced(kExpertStep, {"d", "v", "m"}, 3), "ep_overlap_chunk"),
              HasSubstr("x cannot be split in two: dimension 0 has the odd size 3; trace the step "
                        "with an even size"));

  Graph other = traced();
  annotate(other, "d", R"({"module_fqn":"layers.1.moe"})");
  EXPECT_THAT(refusal(other, "ep_overlap_chunk"),
              HasSubstr("d in layers.1.moe (forward) is a collective that does not belong to "
                        "expert parallelism, so it cannot run once per chunk; set module_pattern "
                        "to modules without such collectives"));

  std::string baked(kExpertStep);
  baked.replace(baked.find("m: f32"), 0, "k: f32[u0,2,2] = aten.view(v, [4, 2, 2])\n  ");
  baked.replace(baked.find("aten.sum(s)"), 11, "aten.sum(k)");
  EXPECT_THAT(refusal(traced(baked, {"d", "v", "k", "m", "t", "gw"}), "ep_overlap_chunk"),
              HasSubstr("x.shape[0]"));

  // A sum over tokens that is not a gradient.
  std::string sum(kExpertStep);
  sum.replace(sum.find("s: f32[u0,4] = aten.sin(m)"), 26,
              "k: f32[4] = aten.sum.dim_IntList(m, [0])\n  s: f32[4] = aten.sin(k)");
  EXPECT_THAT(refusal(traced(sum, {"d", "v", "m", "k", "t", "gw"}), "ep_overlap_chunk"),
              HasSubstr("is read by s, but its chunks cannot be joined"));
}

TEST(EpOverlapChunk, KeepsModulesOutsideThePattern) {
  EXPECT_THAT(refusal(traced(),
                      "ep_overlap_chunk{module_pattern=\"layers.2.moe\",require_all_to_all=true}"),
              HasSubstr("layers.2.moe"));
  EXPECT_THAT(
      refusal(traced(), "ep_overlap_chunk{module_pattern=\"layers.2.moe\"}"),
      HasSubstr("module_pattern: expected a module in the graph, got `layers.2.moe`; the graph has "
                "layers.1.moe"));
  EXPECT_THAT(refusal(parse("x: f32[8] = input\n  y: f32[8] = aten.relu(x)\n  return [y]"),
                      "ep_overlap_chunk{module_pattern=\"layers.2.moe\"}"),
              HasSubstr("no node is annotated with its module"));
  const Graph whole = graph_after(traced(), "ep_overlap_chunk{module_pattern=\"layers.*\"}");
  EXPECT_EQ(marks_of(whole, "m_chunk0")["chunked_region_fqn"], "layers.1");
}

TEST(PopulateChunkDimMetadata, MarksInputsWithTheSizeAndItsIndex) {
  const StepResult step = run_pass(traced(), "populate_chunk_dim_metadata");
  EXPECT_EQ(marks_of(*step.graph, "x")[kChunkHints]["u0"], 4);
  EXPECT_FALSE(node(*step.graph, "w").custom);
  EXPECT_THAT(reason_of(step, "x", "marked"), HasSubstr("u0"));
  EXPECT_TRUE(run_pass(traced(), "populate_chunk_dim_metadata{mode=seq}").edits.empty());
  Graph unknown = traced();
  unknown.part(PartId(0)).symbols.variables.clear();
  EXPECT_THAT(refusal(unknown, "populate_chunk_dim_metadata"),
              HasSubstr("whose value is not in the capture"));
  Graph listed = traced();
  annotate(listed, "x", "[]");
  EXPECT_THAT(refusal(listed, "populate_chunk_dim_metadata"),
              HasSubstr("the annotations (`custom`) of x are not a JSON object"));
}

TEST(ConcretizeChunkSizes, SaysWhichChecksHold) {
  Graph graph = parse(R"(
  x: f32[s0,4] = input
  other: f32[] = input
  item: none = aten._local_scalar_dense(other)
  known: none = aten._assert_scalar(True, 's0 >= 2')
  unknown: none = aten._assert_scalar(item, 'u0 >= 0')
  y: f32[s0,4] = aten.sin(x)
  return [y]
)");
  graph.part(PartId(0)).symbols.variables.push_back({.name = "s0", .min = 2, .max = 8, .hint = 8});
  annotate(graph, "x", R"({"torchtitan_chunk_symbol_hints":{"s0":8}})");
  const StepResult step = run_pass(graph, "concretize_ep_chunk_symbolic_shapes");
  EXPECT_THAT(reason_of(step, "known", "removed"), HasSubstr("holds"));
  EXPECT_THAT(reason_of(step, "unknown", "removed"), HasSubstr("unknown"));
}

TEST(ChunkSizes, ReadsOnlySumsOfMultiples) {
  EXPECT_EQ(parse_size("512*u0")->front().factor, 512);
  EXPECT_EQ(parse_size("u1 + u2 + 39")->size(), 3U);
  EXPECT_TRUE(parse_size("8*((u0//2))")->front().is_half);
  EXPECT_TRUE(parse_size("8*Max(1, (u0//2))")->front().is_at_least_one);
  for (const auto* text : {"u0*u1", "(u0//8)", "u0 - 1", "Max(2, u0)", "Min(1, u0)", "u0 +", ""})
    EXPECT_FALSE(parse_size(text)) << text;
}

}  // namespace
}  // namespace jointer::test
