#include "core/policy/tagging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/edit/tag_list.h"
#include "core/graph/layers.h"
#include "core/open/open.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/names.h"
#include "tests/support/paths.h"
#include "tests/support/reference.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two layers of three products each, one product outside, and the beginning of a backward.
constexpr std::string_view kLayers = R"(
  w: f32[8,8] = parameter
  x: f32[8,8] = input
  dy: f32[8,8] = tangent
  e: f32[8,8] = aten.mm(x, w)  {tok}
  a0: f32[8,8] = aten.mm(e, w)  {layers.0.attention}
  b0: f32[8,8] = aten.mm(a0, w)  {layers.0.attention}
  r0: f32[8,8] = aten.relu(b0)  {layers.0.mlp}
  c0: f32[8,8] = aten.mm(r0, w)  {layers.0.mlp}
  a1: f32[8,8] = aten.mm(c0, w)  {layers.1.attention}
  b1: f32[8,8] = aten.mm(a1, w)  {layers.1.attention}
  r1: f32[8,8] = aten.relu(b1)  {layers.1.mlp}
  c1: f32[8,8] = aten.mm(r1, w)  {layers.1.mlp}
  m: (f32[8], i64[8]) = aten.max.dim(c1, 1)
  v: f32[8] = m[0]
  t: f32[8,8] = aten.t(w)
  g: f32[8,8] = aten.mm(dy, t)  {backward}
  return [c1, v, g]
)";

Graph tagged(std::string_view text, const SacOptions& options = {}) {
  Graph graph = parse(text);
  const auto edit = must(apply_sac(graph, options));
  EXPECT_TRUE(apply(graph, edit));
  return graph;
}

Graph open_capture(const std::string& name) {
  return must(open_graph({.path = capture_path(name), .backward = {}}));
}

TEST(ApplySac, CountsProductsOverTheWholeGraphAndStopsAtTheFirstOutput) {
  const Graph graph = tagged(kLayers);
  EXPECT_THAT(with_policy(graph, MemoryPolicy::must_save), ElementsAre("e", "b0", "a1", "c1"));
  EXPECT_THAT(with_policy(graph, MemoryPolicy::prefer_recompute),
              ElementsAre("a0", "r0", "c0", "b1", "r1"));
  EXPECT_TRUE(node(graph, "e").has(Node::has_ac_graph_id));
  EXPECT_EQ(node(graph, "e").ac_graph_id, 0);
  EXPECT_FALSE(node(graph, "g").has(Node::has_ac_graph_id));
}

TEST(ApplySac, CountsPerLayerIfAsked) {
  const SacOptions options{
      .save = {},
      .every_nth = {{.op = "aten.mm", .n = 2, .counter = EveryNth::Counter::per_layer}}};
  const Graph graph = tagged(kLayers, options);
  EXPECT_THAT(with_policy(graph, MemoryPolicy::must_save),
              ElementsAre("e", "a0", "c0", "a1", "c1"));
}

TEST(ApplySac, AcceptsRulesAndSelectorsOfAnyOperator) {
  const SacOptions options{
      .save = {"layers.*.mlp::aten.mm.default", "e"},
      .every_nth = {{.op = "aten.relu", .n = 2, .counter = EveryNth::Counter::global}}};
  const Graph graph = tagged(kLayers, options);
  EXPECT_THAT(with_policy(graph, MemoryPolicy::must_save), ElementsAre("e", "r0", "c0", "c1"));
  const auto edit = apply_sac(parse(kLayers), options);
  EXPECT_EQ(edit->by,
            R"(apply_sac{save=["layers.*.mlp::aten.mm.default",e],every_nth=["aten.relu/2"]})");
}

TEST(ApplySac, ReportsAnEarlyEnd) {
  JOINTER_NEEDS_SHARED();
  const Graph graph = open_capture("deepseek_v3_debug_tp2_fsdp2_ep2.joint");
  const auto edit = must(apply_sac(graph));
  EXPECT_THAT(edit.notes,
              ::testing::Contains(HasSubstr("written back to an input, so 1,450 later calls")));
  Graph early = graph, whole = graph;
  ASSERT_TRUE(apply(early, edit));
  ASSERT_TRUE(apply(whole, *apply_sac(graph, {.whole_forward = true})));
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call || graph.op(n).is_getitem) continue;
    EXPECT_EQ(whole.node(id).has(Node::has_ac_graph_id),
              n.phase == Phase::forward || n.has(Node::has_ac_graph_id));
    if (graph.position(id) <= graph.position(graph.find("add_4")))
      EXPECT_EQ(early.node(id).policy, whole.node(id).policy) << graph.name(id);
    else
      EXPECT_EQ(early.node(id).policy, n.policy) << graph.name(id);
  }
}

TEST(ApplySac, NamesASelectorThatSelectsNothing) {
  const auto edit = apply_sac(parse(kLayers), {.save = {"aten.bmm"}, .every_nth = {}});
  ASSERT_FALSE(edit);
  EXPECT_THAT(edit.error().message, HasSubstr("`aten.bmm` selects nothing"));
}

TEST(EveryNthText, RoundTrips) {
  for (const std::string text : {"aten.mm.default/2", "aten.mm/3/layer", "layers.*::aten.mm/1"}) {
    const auto rule = parse_every_nth(text);
    ASSERT_TRUE(rule) << text;
    EXPECT_EQ(to_text(*rule), text);
  }
  for (const std::string text : {"", "aten.mm", "aten.mm/", "aten.mm/0", "/2", "aten.mm/-1",
                                 "aten.mm/2x", "aten.mm/2/layers"})
    EXPECT_FALSE(parse_every_nth(text)) << text;
}

TEST(Layers, AreTheNumberAfterLayers) {
  EXPECT_EQ(layer_of_path("layers.0.attention"), 0);
  EXPECT_EQ(layer_of_path("model.layers.31"), 31);
  EXPECT_EQ(layer_of_path("layers"), Layers::kNone);
  EXPECT_EQ(layer_of_path("layers.x.y"), Layers::kNone);
  EXPECT_EQ(layer_of_path("my_layers.3"), Layers::kNone);
  EXPECT_EQ(path_in_any_layer("layers.0.attention"), "layers.*.attention");
  EXPECT_EQ(path_in_any_layer("model.layers.31"), "model.layers.*");
  EXPECT_EQ(path_in_any_layer("layers.x.3"), "layers.x.3");
}

TEST(RemoveTags, RemovesAll) {
  Graph graph = tagged(kLayers);
  const Graph before = parse(kLayers);
  const auto edit = must(remove_tags(graph));
  EXPECT_EQ(edit.changes.size(), 1U);
  ASSERT_TRUE(apply(graph, edit));
  for (const NodeId id : graph.order()) {
    EXPECT_EQ(graph.node(id).policy, MemoryPolicy::none);
    EXPECT_FALSE(graph.node(id).has(Node::has_ac_graph_id));
  }
  EXPECT_THAT(remove_tags(graph)->changes, IsEmpty());
}

TEST(Tags, AreUndoneWithTheirRegions) {
  Graph graph = tagged(kLayers);
  const Graph before = graph;
  const auto removed = must(apply(graph, *remove_tags(graph)));
  ASSERT_TRUE(apply(graph, removed));
  for (const NodeId id : graph.order()) {
    EXPECT_EQ(graph.node(id).policy, before.node(id).policy);
    EXPECT_EQ(graph.node(id).flags, before.node(id).flags);
    EXPECT_EQ(graph.node(id).ac_graph_id, before.node(id).ac_graph_id);
  }
}

constexpr std::string_view kGathers = R"(
  group fsdp: 0 1
  w: f32[4,8] = parameter
  x: f32[8,8] = input
  y: f32[4,8] = input
  c: bf16[4,8] = prims.convert_element_type(w, bf16)
  ag: bf16[8,8] = _c10d_functional.all_gather_into_tensor(c, 2, 'fsdp')
  wt: bf16[8,8] = _c10d_functional.wait_tensor(ag)
  s: bf16[7,8] = aten.slice.Tensor(wt, 0, 0, 7)
  r: bf16[8,8] = aten.relu(wt)
  z: f32[4,8] = aten.add.Tensor(w, y)
  ag2: f32[8,8] = _c10d_functional.all_gather_into_tensor(z, 2, 'fsdp')
  wt2: f32[8,8] = _c10d_functional.wait_tensor(ag2)
  return [s, r, wt2]
)";

TEST(FsdpReshardAfterFwd, TagsOnlyTheChainOfAParameter) {
  Graph graph = parse(kGathers);
  ASSERT_TRUE(apply(graph, *fsdp_reshard_after_fwd(graph)));
  EXPECT_THAT(with_policy(graph, MemoryPolicy::must_recompute), ElementsAre("c", "ag", "wt", "s"));
  EXPECT_EQ(node(graph, "ag").ac_graph_id, 100000);
  ASSERT_TRUE(apply(graph, *fsdp_reshard_after_fwd(graph, false)));
  EXPECT_THAT(with_policy(graph, MemoryPolicy::must_save), ElementsAre("c", "ag", "wt", "s"));
}

// --- The captures ---

void expect_same_tags(const Graph& graph, const Graph& expected) {
  ASSERT_EQ(graph.order().size(), expected.order().size());
  for (std::size_t i = 0; i < graph.order().size(); ++i) {
    const Node& a = graph.node(graph.order()[i]);
    const Node& b = expected.node(expected.order()[i]);
    ASSERT_EQ(graph.text(a.name), expected.text(b.name));
    ASSERT_EQ(a.policy, b.policy) << graph.text(a.name);
    ASSERT_EQ(a.has(Node::has_ac_graph_id), b.has(Node::has_ac_graph_id)) << graph.text(a.name);
    ASSERT_EQ(a.ac_graph_id, b.ac_graph_id) << graph.text(a.name);
  }
}

class SacOfCaptures : public ::testing::TestWithParam<std::string> {};

TEST_P(SacOfCaptures, TagsEqualTorchtitans) {
  JOINTER_NEEDS_SHARED();
  Graph graph = open_capture(GetParam() + ".joint");
  const Graph plain = graph;
  ASSERT_TRUE(apply(graph, *remove_tags(graph)));
  ASSERT_TRUE(apply(graph, *fsdp_reshard_after_fwd(graph)));
  expect_same_tags(graph, plain);  // the plain captures have the tags of FSDP alone
  const auto sac = must(apply_sac(graph));
  ASSERT_TRUE(apply(graph, sac));
  const auto facts = load_json(shared_directory() +
                               "/reference/summary.json")["graphs"][GetParam()]["partition"]
                                                         ["graph_sac_without_fsdp"]["min_cut"];
  const auto count = [&](MemoryPolicy policy) { return with_policy(graph, policy).size(); };
  EXPECT_EQ(count(MemoryPolicy::must_save), facts["tags"]["MUST_SAVE"].get<std::size_t>());
  EXPECT_EQ(count(MemoryPolicy::prefer_recompute),
            facts["tags"]["PREFER_RECOMPUTE"].get<std::size_t>());
  EXPECT_THAT(sac.notes,
              ElementsAre(HasSubstr(facts["sac"]["last_node"].get<std::string>() + ","),
                          HasSubstr(fmt::format("{} calls of aten.mm.default",
                                                facts["sac"]["mm_counted"].get<int>()))));
  ASSERT_TRUE(apply(graph, *fsdp_reshard_after_fwd(graph)));
  expect_same_tags(graph, open_capture(GetParam() + "_graph_sac.joint"));
}

INSTANTIATE_TEST_SUITE_P(Captures, SacOfCaptures,
                         ::testing::Values("llama3_debug_tp2_fsdp2", "llama3_8b_tp2_fsdp2"));

}  // namespace
}  // namespace jointer::test
