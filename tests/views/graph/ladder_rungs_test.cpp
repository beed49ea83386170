// Compares the totals of a ladder's rungs under a plan with the plan's own numbers.

#include "views/graph/ladder_rungs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "core/edit/edit.h"
#include "core/open/open.h"
#include "core/partition/partition.h"
#include "core/partition/partitioned_values.h"
#include "core/partition/plan_what_if.h"
#include "core/policy/fsdp_gathers.h"
#include "core/policy/tagging.h"
#include "core/schedule/analysis.h"
#include "tests/support/graphs.h"
#include "tests/support/paths.h"
#include "tests/support/random_graph.h"
#include "views/session/sac/step_state.h"

namespace jointer::views {
namespace {

using testing::ElementsAre;

// A ladder with a plan, and the plan's outcome.
struct Planned {
  Analysis analysis;
  Partition partition;
  Ladder ladder;
  PlanFigures figures;

  [[nodiscard]] std::int64_t bytes(RungState state) const {
    std::int64_t sum = 0;
    for (const LadderRow& row : ladder.rows())
      if (row.parent < 0) sum += row.saved[static_cast<std::size_t>(state)];
    return sum;
  }
  [[nodiscard]] const Rung& rung(const char* producer) const {
    const NodeId node = partition.joint.find(producer);
    for (const Rung& rung : ladder.rungs())
      if (rung.producer == node) return rung;
    throw std::runtime_error(fmt::format("there is no rung of {}", producer));
  }
};

template <class T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

Planned planned(const Graph& graph, const PartitionOptions& options = {},
                const MemoryOptions& memory = {}) {
  Analysis analysis = value_of(analyze(graph, {.memory = memory}));
  Partition partition = value_of(jointer::partition(graph, options));
  Ladder ladder(graph, analysis);
  ladder.show_plan(partition.joint, partition.plan, memory);
  const PlanWhatIf what_if(partition.joint, analysis.costs, analysis.flops, memory, {},
                           {.transfers = analysis.transfers, .partitioner = options.partitioner});
  PlanFigures figures = value_of(what_if.figures(partition.plan));
  return {std::move(analysis), std::move(partition), std::move(ladder), figures};
}

void expect_sums(const Planned& p) {
  EXPECT_EQ(p.bytes(RungState::save), p.figures.saved_bytes);
  EXPECT_EQ(p.bytes(RungState::offload), p.figures.offloaded_bytes);
  EXPECT_EQ(p.bytes(RungState::automatic), 0);
  for (const Rung& rung : p.ladder.rungs())
    for (const NodeId reader : p.ladder.readers(rung))
      EXPECT_EQ(p.partition.joint.node(reader).phase, Phase::backward);
}

Graph sample(const std::string& name) {
  return value_of(open_graph({.path = test::source_path("resources/samples/" + name)}));
}
Graph capture(const std::string& name) {
  return value_of(open_graph({.path = test::shared_directory() + "/captures/" + name}));
}

Graph tagged(Graph graph, const Edit& edit) {
  if (const auto done = apply(graph, edit); !done) throw std::runtime_error(done.error().message);
  return graph;
}

TEST(LadderRungs, AddUpToThePlansSavedBytes) {
  for (const char* name : {"llama_8b_tp2_fsdp2.joint.json.zst", "llama_debug_tp2.joint.json.zst"}) {
    SCOPED_TRACE(name);
    const Graph graph = sample(name);
    expect_sums(planned(graph));
    expect_sums(planned(graph, {.partitioner = Partitioner::default_partition}));
    expect_sums(planned(graph, {.activation_budget = 0.3}));
    expect_sums(planned(graph, {}, {.runs_on = DeviceType::cpu}));
  }
}

TEST(LadderRungs, AddUpIfGatheredParametersAreSaved) {
  const Graph graph = sample("llama_8b_tp2_fsdp2.joint.json.zst");
  const Planned again = planned(tagged(graph, value_of(fsdp_reshard_after_fwd(graph))));
  const Planned saved = planned(tagged(graph, value_of(fsdp_reshard_after_fwd(graph, false))));
  expect_sums(again);
  expect_sums(saved);
  std::set<StorageId> gathers;
  const auto storage_of = [&](NodeId id) {
    return graph.real_storage(graph.tensors(id)[0].storage);
  };
  for (const FsdpGather& gather : fsdp_gathers(graph)) gathers.insert(storage_of(gather.gather));
  const auto gathered = [&](const Planned& p, RungState state) {
    std::int64_t bytes = 0;
    for (const Rung& rung : p.ladder.rungs())
      if (rung.state == state && gathers.contains(storage_of(rung.producer))) bytes += rung.bytes;
    return bytes;
  };
  // A gathered parameter is a rung, whatever its policy.
  EXPECT_GT(gathered(saved, RungState::save), std::int64_t{1} << 30);
  EXPECT_EQ(gathered(again, RungState::save), 0);
  EXPECT_EQ(gathered(again, RungState::recompute), gathered(saved, RungState::save));
}

TEST(LadderRungs, AddUpToThePlansOffloadedBytes) {
  const Graph graph = sample("llama_8b_tp2_fsdp2.joint.json.zst");
  const Planned p =
      planned(tagged(graph, value_of(tag_with_memory_policy(graph, "sac_and_offload"))));
  expect_sums(p);
  EXPECT_GT(p.figures.offloaded_bytes, 0);
}

TEST(LadderRungs, IncludeTensorsSavedForRecomputation) {
  const Graph graph = test::parse(R"(
    x: f32[8,64] = input
    w: f32[64,64] = parameter
    dy: f32[8,64] = tangent
    a: f32[8,64] = aten.mm(x, w)          {m MUST_SAVE}
    b: f32[8,64] = aten.relu(a)           {m MUST_RECOMPUTE}
    c: f32[8,64] = aten.exp(b)            {m MUST_RECOMPUTE}
    y: f32[8,64] = aten.tanh(c)           {m}
    g: f32[8,64] = aten.mul.Tensor(dy, c) {m backward}
    h: f32[8,64] = aten.mul.Tensor(g, b)  {m backward}
    return [y, h]
  )");
  const Planned p = planned(graph);
  expect_sums(p);
  EXPECT_EQ(p.bytes(RungState::save), 8 * 64 * 4);
  EXPECT_EQ(p.rung("a").state, RungState::save);
  EXPECT_THAT(p.ladder.readers(p.rung("a")), ElementsAre(graph.find("g")));
  EXPECT_EQ(p.rung("b").state, RungState::recompute);
  EXPECT_THAT(p.ladder.readers(p.rung("b")), ElementsAre(graph.find("h")));
}

TEST(LadderRungs, CountMergedCallsOnce) {
  // Two calls with the same result are merged, and the plan saves the merged call.
  const Graph graph = test::parse(R"(
    x: f32[8,64] = input
    w: f32[64,64] = parameter
    dy: f32[8,64] = tangent
    a: f32[8,64] = aten.mm(x, w)          {m MUST_SAVE}
    b: f32[8,64] = aten.mm(x, w)          {m MUST_SAVE}
    y: f32[8,64] = aten.add.Tensor(a, b)  {m}
    g: f32[8,64] = aten.mul.Tensor(dy, a) {m backward}
    h: f32[8,64] = aten.mul.Tensor(g, b)  {m backward}
    return [y, h]
  )");
  const Planned p = planned(graph);
  expect_sums(p);
  EXPECT_EQ(p.ladder.rungs().size(), 1U);
  EXPECT_THAT(p.ladder.readers(p.rung("a")), ElementsAre(graph.find("g"), graph.find("h")));
}

TEST(LadderRungs, OfAFlatStepAreItsSavedValues) {
  const Graph graph = sample("llama_debug_fsdp2.train_step.json.zst");
  const Analysis analysis = value_of(analyze(graph));
  Ladder ladder(graph, analysis);
  ladder.show_plan(graph, value_of(plan_of_tags(graph)));
  // The rows of the SAC pane: a storage counts for the first saved value in it.
  std::map<NodeId, std::int64_t> rows, rungs;
  for (const SaveCandidate& each :
       value_of(partitioned_values(graph, analysis.costs_of_operators(), analysis.flops)))
    if (each.bytes > 0) rows.emplace(each.node, each.bytes);
  for (const Rung& rung : ladder.rungs())
    if (rung.state == RungState::save) rungs[rung.producer] += rung.bytes;
  EXPECT_GT(rows.size(), 20U);
  EXPECT_EQ(rungs, rows);
}

TEST(LadderRungs, BelongToTheModuleOfTheSavedView) {
  Planned p = planned(test::parse(R"(
    x: f32[8,64] = input
    w: f32[64,64] = parameter
    dy: f32[512] = tangent
    a: f32[8,64] = aten.mm(x, w)           {m}
    v: f32[512] = aten.view(a, [512])    {n}
    y: f32[512] = aten.tanh(v)             {n}
    g: f32[512] = aten.mul.Tensor(dy, v)   {n backward}
    return [y, g]
  )"));
  // The plan saves only the view, which another module takes.
  p.partition.plan.saved = {p.partition.joint.find("v")};
  p.ladder.show_plan(p.partition.joint, p.partition.plan, {});
  expect_sums(p);
  EXPECT_EQ(p.rung("v").bytes, 8 * 64 * 4);
}

RC_GTEST_PROP(LadderRungsProperty, AddUpForRandomGraphs, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const bool is_default = *rc::gen::arbitrary<bool>();
  const Graph graph =
      test::random_graph(seed, {.calls = 60, .symbols = false, .gradients = true, .writes = false});
  const PartitionOptions options{.partitioner = is_default ? Partitioner::default_partition
                                                           : Partitioner::min_cut};
  if (!partition(graph, options)) RC_DISCARD("it has no legal plan");
  const Planned p = planned(graph, options);
  RC_ASSERT(p.bytes(RungState::save) == p.figures.saved_bytes);
}

TEST(LadderRungsOfCapture, AddUpForDeepSeek) {
  JOINTER_NEEDS_SHARED();
  const Planned p = planned(capture("deepseek_v3_671b_tp8_fsdp32_ep32.joint.json.zst"));
  expect_sums(p);
  EXPECT_GT(p.bytes(RungState::save), std::int64_t{100} << 30);
}

TEST(LadderRungsOfCapture, AddUpForEagerAndGraphTags) {
  JOINTER_NEEDS_SHARED();
  for (const char* name :
       {"llama3_8b_tp2_fsdp2.joint.json.zst", "llama3_8b_tp2_fsdp2_eager_sac.joint.json.zst",
        "llama3_8b_tp2_fsdp2_graph_sac.joint.json.zst",
        "deepseek_v3_debug_tp2_fsdp2_ep2.joint.json.zst"}) {
    SCOPED_TRACE(name);
    expect_sums(planned(capture(name)));
  }
}

}  // namespace
}  // namespace jointer::views
