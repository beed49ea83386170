#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/layers.h"
#include "core/open/open.h"
#include "core/policy/tagging.h"
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

// Two layers and a head; `r0` is the result of the first layer that the second reads.
constexpr std::string_view kPolicyModel = R"(
  group fsdp: 0 1
  p: f32[32,64] = parameter
  w: f32[64,64] = parameter
  x: f32[64,64] = input
  dy: f32[64,64] = tangent
  ag: f32[64,64] = _c10d_functional.all_gather_into_tensor(p, 2, 'fsdp')  {layers.0.wq}
  wt: f32[64,64] = _c10d_functional.wait_tensor(ag)  {layers.0.wq}
  a0: f32[64,64] = aten.mm(x, wt)  {layers.0.wq}
  b0: f32[64,64] = aten.mm(a0, w)  {layers.0.wo}
  d0: f32[64,64] = aten.rand_like(b0)  {layers.0.drop}
  s0: f32[64,64] = aten.add.Tensor(b0, d0)  {layers.0.mlp}
  r0: f32[64,64] = aten.relu(s0)  {layers.0.mlp}
  a1: f32[64,64] = aten.silu(r0)  {layers.1.wq}
  b1: f32[64,64] = aten.mm(a1, w)  {layers.1.wo}
  m1: (f32[64], i64[64]) = aten.topk(b1, 1)  {layers.1.moe}
  v1: f32[64] = m1[0]  {layers.1.moe}
  r1: f32[64,64] = aten.relu(b1)  {layers.1.mlp}
  h: f32[64,64] = aten.mm(r1, w)  {lm_head}
  g: f32[64,64] = aten.mm(dy, w)  {backward}
  g1: f32[64,64] = aten.mul.Tensor(g, a0)  {backward}
  g2: f32[64,64] = aten.mul.Tensor(g1, b1)  {backward}
  return [h, v1, g2]
)";

Graph tagged_by(std::string_view preset, const std::vector<std::string>& save_ops = {},
                std::int64_t offload_bytes = std::int64_t{1} << 40, bool reshard = true) {
  Graph graph = parse(kPolicyModel);
  const auto edit =
      must(tag_with_memory_policy(graph, std::string(preset), save_ops, offload_bytes, reshard));
  EXPECT_TRUE(apply(graph, edit));
  return graph;
}

TEST(MemoryPolicies, DefaultSavesTheListAndLayerInputs) {
  const Graph graph = tagged_by("default");
  EXPECT_THAT(with_policy(graph, MemoryPolicy::must_save),
              ElementsAre("a0", "b0", "r0", "b1", "m1", "v1"));
  EXPECT_THAT(with_policy(graph, MemoryPolicy::prefer_recompute),
              ElementsAre("ag", "wt", "d0", "s0", "a1", "r1"));
  EXPECT_EQ(node(graph, "h").policy, MemoryPolicy::none);  // the head
  EXPECT_EQ(node(graph, "g").policy, MemoryPolicy::none);  // the backward
}

TEST(MemoryPolicies, FullSavesRandomCallsSelectionsAndLayerInputs) {
  EXPECT_THAT(with_policy(tagged_by("full"), MemoryPolicy::must_save), ElementsAre("d0", "r0"));
  const Graph graph = tagged_by("full", {"layers.*.wo::aten.mm.default"});
  EXPECT_THAT(with_policy(graph, MemoryPolicy::must_save), ElementsAre("b0", "d0", "r0", "b1"));
  EXPECT_THAT(with_policy(graph, MemoryPolicy::must_recompute),
              ElementsAre("ag", "wt", "a0", "s0", "a1", "m1", "v1", "r1"));
}

TEST(MemoryPolicies, EagerCountsProductsPerLayer) {
  const Graph graph = tagged_by("eager");
  EXPECT_THAT(with_policy(graph, MemoryPolicy::must_save),
              ElementsAre("a0", "r0", "b1", "m1", "v1"));
}

TEST(MemoryPolicies, OffloadTakesTheLargestOfAllLayersButTheLast) {
  EXPECT_THAT(with_policy(tagged_by("sac_and_offload"), MemoryPolicy::must_cpu_offload),
              ElementsAre("a0", "b0", "r0"));
  // 16,384 bytes each: two of them fit.
  EXPECT_THAT(with_policy(tagged_by("sac_and_offload", {}, 40000), MemoryPolicy::must_cpu_offload),
              ElementsAre("a0", "b0"));
}

TEST(MemoryPolicies, WithoutReshardGatheredParametersAreSaved) {
  const Graph graph = tagged_by("default", {}, 0, false);
  EXPECT_EQ(node(graph, "ag").policy, MemoryPolicy::must_save);
  EXPECT_EQ(node(graph, "wt").policy, MemoryPolicy::must_save);
}

// Sizes are saved whatever the policy says. Floats are not, in either form that captures have.
TEST(MemoryPolicies, SymbolicIntegersAreSavedAndFloatsAreNot) {
  Graph graph = parse(R"(
    x: f32[8,8] = input
    dy: f32[8,8] = tangent
    size: f32[8] = aten.sym_size.int(x, 0)  {layers.0}
    ratio: f32[8] = aten.sym_size.int(x, 1)  {layers.0}
    scale: f32[8] = aten.sym_size.int(x, 1)  {layers.0}
    g: f32[8,8] = aten.neg(dy)  {backward}
    return [g]
  )");
  // Literals do not support symbols as results.
  const auto set_value = [&](std::string_view name, Value value) {
    graph.node(graph.find(name)).value = value;
    graph.refresh(graph.find(name));
  };
  const auto symbol = [&](std::string_view text) {
    return Value::of_symbol(*graph.intern_expression(PartId(0), text, "16"));
  };
  set_value("size", symbol("s0"));
  set_value("ratio", symbol("ToFloat(s0)"));
  set_value("scale",
            Value::of_text(Value::Kind::raw, graph.intern(R"({"symfloat":"zf1","hint":0.5})")));
  ASSERT_TRUE(graph.finish());
  for (const std::string preset : {"default", "full"}) {
    Graph after = graph;
    const auto edit = must(tag_with_memory_policy(after, preset));
    ASSERT_TRUE(apply(after, edit));
    EXPECT_THAT(with_policy(after, MemoryPolicy::must_save), ElementsAre("size")) << preset;
  }
}

TEST(MemoryPolicies, RefuseInvalidArguments) {
  const Graph graph = parse(kPolicyModel);
  EXPECT_THAT(tag_with_memory_policy(graph, "none").error().message, HasSubstr("no memory policy"));
  EXPECT_THAT(tag_with_memory_policy(graph, "eager", {"aten.mm"}).error().message,
              HasSubstr("only with the policy `full`"));
  EXPECT_THAT(tag_with_memory_policy(graph, "full", {"aten.bmm"}).error().message,
              HasSubstr("selects nothing"));
}

TEST(MemoryPolicies, EveryPresetTagsEveryCapture) {
  JOINTER_NEEDS_SHARED();
  for (const std::string name : {"llama3_debug_tp2_fsdp2.joint", "llama_like_train_step",
                                 "deepseek_v3_debug_tp2_fsdp2_ep2.joint"}) {
    auto graph = must(open_graph({.path = capture_path(name), .backward = {}}));
    for (const MemoryPolicyPreset& preset : memory_policy_presets()) {
      const auto edit = tag_with_memory_policy(graph, preset.name);
      ASSERT_TRUE(edit) << name << ' ' << preset.name;
      Graph after = graph;
      ASSERT_TRUE(apply(after, *edit));
      EXPECT_GT(with_policy(after, MemoryPolicy::must_save).size(), 0U) << name << preset.name;
      for (const NodeId id : after.order()) {
        if (after.node(id).phase == Phase::backward) {
          EXPECT_EQ(after.node(id).policy, graph.node(id).policy) << after.name(id);
        }
      }
    }
  }
}

}  // namespace
}  // namespace jointer::test
