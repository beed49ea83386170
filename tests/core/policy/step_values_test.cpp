// The values of a flat training step and the reasons for them, and its tags applied as one edit.

#include "core/policy/step_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <random>

#include "core/capture/native_writer.h"
#include "core/partition/partitioned_values.h"
#include "core/policy/apply_step_tags.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Three layers; the loss's own backward, before that of the layers, reads `c`.
constexpr std::string_view kValuesStep = R"(
  kind train_step
  x: f32[64,64] = input
  a: f32[64,64] = aten.sin(x)  {layers.0}
  b: f32[64,64] = aten.exp(a)  {layers.0}
  c: f32[64,64] = aten.sin(b)  {layers.1}
  v: f32[4096] = aten.view(b, [4096])  {layers.1}
  d: f32[64,64] = aten.exp(c)  {layers.1}
  l: f32[] = aten.sum(d)  {loss}
  g: f32[64,64] = aten.cos(c)  {backward loss}
  h: f32[64,64] = aten.mul.Tensor(g, d)  {backward layers.1}
  i: f32[64,64] = aten.mul.Tensor(h, c)  {backward layers.1}
  j: f32[4096] = aten.sin(v)  {backward layers.0}
  k: f32[64,64] = aten.mul.Tensor(i, b)  {backward layers.0}
  return [l, j, k]
)";

using Tags = std::map<std::string, MemoryPolicy>;

Graph tagged(std::string_view text, const Tags& tags) {
  Graph graph = parse(text);
  for (const auto& [name, policy] : tags) graph.node(graph.find(name)).policy = policy;
  return graph;
}

std::vector<SaveCandidate> kept_of(const Graph& graph) {
  return partitioned_values(graph, std::vector<NodeCost>(graph.node_count(), NodeCost{.ns = 5}),
                            std::vector<Flops>(graph.node_count()))
      .value();
}

// Lines such as "a save: the backward reads it, and it has no tag".
std::vector<std::string> reported(const Graph& graph) {
  Graph step = graph;
  if (const auto done = apply_step_tags(step); !done)
    throw std::runtime_error(done.error().message);
  std::vector<std::string> lines;
  for (const StepValue& value : step_values(graph, step, kept_of(step)))
    lines.push_back(fmt::format("{} {}: {}", graph.name(value.node), to_string(value.action),
                                to_sentence(value.reason, graph.node(value.node).policy)));
  return lines;
}

TEST(StepValues, AreReadByTheBackwardWithoutTags) {
  EXPECT_THAT(reported(parse(kValuesStep)),
              ElementsAre("b save: the backward reads it, and it has no tag",
                          "c save: the backward reads it, and it has no tag",
                          "v save: the backward reads it, and it has no tag",
                          "d save: the backward reads it, and it has no tag"));
}

TEST(StepValues, ReportTheEffectOfATag) {
  const Graph graph = tagged(kValuesStep, {{"b", MemoryPolicy::must_recompute},
                                           {"c", MemoryPolicy::prefer_recompute},
                                           {"d", MemoryPolicy::must_save}});
  EXPECT_THAT(
      reported(graph),
      ElementsAre("a save: a recomputed call reads it, and it has no tag",
                  "b recompute: tagged MUST_RECOMPUTE",
                  "c save: tagged PREFER_RECOMPUTE, but the backward reads it before it "
                  "recomputes anything",
                  "v save: the backward reads it, and it has no tag", "d save: tagged MUST_SAVE"));
}

TEST(StepValues, ReportWhatCannotLeaveTheDevice) {
  // The backward reads `v`, a view of `b`, which is repeated on the reload; and `a` only to
  // recompute `b`.
  EXPECT_EQ(reported(tagged(kValuesStep, {{"b", MemoryPolicy::must_cpu_offload}}))[0],
            "b offload: tagged MUST_CPU_OFFLOAD");
  EXPECT_THAT(reported(tagged(kValuesStep, {{"a", MemoryPolicy::must_cpu_offload},
                                            {"b", MemoryPolicy::must_recompute}}))[0],
              HasSubstr("a save: tagged MUST_CPU_OFFLOAD, but it stays on the device: only"));
  EXPECT_THAT(reported(tagged(kValuesStep, {{"d", MemoryPolicy::must_cpu_offload}})).back(),
              "d offload: tagged MUST_CPU_OFFLOAD");
}

TEST(StepValues, WhatTheStepAlreadyDoesIsNotAttributedToTags) {
  Graph step = tagged(kValuesStep, {{"b", MemoryPolicy::must_recompute},
                                    {"v", MemoryPolicy::must_recompute},
                                    {"d", MemoryPolicy::must_cpu_offload}});
  ASSERT_TRUE(apply_step_tags(step));
  const std::vector<std::string> again = reported(step);
  const auto has = [&](const std::string& begin) {
    return std::ranges::any_of(again, [&](const std::string& line) {
      return line.starts_with(begin) && line.ends_with("and later tags do not undo that");
    });
  };
  EXPECT_TRUE(has("b_recomputed recompute")) << testing::PrintToString(again);
  EXPECT_TRUE(has("d offload")) << testing::PrintToString(again);
  EXPECT_FALSE(has("c save"));
}

// A call that moves memory is not a value, so it is neither saved nor recomputed.
TEST(StepValues, ExcludeCopiesToTheHost) {
  Graph step = tagged(kValuesStep, {{"d", MemoryPolicy::must_cpu_offload}});
  ASSERT_TRUE(apply_step_tags(step));
  const PlanFigures figures = partitioned_figures(step, kept_of(step));
  EXPECT_EQ(figures.recomputed, 0U);
  EXPECT_EQ(figures.offloaded_bytes, 64 * 64 * 4);
  for (const SaveCandidate& each : kept_of(step))
    EXPECT_FALSE(std::string(step.name(each.node)).find("ao") == 0) << step.name(each.node);
}

TEST(StepTagsEdit, EqualsTheEditsInSequence) {
  const Graph graph = tagged(kValuesStep, {{"b", MemoryPolicy::must_recompute},
                                           {"v", MemoryPolicy::must_recompute},
                                           {"d", MemoryPolicy::must_cpu_offload}});
  Graph one = graph, other = graph;
  ASSERT_EQ(apply_step_tags(one)->size(), 2U);
  const auto edit = must(step_tags_edit(graph));
  EXPECT_THAT(edit.by, AllOf(HasSubstr("apply_cpu_offload"), HasSubstr(",selective_activation")));
  const auto inverse = must(apply(other, edit));
  EXPECT_EQ(write_native(other), write_native(one));
  // Applying once is enough.
  EXPECT_THAT(step_tags_edit(other)->changes, IsEmpty());
  ASSERT_TRUE(apply(other, inverse));
  EXPECT_EQ(write_native(other), write_native(graph));
}

TEST(StepTagsEdit, FailsWithTheErrorOfThePass) {
  const auto edit = step_tags_edit(tagged(R"(
    kind train_step
    x: f32[8] = input
    r: f32[8] = aten.bernoulli(x)
    g: f32[8] = aten.cos(r)  {backward}
    return [r, g]
  )",
                                          {{"r", MemoryPolicy::must_recompute}}));
  ASSERT_FALSE(edit);
  EXPECT_THAT(edit.error().message, HasSubstr("draws random numbers"));
}

// Each value appears once, and their sums equal the totals of the step.
RC_GTEST_PROP(StepValuesProperty, AddUp, (std::uint64_t seed)) {
  Graph graph = random_graph(seed, {.calls = 60});
  graph.part(PartId(0)).kind = CaptureKind::train_step;
  std::mt19937_64 random(seed);
  for (const NodeId id : graph.order()) {
    Node& n = graph.node(id);
    if (n.kind != NodeKind::call || graph.op(n).has(OperatorTag::random) || graph.op(n).mutates)
      continue;
    n.policy = random() % 3 == 0   ? MemoryPolicy::must_recompute
               : random() % 5 == 0 ? MemoryPolicy::must_cpu_offload
                                   : MemoryPolicy::none;
  }
  Graph step = graph;
  if (!apply_step_tags(step)) {
    RC_TAG("refused");
    return;
  }
  const std::vector<SaveCandidate> kept = kept_of(step);
  const std::vector<StepValue> values = step_values(graph, step, kept);
  std::int64_t saved = 0, offloaded = 0;
  std::vector<bool> has(graph.node_count(), false);
  for (const StepValue& value : values) {
    RC_ASSERT(graph.is_live(value.node));
    RC_ASSERT(!has[value.node.index()]);
    has[value.node.index()] = true;
    if (value.action == PlanAction::save) saved += value.bytes;
    if (value.action == PlanAction::offload) offloaded += value.bytes;
  }
  const PlanFigures figures = partitioned_figures(step, kept);
  RC_ASSERT(saved == figures.saved_bytes);
  RC_ASSERT(offloaded == figures.offloaded_bytes);
}

}  // namespace
}  // namespace jointer::test
