// Decisions that are allowed, their results, and the errors for those that are not.

#include "core/partition/plan_what_if.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/partition/partitioned_values.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/names.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two layers; d draws random numbers, w is a view.
constexpr const char* kLayers = R"(
  x: f32[128,4] = input
  a: f32[128,4] = aten.sin(x)                   {layers.0}
  b: f32[128,4] = aten.cos(a)                   {layers.0}
  v: f32[512] = aten.view(b, [512])             {layers.0}
  r: f32[512] = aten.bernoulli(v)               {layers.1}
  c: f32[512] = aten.mul.Tensor(v, r)           {layers.1}
  dy: f32[512] = tangent
  gc: f32[512] = aten.mul.Tensor(dy, r)         {layers.1 backward}
  gv: f32[512] = aten.mul.Tensor(gc, v)         {layers.1 backward}
  gb: f32[128,4] = aten.view(gv, [128, 4])      {layers.0 backward}
  ga: f32[128,4] = aten.mul.Tensor(gb, a)       {layers.0 backward}
  return [c, ga]
)";

struct Planned {
  explicit Planned(std::string_view text,
                   Partitioner partitioner = Partitioner::default_partition) {
    partition_ = must(partition(parse(text), {.partitioner = partitioner}));
    costs.resize(partition_.joint.node_count());
    for (const NodeId id : partition_.joint.order())
      if (partition_.joint.node(id).kind == NodeKind::call)
        costs[id.index()] = {.lane = NodeCost::Lane::compute, .ns = 1000};
    what_if = std::make_unique<PlanWhatIf>(partition_.joint, costs,
                                           std::vector<Flops>(partition_.joint.node_count()));
  }
  [[nodiscard]] NodeId at(const char* name) const { return partition_.joint.find(name); }
  [[nodiscard]] std::vector<std::string> names(std::span<const NodeId> ids) const {
    return test::names(partition_.joint, ids);
  }
  [[nodiscard]] SavePlan change(const SavePlan& plan, const char* name, PlanAction action) const {
    const NodeId id = at(name);
    return must(what_if->change(plan, {&id, 1}, action));
  }
  [[nodiscard]] std::string refusal(const SavePlan& plan, const char* name,
                                    PlanAction action) const {
    const NodeId id = at(name);
    const auto changed = what_if->change(plan, {&id, 1}, action);
    return changed ? "" : changed.error().message;
  }
  [[nodiscard]] SaveCandidate candidate(const SavePlan& plan, const char* name) const {
    const std::vector<SaveCandidate> candidates = what_if->candidates(plan).value();
    for (const SaveCandidate& c : candidates)
      if (c.node == at(name)) return c;
    throw std::runtime_error(std::string(name) + " is not a candidate");
  }

  Partition partition_;
  std::vector<NodeCost> costs;
  std::unique_ptr<PlanWhatIf> what_if;
};

TEST(PlanWhatIf, AValueNoLongerSavedIsRecomputed) {
  const Planned p(kLayers);
  EXPECT_THAT(p.names(p.partition_.plan.saved), ElementsAre("a", "v", "r"));
  const SavePlan without_v = p.change(p.partition_.plan, "v", PlanAction::recompute);
  EXPECT_THAT(p.names(without_v.saved), ElementsAre("a", "r"));
  const PlanFigures figures = p.what_if->figures(without_v).value();
  EXPECT_EQ(figures.recomputed, 2U);  // b and v, from a
  EXPECT_EQ(figures.recompute_ns, 2000);
  const SavePlan without_a = p.change(without_v, "a", PlanAction::recompute);
  EXPECT_THAT(p.names(without_a.saved), ElementsAre("x", "r"));
}

TEST(PlanWhatIf, AChangeAndItsInverseRestoreThePlan) {
  const Planned p(kLayers);
  const SavePlan& plan = p.partition_.plan;
  EXPECT_EQ(p.change(p.change(plan, "v", PlanAction::recompute), "v", PlanAction::save), plan);
  EXPECT_EQ(p.change(p.change(plan, "v", PlanAction::offload), "v", PlanAction::save), plan);
}

TEST(PlanWhatIf, ASavedValueThatIsNoLongerNeededIsDropped) {
  const Planned p(kLayers);
  const SavePlan without_v = p.change(p.partition_.plan, "v", PlanAction::recompute);
  const SavePlan with_b = p.change(without_v, "b", PlanAction::save);
  EXPECT_THAT(p.names(with_b.saved), ElementsAre("a", "b", "r"));
  EXPECT_THAT(p.names(p.change(with_b, "v", PlanAction::save).saved), ElementsAre("a", "v", "r"));
}

TEST(PlanWhatIf, ImpossibleChangesAreRefusedInOneSentence) {
  const Planned p(kLayers);
  const SavePlan& plan = p.partition_.plan;
  EXPECT_EQ(p.refusal(plan, "x", PlanAction::save), "x is an input, which is always available");
  EXPECT_EQ(p.refusal(plan, "gc", PlanAction::save), "gc is not a value of the forward");
  EXPECT_EQ(p.refusal(plan, "b", PlanAction::save), "the backward does not need b under this plan");
  EXPECT_THAT(p.refusal(plan, "c", PlanAction::offload),
              HasSubstr("is in memory that the step occupies"));
}

TEST(PlanWhatIf, ManyChangesApplyAsFarAsPossible) {
  const Planned p(kLayers);
  const std::vector<NodeId> all{p.at("a"), p.at("v"), p.at("gc")};
  const PlanChange change =
      p.what_if->change_all(p.partition_.plan, all, PlanAction::recompute).value();
  EXPECT_THAT(p.names(change.plan.saved), ElementsAre("x", "r"));
  ASSERT_EQ(change.refused.size(), 1U);
  EXPECT_EQ(change.refused.front().node, p.at("gc"));
}

// A decision about a call that returns a tuple is about those of its elements that the backward
// needs; it is refused if the backward needs none.
TEST(PlanWhatIf, ATupleIsDecidedByItsNeededElements) {
  const Planned p(R"(
    x: f32[8,4] = input
    y: f32[8,4] = input
    m: (f32[4], i64[4]) = aten.max.dim(x, 0)
    a: f32[4] = _operator.getitem(m, 0)
    i: i64[4] = _operator.getitem(m, 1)
    n: (f32[4], i64[4]) = aten.max.dim(y, 0)
    b: f32[4] = _operator.getitem(n, 0)
    j: i64[4] = _operator.getitem(n, 1)
    c: f32[4] = aten.add.Tensor(a, b)
    d: f32[4] = aten.mul.Tensor(c, i)
    e: f32[4] = aten.mul.Tensor(d, j)
    dy: f32[4] = tangent
    g: f32[4] = aten.mul.Tensor(dy, i)          {backward}
    return [e, g]
  )");
  const NodeId m = p.at("m"), n = p.at("n");
  const SavePlan recomputing = p.what_if->plan_of({}, {}).value();
  const PlanChange change = p.what_if->change_all(recomputing, {&m, 1}, PlanAction::save).value();
  EXPECT_THAT(change.refused, IsEmpty());
  EXPECT_THAT(p.names(change.plan.saved), ElementsAre("i"));
  EXPECT_EQ(p.names(p.change(recomputing, "m", PlanAction::save).saved),
            std::vector<std::string>{"i"});
  EXPECT_EQ(p.refusal(recomputing, "n", PlanAction::save),
            "the backward does not need b under this plan");
  // One of two nodes fits, although two elements of the other are refused.
  const std::vector<NodeId> both{m, n};
  const PlanChange some = p.what_if->change_all(recomputing, both, PlanAction::save).value();
  EXPECT_THAT(p.names(some.plan.saved), ElementsAre("i"));
  EXPECT_EQ(some.refused.size(), 2U);
}

// An element that is decided together with its call is refused on its own.
TEST(PlanWhatIf, AnElementHasARefusalNextToItsTuple) {
  const Planned p(R"(
    x: f32[8,4] = input
    m: (f32[4], i64[4]) = aten.max.dim(x, 0)
    a: f32[4] = _operator.getitem(m, 0)
    i: i64[4] = _operator.getitem(m, 1)
    d: f32[4] = aten.mul.Tensor(a, i)
    dy: f32[4] = tangent
    g: f32[4] = aten.mul.Tensor(dy, i)          {backward}
    return [d, g]
  )");
  const NodeId m = p.at("m"), a = p.at("a"), i = p.at("i");
  const SavePlan recomputing = p.what_if->plan_of({}, {}).value();
  for (const std::vector<NodeId>& nodes : {std::vector{m, a}, std::vector{a, m}}) {
    const PlanChange change = p.what_if->change_all(recomputing, nodes, PlanAction::save).value();
    EXPECT_THAT(p.names(change.plan.saved), ElementsAre("i"));
    ASSERT_EQ(change.refused.size(), 1U);
    EXPECT_EQ(change.refused.front().node, a);
    EXPECT_EQ(change.refused.front().text, "the backward does not need a under this plan");
    EXPECT_FALSE(p.what_if->change(recomputing, nodes, PlanAction::save));
  }
  // The decision about an element prevails over that about its call, in any order.
  const std::vector<MemoryPolicy> none(p.partition_.joint.node_count(), MemoryPolicy::none);
  std::vector<MemoryPolicy> now = none;
  now[m.index()] = MemoryPolicy::must_recompute;
  now[i.index()] = MemoryPolicy::must_save;
  const PlanChange change = p.what_if->apply_policies(recomputing, none, now).value();
  EXPECT_THAT(p.names(change.plan.saved), ElementsAre("i"));
  EXPECT_THAT(change.refused, IsEmpty());
}

TEST(PlanWhatIf, AChainSavesWhatCannotBeRecomputed) {
  const Planned p(R"(
    x: f32[128] = input
    r: f32[128] = aten.bernoulli(x)
    s: f32[128] = aten.sin(r)
    c: f32[128] = aten.cos(s)
    dy: f32[128] = tangent
    g: f32[128] = aten.mul.Tensor(dy, s)  {backward}
    return [c, g]
  )");
  EXPECT_THAT(p.names(p.partition_.plan.saved), ElementsAre("s"));
  const NodeId s = p.at("s");
  const PlanChange change =
      p.what_if->change_all(p.partition_.plan, {&s, 1}, PlanAction::recompute).value();
  EXPECT_THAT(p.names(change.plan.saved), ElementsAre("r"));
  ASSERT_EQ(change.saved.size(), 1U);
  EXPECT_EQ(change.saved.front().text,
            "r draws random numbers: it is recomputed only if a tag or a decision asks for it");
}

// One kind of device, random operator and partitioner.
struct RandomCase {
  const char* device;
  const char* calls;  // `r` is the value that the backward reads
  Partitioner partitioner;
};

// The user's decision and the same tag in the capture give the same pair, with the same states.
TEST(PlanWhatIf, ADecisionOnARandomCallIsATag) {
  constexpr const char* kOne = "r: f32[4096] = aten.bernoulli(x) {TAG}";
  constexpr const char* kTuple = R"(
      d: (f32[4096], bool[4096]) = aten.native_dropout(x, 0.5, True) {TAG}
      r: f32[4096] = d[0] {TAG})";
  for (const Partitioner partitioner : {Partitioner::min_cut, Partitioner::default_partition})
    for (const RandomCase& c :
         {RandomCase{"cpu", kOne, partitioner}, RandomCase{"cuda", kOne, partitioner},
          RandomCase{"cpu", kTuple, partitioner}}) {
      const auto graph = [&](std::string_view tag) {
        std::string text = fmt::format(R"(
          device {}
          x: f32[4096] = input
          dy: f32[4096] = tangent
          {}
          y: f32[4096] = aten.sin(r)
          g: f32[4096] = aten.mul.Tensor(dy, r)  {{backward}}
          return [y, g]
        )",
                                       c.device, c.calls);
        for (std::size_t at; (at = text.find("{TAG}")) != std::string::npos;)
          text.replace(at, 5, tag);
        return text;
      };
      const Planned tagged(graph("{MUST_RECOMPUTE}"), c.partitioner),
          plain(graph(""), c.partitioner);
      EXPECT_GT(plain.candidate(plain.partition_.plan, "r").chain, 0U);
      const SavePlan ticked = plain.change(plain.partition_.plan, "r", PlanAction::recompute);
      EXPECT_THAT(plain.names(ticked.saved), ElementsAre("x"));
      const auto wanted = tagged.what_if->evaluate(tagged.partition_.plan).value();
      const auto reported = plain.what_if->evaluate(ticked).value();
      EXPECT_EQ(reported.figures, wanted.figures);
      EXPECT_EQ(reported.profile, wanted.profile);
      const auto targets = [](const Graph& pair) {
        std::vector<std::string_view> all;
        for (const NodeId id : pair.order()) all.push_back(pair.target(pair.node(id)));
        return all;
      };
      const Graph pair = emit_pair(plain.partition_.joint, ticked).value();
      EXPECT_EQ(targets(pair),
                targets(emit_pair(tagged.partition_.joint, tagged.partition_.plan).value()));
      EXPECT_TRUE(std::ranges::equal(reported.profile, MemoryTimeline(pair).profile()));
      // And back to the original decision.
      EXPECT_EQ(plain.change(ticked, "r", PlanAction::save), plain.partition_.plan);
    }
}

// A random call that is recomputed on the CPU saves the state of its generator: 5,056 bytes.
TEST(PlanWhatIf, StatesOfGeneratorsAreCounted) {
  const auto planned = [](std::string_view tag) {
    return Planned(fmt::format(R"(
      device cpu
      x: f32[4096] = input
      dy: f32[4096] = tangent
      r: f32[4096] = aten.rand_like(x)     {{{0}}}
      s: f32[4096] = aten.rand_like(x)     {{{0}}}
      y: f32[4096] = aten.mul.Tensor(r, s)
      g: f32[4096] = aten.mul.Tensor(dy, r)  {{backward}}
      h: f32[4096] = aten.mul.Tensor(g, s)   {{backward}}
      return [y, h]
    )",
                               tag));
  };
  const Planned again = planned("MUST_RECOMPUTE"), saved = planned("MUST_SAVE");
  const auto of = [](const Planned& p) { return *p.what_if->evaluate(p.partition_.plan); };
  constexpr std::int64_t kState = 5056, kValue = 4096 * 4;
  EXPECT_EQ(of(again).figures.recomputed, 2U);
  EXPECT_EQ(of(again).figures.saved_bytes, 2 * kState);
  EXPECT_EQ(of(saved).figures.saved_bytes, 2 * kValue);
  const auto pair = must(emit_pair(again.partition_.joint, again.partition_.plan));
  const MemoryTimeline memory(pair);
  EXPECT_TRUE(std::ranges::equal(of(again).profile, memory.profile()));
  // The state is live from the call on, in addition to the call's result.
  EXPECT_EQ(memory.profile()[1], 2 * kValue + kState);
}

TEST(PlanWhatIf, OverwrittenValuesAreNotReadAgain) {
  const Planned p(R"(
    x: f32[128] = input
    y: f32[128] = aten.sin(x)
    z: f32[128] = aten.cos(y)
    w: f32[128] = aten.copy_(x, z)
    dy: f32[128] = tangent
    g: f32[128] = aten.mul.Tensor(dy, y)  {backward}
    return [w, z, g]
  )");
  EXPECT_EQ(p.refusal(p.partition_.plan, "y", PlanAction::recompute),
            "y uses memory that is written to later: its result would differ if recomputed");
}

TEST(PlanWhatIf, CandidatesHaveTheirCosts) {
  const Planned p(kLayers);
  const SavePlan& plan = p.partition_.plan;
  const SaveCandidate v = p.candidate(plan, "v");
  EXPECT_EQ(v.bytes, 2048);
  EXPECT_EQ(v.chain, 2U);
  EXPECT_EQ(v.recompute_ns, 2000);
  EXPECT_EQ(v.action, PlanAction::save);
  EXPECT_EQ(p.candidate(plan, "r").chain, 1U);
  // b occupies the memory of its saved view, and vice versa.
  const SavePlan with_b =
      p.change(p.change(plan, "v", PlanAction::recompute), "b", PlanAction::save);
  EXPECT_EQ(p.candidate(with_b, "b").bytes, 2048);
  EXPECT_EQ(p.candidate(with_b, "v").bytes, 0);
  EXPECT_EQ(p.candidate(with_b, "v").action, PlanAction::recompute);
  EXPECT_EQ(p.candidate(p.change(plan, "v", PlanAction::offload), "v").action, PlanAction::offload);
}

TEST(PlanWhatIf, SavedValuesAtThePeakAreRanked) {
  const Planned p(kLayers);
  const auto outcome = p.what_if->evaluate(p.partition_.plan).value();
  const std::vector<SaveCandidate> alive =
      p.what_if->saved_at(p.partition_.plan, 2 * outcome.forward_steps).value();
  std::vector<NodeId> ids;
  for (const SaveCandidate& c : alive) ids.push_back(c.node);
  // a takes 1 us, and so does r from v, which takes 2.
  EXPECT_THAT(p.names(ids), ElementsAre("a", "r", "v"));
  EXPECT_THAT(p.what_if->saved_at(p.partition_.plan, 0).value(), IsEmpty());
}

TEST(PlanWhatIf, AnOffloadedValueIsOnTheHostBetweenTheHalves) {
  const Planned p(kLayers);
  const SavePlan& plan = p.partition_.plan;
  const SavePlan offloaded = p.change(plan, "a", PlanAction::offload);
  const PlanFigures before = p.what_if->figures(plan).value();
  const PlanFigures after = p.what_if->figures(offloaded).value();
  EXPECT_EQ(after.offloaded_bytes, 2048);
  EXPECT_EQ(after.saved_bytes, before.saved_bytes - 2048);
  const Graph pair = emit_pair(p.partition_.joint, offloaded).value();
  const NodeId copy = pair.find("async_cpu_offload_a"), back = pair.find("gpu_reload_a");
  ASSERT_TRUE(copy && back);
  // Copied after its last use in layer 0, and waited for at the end of layer 1.
  EXPECT_EQ(pair.position(copy), pair.position(pair.find("b")) + 1);
  EXPECT_GT(pair.position(pair.find("cpu_offload_a")), pair.position(pair.find("c")));
  // Reloaded before layer 1's backward, and waited for where it is read.
  EXPECT_LT(pair.position(pair.find("async_gpu_reload_a")), pair.position(pair.find("gc")));
  EXPECT_EQ(pair.position(back) + 1, pair.position(pair.find("ga")));
}

TEST(PlanWhatIf, NamesTheCallAtEachPointOfTheProfile) {
  const Planned p(kLayers);
  const SavePlan plan =
      p.change(p.change(p.partition_.plan, "a", PlanAction::offload), "v", PlanAction::recompute);
  const auto outcome = p.what_if->evaluate(plan).value();
  const Graph pair = emit_pair(p.partition_.joint, plan).value();
  const MemoryTimeline memory(pair);
  ASSERT_EQ(outcome.steps.size(), memory.steps().size());
  ASSERT_EQ(outcome.profile.size(), 1 + 2 * outcome.steps.size());
  std::size_t copies = 0;
  for (std::size_t step = 0; step < outcome.steps.size(); ++step) {
    const std::string_view name = pair.name(memory.steps()[step]);
    if (name.find("load_a") != std::string_view::npos) {
      ++copies;
      EXPECT_EQ(outcome.steps[step], p.at("a"));
    } else {
      EXPECT_EQ(p.partition_.joint.name(outcome.steps[step]), name);
    }
  }
  EXPECT_EQ(copies, 4U);  // to the host and back, and the waits for both
}

TEST(PlanWhatIf, PoliciesOverAPlan) {
  const Planned p(kLayers);
  const SavePlan& plan = p.partition_.plan;
  const std::vector<MemoryPolicy> solved(p.partition_.joint.node_count(), MemoryPolicy::none);
  EXPECT_EQ(p.what_if->apply_policies(plan, solved, solved).value().plan, plan);
  std::vector<MemoryPolicy> now = solved;
  now[p.at("v").index()] = MemoryPolicy::prefer_recompute;
  now[p.at("a").index()] = MemoryPolicy::must_cpu_offload;
  const SavePlan changed = p.what_if->apply_policies(plan, solved, now).value().plan;
  EXPECT_THAT(p.names(changed.saved), ElementsAre("a", "r"));
  EXPECT_THAT(p.names(changed.offloaded), ElementsAre("a"));
}

TEST(PartitionedValues, AreTheSavedAndRecomputedValuesOfAPair) {
  const Planned p(kLayers);
  const SavePlan plan =
      p.change(p.change(p.partition_.plan, "v", PlanAction::recompute), "a", PlanAction::offload);
  const Graph pair = emit_pair(p.partition_.joint, plan).value();
  const std::vector<NodeCost> costs(pair.node_count(), NodeCost{.ns = 5});
  const auto rows = partitioned_values(pair, costs, std::vector<Flops>(pair.node_count())).value();
  std::vector<std::string> reported;
  for (const SaveCandidate& row : rows)
    reported.push_back(
        fmt::format("{} {} {}", to_string(row.action), pair.name(row.node), row.bytes));
  EXPECT_THAT(reported,
              ElementsAre("offload a 2048", "save r 2048", "recompute b 2048", "recompute v 0"));
  EXPECT_FALSE(partitioned_values(p.partition_.joint, costs, {}));
}

TEST(PartitionedValues, OtherGraphsAreRefusedByTheirKind) {
  Graph graph = parse(kLayers);
  for (const auto& [kind, name] : {std::pair(CaptureKind::joint, "a joint graph"),
                                   std::pair(CaptureKind::backward, "a single half"),
                                   std::pair(CaptureKind::subgraph, "a subgraph")}) {
    graph.part(PartId(0)).kind = kind;
    const auto rows = partitioned_values(graph, {}, {});
    ASSERT_FALSE(rows);
    EXPECT_THAT(rows.error().message, testing::StartsWith(name + std::string(" has no save")));
  }
}

}  // namespace
}  // namespace jointer::test
