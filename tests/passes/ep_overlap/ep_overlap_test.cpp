#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/passes/run_pass.h"
#include "tests/support/graphs.h"
#include "tests/support/names.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The two chunks of a module: each sends tokens, computes on them, and returns them. `f` is what
// the first chunk needs, `s` is compute that needs no exchange.
constexpr std::string_view kChunks = R"(
  kind train_step
  group ep: 0 1
  x0: f32[4,4] = input
  x1: f32[4,4] = input
  f0: f32[4,4] = aten.sin(x0)
  d0: f32[4,4] = _c10d_functional.all_to_all_single(f0, [2, 2], [2, 2], 'ep')
  w0: f32[4,4] = _c10d_functional.wait_tensor(d0)
  e0: f32[4,4] = aten.exp(w0)
  c0: f32[4,4] = _c10d_functional.all_to_all_single(e0, [2, 2], [2, 2], 'ep')
  v0: f32[4,4] = _c10d_functional.wait_tensor(c0)
  s0: f32[4,4] = aten.cos(x0)
  o0: f32[4,4] = aten.add.Tensor(v0, s0)
  f1: f32[4,4] = aten.sin(x1)
  d1: f32[4,4] = _c10d_functional.all_to_all_single(f1, [2, 2], [2, 2], 'ep')
  w1: f32[4,4] = _c10d_functional.wait_tensor(d1)
  e1: f32[4,4] = aten.exp(w1)
  c1: f32[4,4] = _c10d_functional.all_to_all_single(e1, [2, 2], [2, 2], 'ep')
  v1: f32[4,4] = _c10d_functional.wait_tensor(c1)
  s1: f32[4,4] = aten.cos(x1)
  o1: f32[4,4] = aten.add.Tensor(v1, s1)
  y: f32[8,4] = aten.cat([o0, o1])
  return [y]
)";

void mark(Graph& graph, std::string_view name, std::string_view custom) {
  graph.node(graph.find(name)).custom = graph.intern(custom);
}

// Annotates every call with its chunk, and exchanges with their kind.
Graph chunked(std::string_view text = kChunks, bool is_backward = false) {
  Graph graph = parse(text);
  for (const NodeId id : graph.order()) {
    const std::string name(graph.name(id));
    if (graph.node(id).kind != NodeKind::call || name == "y") continue;
    std::string more;
    if (name[0] == 'd') more = R"(,"EP_token_exchange":"dispatch")";
    if (name[0] == 'c') more = R"(,"EP_token_exchange":"combine")";
    mark(graph, name,
         fmt::format(R"({{"chunked_region_role":"body","chunk_id":{},)"
                     R"("chunked_region_fqn":"layers.1.moe","chunked_region_is_backward":{}{}}})",
                     name.back(), is_backward, more));
  }
  return graph;
}

TEST(EpOverlapSchedule, ComputeOfOneChunkOverlapsExchangesOfTheOther) {
  const StepResult step = run_pass(chunked(), "ep_overlap_schedule");
  EXPECT_THAT(calls_of(*step.graph),
              ElementsAre("f0", "f1", "d0", "d1", "s0", "s1", "w0", "e0", "c0", "w1", "e1", "c1",
                          "v0", "o0", "v1", "o1", "y"));
  EXPECT_THAT(reason_of(step, "s0", "scheduled"), HasSubstr("It is ready during dispatch 1"));
  EXPECT_THAT(reason_of(step, "d1", "scheduled"), HasSubstr("chunk 1"));
  EXPECT_THAT(reason_of(step, "e1", "scheduled"),
              HasSubstr("combine 2 of layers.1.moe depends on it"));
}

TEST(EpOverlapSchedule, TheBackwardStartsWithChunkOne) {
  const StepResult step = run_pass(chunked(kChunks, true), "ep_overlap_schedule");
  EXPECT_THAT(calls_of(*step.graph),
              ElementsAre("f1", "f0", "d1", "d0", "s1", "s0", "w1", "e1", "c1", "w0", "e0", "c0",
                          "v1", "o1", "v0", "o0", "y"));
}

TEST(EpOverlapSchedule, WithoutPairsEachChunkSendsWhenItIsReady) {
  const StepResult step =
      run_pass(chunked(), "ep_overlap_schedule{pair_first_token_exchange=false}");
  EXPECT_THAT(calls_of(*step.graph),
              ElementsAre("f0", "d0", "f1", "d1", "s0", "s1", "w0", "e0", "c0", "w1", "e1", "c1",
                          "v0", "o0", "v1", "o1", "y"));
}

TEST(EpOverlapSchedule, LooksThroughNodesOutsideTheChunks) {
  Graph graph = chunked();
  // The exchange of chunk 1 needs `f1` through a node that belongs to no chunk.
  mark(graph, "f1", "{}");
  const StepResult step = run_pass(graph, "ep_overlap_schedule");
  const auto order = calls_of(*step.graph);
  EXPECT_LT(std::ranges::find(order, "f1"), std::ranges::find(order, "d1"));
  EXPECT_TRUE(reason_of(step, "f1", "scheduled").empty());
}

TEST(EpOverlapSchedule, RefusesAPatternThatMatchesNoChunkedModule) {
  for (const std::string pass : {"ep_overlap_schedule", "ep_overlap_validate"})
    EXPECT_THAT(refusal(chunked(), pass + "{module_pattern=\"layers.2.moe\"}"),
                HasSubstr("module_pattern: expected a chunked module in the graph, got "
                          "`layers.2.moe`; the graph has layers.1.moe"));
  EXPECT_THAT(refusal(chunked(),
                      "ep_overlap_schedule{module_pattern=\"layers.2.moe\","
                      "require_all_to_all=true}"),
              HasSubstr("layers.2.moe"));
}

TEST(EpOverlapSchedule, RefusesChunksThatDiffer) {
  Graph one_less = chunked();
  mark(one_less, "c1",
       R"({"chunked_region_role":"body","chunk_id":1,)"
       R"("chunked_region_fqn":"layers.1.moe","chunked_region_is_backward":false})");
  EXPECT_THAT(refusal(one_less, "ep_overlap_schedule"),
              HasSubstr("but chunk 0 has 2 and chunk 1 has 1"));
  EXPECT_THAT(refusal(one_less, "ep_overlap_validate"), HasSubstr("chunk 0 has 2"));
  Graph unknown = chunked();
  mark(unknown, "e1", R"({"chunked_region_role":"body","chunk_id":2})");
  EXPECT_THAT(refusal(unknown, "ep_overlap_schedule"), HasSubstr("e1 is marked"));
  Graph stray = chunked();
  mark(stray, "s1",
       R"({"chunked_region_role":"body","chunk_id":1,)"
       R"("chunked_region_fqn":"layers.1.moe","chunked_region_is_backward":false,)"
       R"("EP_token_exchange":"dispatch"})");
  EXPECT_THAT(refusal(stray, "ep_overlap_schedule"), HasSubstr("s1 (aten.cos.default)"));
  Graph other = chunked();
  mark(other, "d1",
       R"({"chunked_region_role":"body","chunk_id":1,)"
       R"("chunked_region_fqn":"layers.1.moe","chunked_region_is_backward":false,)"
       R"("EP_token_exchange":"send"})");
  EXPECT_THAT(refusal(other, "ep_overlap_schedule"), HasSubstr("d1: the annotation"));
}

TEST(EpOverlapSchedule, OnlyTheLastCopyOfTokenCountsBlocks) {
  std::string text(kChunks);
  for (const std::string chunk : {"0", "1"}) {
    const auto at = text.find("d" + chunk + ": ");
    text.insert(at, fmt::format("device cpu\n  p{0}: f32[4,4] = aten._to_copy(f{0}, "
                                "non_blocking=False)\n  q{0}: f32[4,4] = aten._to_copy(f{0}, "
                                "non_blocking=False)\n  device cuda:0\n  "
                                "r{0}: f32[4,4] = aten._to_copy(p{0})\n  "
                                "t{0}: f32[4,4] = aten._to_copy(q{0})\n  "
                                "u{0}: f32[4,4] = aten.add.Tensor(r{0}, t{0})\n  ",
                                chunk));
    const auto read = text.find("all_to_all_single(f" + chunk);
    text.replace(read, 20, "all_to_all_single(u" + chunk);
  }
  Graph graph = chunked(text);
  for (const std::string name : {"p0", "q0", "p1", "q1"})
    mark(graph, name,
         fmt::format(R"({{"chunked_region_role":"body","chunk_id":{},"EP_token_count_sync":)"
                     R"("dispatch","chunked_region_fqn":"layers.1.moe",)"
                     R"("chunked_region_is_backward":false}})",
                     name.back()));
  const StepResult step = run_pass(graph, "ep_overlap_schedule");
  const auto order = calls_of(*step.graph);
  EXPECT_THAT(std::vector(order.begin(), order.begin() + 6),
              ElementsAre("f0", "f1", "p0", "q0", "p1", "q1"));
  const auto is_asynchronous = [&](std::string_view name) {
    const Graph& after = *step.graph;
    return after.argument(after.node(after.find(name)), "non_blocking")->integer != 0;
  };
  EXPECT_TRUE(is_asynchronous("p0") && is_asynchronous("q0") && is_asynchronous("p1"));
  EXPECT_FALSE(is_asynchronous("q1"));
  EXPECT_THAT(reason_of(step, "q1", "changed"), HasSubstr("waits for this copy"));
}

TEST(EpOverlapSchedule, BucketsWithInheritedAnnotationsBelongToNoChunk) {
  Graph graph = chunked();
  for (const NodeId id : graph.order()) {
    if (!graph.node(id).custom || graph.name(id) == "s0") continue;
    std::string custom(graph.text(graph.node(id).custom));
    custom.insert(1, R"("chunked_region_producer":"eager",)");
    graph.node(id).custom = graph.intern(custom);
  }
  const StepResult step = run_pass(graph, "ep_overlap_schedule");
  EXPECT_TRUE(reason_of(step, "s0", "scheduled").empty());
  EXPECT_FALSE(reason_of(step, "s1", "scheduled").empty());
}

TEST(EpOverlapValidate, ReportsWhatCanOverlapAndChangesNothing) {
  const StepResult step = run_pass(chunked(), "ep_overlap_validate{require_all_to_all=true}");
  EXPECT_EQ(step.moved + step.changed, 0U);
  ASSERT_EQ(step.decisions.size(), 1U);
  EXPECT_EQ(step.decisions[0].reason, "layers.1.moe (forward): 2 token exchanges in each chunk.");
}

constexpr std::string_view kGroups = R"(
  group ep: 0 1
  group dp: 0 1
  x: f32[4,4] = input
  p: f32[2,4] = parameter
  g: f32[4,4] = _c10d_functional.all_gather_into_tensor(p, 2, 'ep')
  w: f32[4,4] = _c10d_functional.wait_tensor(g)
  m: f32[4,4] = aten.mm(x, w)
  a: f32[4,4] = _c10d_functional.all_to_all_single(m, [2, 2], [2, 2], 'ep')
  b: f32[4,4] = _c10d_functional.wait_tensor(a)
  c: f32[4,4] = _c10d_functional.all_to_all_single(b, [2, 2], [2, 2], 'dp')
  d: f32[4,4] = _c10d_functional.wait_tensor(c)
  return [d]
)";

TEST(IsolateEpProcessGroup, AllToAllsLeaveASharedGroup) {
  const StepResult step = run_pass(parse(kGroups), "isolate_ep_process_group");
  const Graph& graph = *step.graph;
  const auto group = [&](std::string_view name) {
    return std::string(graph.text(graph.group(graph.node(graph.find(name)).group).name));
  };
  EXPECT_EQ(group("a"), "ep_ep_extra");
  EXPECT_EQ(group("g"), "ep");
  EXPECT_EQ(group("c"), "dp");
  EXPECT_THAT(reason_of(step, "a", "reassigned"),
              HasSubstr("separate from 1 other collective in ep"));
  EXPECT_THAT(reason_of(step, "c", "kept"), HasSubstr("all-reduce uses group dp"));
  const GroupId twin = graph.node(graph.find("a")).group;
  EXPECT_THAT(graph.group(twin).ranks, ElementsAre(0, 1));
  EXPECT_EQ(run_pass(graph, "isolate_ep_process_group").changed, 0U);
}

}  // namespace
}  // namespace jointer::test
