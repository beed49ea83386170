#include "core/policy/cpu_offload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/capture/native_writer.h"
#include "core/graph/canonical.h"
#include "core/open/open.h"
#include "core/policy/remat.h"
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

// Three layers; each keeps a product for its backward, which runs from the last to the first.
constexpr std::string_view kOffloadStep = R"(
  kind train_step
  x: f32[64,64] = input
  a: f32[64,64] = aten.sin(x)  {layers.0 MUST_CPU_OFFLOAD}
  b: f32[64,64] = aten.exp(a)  {layers.0}
  c: f32[64,64] = aten.sin(b)  {layers.1}
  d: f32[64,64] = aten.exp(c)  {layers.1}
  e: f32[64,64] = aten.sin(d)  {layers.2}
  f: f32[64,64] = aten.exp(e)  {layers.2}
  h: f32[64,64] = aten.cos(e)  {backward layers.2}
  i: f32[64,64] = aten.mul.Tensor(h, h)  {backward layers.2}
  j: f32[64,64] = aten.mul.Tensor(i, c)  {backward layers.1}
  k: f32[64,64] = aten.mul.Tensor(j, a)  {backward layers.0}
  l: f32[64,64] = aten.mul.Tensor(k, a)  {backward layers.0}
  return [f, l]
)";

Graph offloaded(std::string_view text, const CpuOffloadOptions& options = {},
                Edit* made = nullptr) {
  Graph graph = parse(text);
  const std::string before = write_native(graph);
  const auto edit = must(apply_cpu_offload(graph, options));
  const auto inverse = must(apply(graph, edit));
  Graph back = graph;
  EXPECT_TRUE(apply(back, inverse));
  EXPECT_EQ(write_native(back), before);
  if (made != nullptr) *made = edit;
  return graph;
}

// Constants differ from rank to rank: here, the part of a value that a rank reads.
TEST(CpuOffload, TheEditKeepsTheConstantsOfAnotherRank) {
  const auto rank = [](int first) {
    return parse(fmt::format(R"(
      kind train_step
      x: f32[8] = input
      a: f32[8] = aten.sin(x)  {{MUST_CPU_OFFLOAD}}
      v: f32[4] = aten.slice.Tensor(a, 0, {0}, {1})
      f: f32[4] = aten.exp(v)
      k: f32[4] = aten.mul.Tensor(v, {0})  {{backward}}
      l: f32[8] = aten.mul.Tensor(a, {0})  {{backward}}
      return [f, k, l])",
                             first, first + 4));
  };
  const auto edit = must(apply_cpu_offload(rank(0)));
  Graph other = rank(4);
  ASSERT_TRUE(apply(other, edit));
  const auto inputs = other.inputs(other.find("k"));
  ASSERT_EQ(inputs.size(), 1U);
  EXPECT_NE(inputs.front(), other.find("v"));
  EXPECT_THAT(canonical_call(other, inputs.front()), HasSubstr(",0,4,8) -> float32[4]"));
  EXPECT_THAT(canonical_call(other, other.find("k")), HasSubstr(",4) -> float32[4]"));
  EXPECT_THAT(canonical_call(other, other.find("l")), HasSubstr(",4) -> float32[8]"));
  EXPECT_NE(other.inputs(other.find("l")).front(), other.find("a"));
}

TEST(CpuOffload, AWaitFollowsTheCopyOfAValueThatOnlyTheBackwardReads) {
  const Graph graph = offloaded(R"(
    kind train_step
    x: f32[8,8] = input
    a: f32[8,8] = aten.sin(x)  {MUST_CPU_OFFLOAD}
    h: f32[8,8] = aten.exp(a)  {backward}
    return [h])",
                                {.defer_layers = 0, .prefetch_layers = 0});
  EXPECT_THAT(names(graph), ElementsAre("x", "a", "offload_default", "wait_tensor_default",
                                        "reload_default", "wait_tensor_default_1", "h", "output"));
}

// Views repeated for the first value must not count as calls that the second could precede.
TEST(CpuOffload, ACopyBackStartsBeforeItsWait) {
  const Graph graph = offloaded(R"(
    kind train_step
    x: f32[8,8] = input
    a: f32[8,8] = aten.sin(x)  {layers.1 MUST_CPU_OFFLOAD}
    v: f32[64] = aten.view(a, [64])  {layers.1}
    b: f32[8,8] = aten.exp(a)  {layers.1 MUST_CPU_OFFLOAD}
    f: f32[8,8] = aten.exp(b)  {layers.1}
    h: f32[64] = aten.mul.Tensor(v, b)  {backward layers.0}
    k: f32[8,8] = aten.sin(f)  {backward layers.1}
    l: f32[8,8] = aten.sin(k)  {backward layers.0}
    return [f, h, l])");
  for (const NodeId id : graph.order()) {
    if (!graph.is_wait(graph.node(id))) continue;
    const NodeId copy = graph.collective_of_wait(graph.node(id));
    ASSERT_TRUE(copy);
    EXPECT_LT(graph.position(copy), graph.position(id)) << graph.name(id);
  }
}

TEST(CpuOffload, CopiesDuringTheNextLayer) {
  Edit edit;
  const Graph graph = offloaded(kOffloadStep, {}, &edit);
  EXPECT_EQ(edit.title, "Offload 1 result, 16.0 KiB");
  EXPECT_THAT(names(graph), ElementsAre("x", "a", "offload_default", "b", "c", "d",
                                        "wait_tensor_default", "e", "f", "h", "i", "reload_default",
                                        "j", "wait_tensor_default_1", "k", "l", "output"));
  EXPECT_EQ(graph.inputs(graph.find("k")).back(), graph.find("wait_tensor_default_1"));
  EXPECT_EQ(graph.inputs(graph.find("l")).back(), graph.find("wait_tensor_default_1"));
  EXPECT_EQ(graph.inputs(graph.find("b")).front(), graph.find("a"));
  EXPECT_THAT(graph.inputs(graph.find("wait_tensor_default")),
              ElementsAre(graph.find("offload_default"), graph.find("a"), graph.find("b")));
  EXPECT_THAT(graph.inputs(graph.find("wait_tensor_default_1")),
              ElementsAre(graph.find("reload_default"), graph.find("wait_tensor_default")));
  EXPECT_EQ(graph.args(node(graph, "reload_default")).size(), 4U) << "including size and stride";
  const Tensor* host = graph.single_tensor(node(graph, "offload_default"));
  EXPECT_EQ(graph.device_type(*host), DeviceType::cpu);
  EXPECT_EQ(node(graph, "reload_default").phase, Phase::backward);
  EXPECT_EQ(storage_of(graph, "wait_tensor_default"), storage_of(graph, "offload_default"));
}

TEST(CpuOffload, DefersAndPrefetchesAsConfigured) {
  EXPECT_THAT(
      names(offloaded(kOffloadStep, {.defer_layers = 0, .prefetch_layers = 0})),
      ElementsAre("x", "a", "offload_default", "b", "wait_tensor_default", "c", "d", "e", "f", "h",
                  "i", "j", "reload_default", "wait_tensor_default_1", "k", "l", "output"));
  EXPECT_THAT(
      names(offloaded(kOffloadStep, {.defer_layers = 9, .prefetch_layers = 9})),
      ElementsAre("x", "a", "offload_default", "b", "c", "d", "e", "f", "wait_tensor_default",
                  "reload_default", "h", "i", "j", "wait_tensor_default_1", "k", "l", "output"));
  EXPECT_FALSE(apply_cpu_offload(parse(kOffloadStep), {.defer_layers = -1}));
}

TEST(CpuOffload, UsesTheOperatorsOfTheGraphsTorch) {
  Graph graph = parse(kOffloadStep);
  graph.part(PartId(0)).torch_version = "2.11.0+cu128";
  ASSERT_TRUE(apply(graph, *apply_cpu_offload(graph)));
  EXPECT_EQ(graph.args(node(graph, "wait_tensor_default")).size(), 2U);
  EXPECT_EQ(graph.args(node(graph, "reload_default")).size(), 2U);
  EXPECT_EQ(graph.args(node(graph, "wait_tensor_default_1")).size(), 1U);
}

TEST(CpuOffload, RepeatsViewsThatTheBackwardReads) {
  Edit edit;
  const Graph graph = offloaded(R"(
    kind train_step
    x: f32[8] = input
    a: f32[8] = aten.sin(x)  {MUST_CPU_OFFLOAD}
    v: f32[2,4] = aten.view(a, [2, 4])
    t: f32[4,2] = aten.t(v)
    s: (f32[2,2], f32[2,2]) = aten.split.Tensor(t, 2)
    p: f32[2,2] = s[1]
    f: f32[4,2] = aten.exp(t)
    h: f32[2,2] = aten.cos(p)  {backward}
    u: f32[2,4] = aten.t(t)  {backward}
    i: f32[2,4] = aten.cos(u)  {backward}
    return [f, h, i]
  )",
                                {.defer_layers = 0, .prefetch_layers = 0}, &edit);
  EXPECT_THAT(names(graph), ElementsAre("x", "a", "offload_default", "v", "t", "s", "p", "f",
                                        "wait_tensor_default", "reload_default",
                                        "wait_tensor_default_1", "view_default", "t_default",
                                        "split_tensor", "getitem", "h", "u", "i", "output"));
  EXPECT_EQ(graph.inputs(graph.find("h")).front(), graph.find("getitem"));
  EXPECT_EQ(graph.inputs(graph.find("u")).front(), graph.find("t_default"));
  EXPECT_EQ(graph.inputs(graph.find("f")).front(), graph.find("t"));
  for (const char* name : {"view_default", "getitem", "u"})
    EXPECT_EQ(storage_of(graph, name), storage_of(graph, "reload_default")) << name;
}

TEST(CpuOffload, KeepsWhatIsStillNeeded) {
  for (const auto& [text, note] : {std::pair(R"(
    kind train_step
    x: f32[8] = input
    a: f32[8] = aten.sin(x)  {MUST_CPU_OFFLOAD}
    v: f32[2,4] = aten.view(a, [2, 4])
    g: f32[8] = aten.cos(a)  {backward}
    return [v, g]
  )",
                                             "it is returned"),
                                   std::pair(R"(
    kind train_step
    x: f32[8] = input
    a: f32[8] = aten.sin(x)  {MUST_CPU_OFFLOAD}
    g: f32[8] = aten.cos(a)  {backward}
    b: f32[8] = aten.exp(a)
    return [b, g]
  )",
                                             "the forward still reads it")}) {
    Edit edit;
    offloaded(text, {}, &edit);
    EXPECT_THAT(edit.changes, IsEmpty());
    EXPECT_THAT(edit.notes, ElementsAre(HasSubstr(note)));
  }
}

TEST(CpuOffload, KeepsWhatIsWrittenLater) {
  Edit edit;
  const Graph graph = offloaded(R"(
    kind train_step
    x: f32[8] = input
    a: f32[8] = aten.sin(x)  {MUST_CPU_OFFLOAD}
    b: f32[8] = aten.add_.Tensor(a, 1)
    c: f32[8] = aten.exp(b)
    g: f32[8] = aten.cos(a)  {backward}
    return [c, g]
  )",
                                {}, &edit);
  EXPECT_THAT(edit.changes, IsEmpty());
  EXPECT_THAT(
      edit.notes,
      ElementsAre(HasSubstr("1 result stays on the device: its memory is written to later")));
}

TEST(CpuOffload, RecomputedCallsReadTheReload) {
  // `n` of the second layer is recomputed from `a` of the first, before the first layer's own use.
  Graph graph = offloaded(R"(
    kind train_step
    x: f32[8] = input
    a: f32[8] = aten.sin(x)  {layers.0 MUST_CPU_OFFLOAD}
    n: f32[8] = aten.exp(a)  {layers.1 MUST_RECOMPUTE}
    o: f32[8] = aten.cos(n)  {layers.1}
    g: f32[8] = aten.cos(n)  {backward layers.1}
    h: f32[8] = aten.mul.Tensor(g, a)  {backward layers.0}
    return [o, h]
  )",
                          {.defer_layers = 0, .prefetch_layers = 0});
  const auto edit = must(selective_activation_remat(graph));
  ASSERT_TRUE(apply(graph, edit));
  EXPECT_THAT(names(graph), ElementsAre("x", "a", "offload_default", "n", "wait_tensor_default",
                                        "o", "reload_default", "wait_tensor_default_1",
                                        "n_recomputed", "g", "h", "output"));
  EXPECT_EQ(graph.inputs(graph.find("n_recomputed")).front(), graph.find("wait_tensor_default_1"));
}

TEST(CpuOffload, ARecomputedViewIsAViewOfTheReload) {
  Graph graph = offloaded(R"(
    kind train_step
    x: f32[8,8] = input
    a: f32[8,8] = aten.sin(x)  {layers.0 MUST_CPU_OFFLOAD}
    v: f32[8,8] = aten.t(a)  {layers.1 MUST_RECOMPUTE}
    o: f32[8,8] = aten.cos(v)  {layers.1}
    g: f32[8,8] = aten.cos(v)  {backward layers.1}
    return [o, g]
  )",
                          {.defer_layers = 0, .prefetch_layers = 0});
  const auto edit = must(selective_activation_remat(graph));
  ASSERT_TRUE(apply(graph, edit));
  const auto memory = [&](NodeId id) {
    return graph.real_storage(graph.tensors(id).front().storage);
  };
  const NodeId read = graph.inputs(graph.find("g")).front();
  EXPECT_NE(read, graph.find("v"));
  EXPECT_EQ(memory(read), memory(graph.find("reload_default")));
  EXPECT_EQ(memory(graph.find("v")), memory(graph.find("a")));
  EXPECT_NE(memory(read), memory(graph.find("a")));
}

// The indices are the second result of `m`, but the only tensor of the value that is copied back.
TEST(CpuOffload, ARecomputedViewOfAPartIsAViewOfTheReload) {
  Graph graph = offloaded(R"(
    kind train_step
    x: f32[8,8] = input
    m: (f32[8,4], i64[8,4]) = aten.topk(x, 4)  {layers.0}
    i: i64[8,4] = _operator.getitem(m, 1)  {layers.0 MUST_CPU_OFFLOAD}
    v: i64[32] = aten.view(i, [32])  {layers.1 MUST_RECOMPUTE}
    o: i64[32] = aten.neg(v)  {layers.1}
    g: i64[32] = aten.neg(v)  {backward layers.1}
    return [o, g]
  )",
                          {.defer_layers = 0, .prefetch_layers = 0});
  const auto edit = must(selective_activation_remat(graph));
  const auto applied = apply(graph, edit);
  ASSERT_TRUE(applied) << applied.error().message;
  const auto memory = [&](NodeId id) {
    return graph.real_storage(graph.tensors(id).front().storage);
  };
  const NodeId read = graph.inputs(graph.find("g")).front();
  EXPECT_NE(read, graph.find("v"));
  EXPECT_EQ(memory(read), memory(graph.find("reload_default")));
  EXPECT_EQ(memory(graph.find("v")), memory(graph.find("i")));
}

TEST(CpuOffload, AcceptsTheTrainingStepOfTheCaptures) {
  JOINTER_NEEDS_SHARED();
  auto graph = must(open_graph({.path = capture_path("llama_like_train_step"), .backward = {}}));
  ASSERT_TRUE(apply(graph, *tag_with_memory_policy(graph, "sac_and_offload")));
  const auto edit = must(apply_cpu_offload(graph));
  EXPECT_FALSE(edit.changes.empty());
  const auto inverse = apply(graph, edit);
  ASSERT_TRUE(inverse) << inverse.error().message;
  const auto remat = must(selective_activation_remat(graph));
  EXPECT_FALSE(remat.changes.empty());
  const auto undo = apply(graph, remat);
  ASSERT_TRUE(undo) << undo.error().message;
}

}  // namespace
}  // namespace jointer::test
