// Differences between plans of one joint graph, between a joint graph and its pair, and between
// flat training steps. The sums over the rows are the differences of the plans' numbers.

#include "core/partition/plan_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/cost/node_flops.h"
#include "core/partition/partitioned_values.h"
#include "core/policy/apply_step_tags.h"
#include "tests/support/graphs.h"
#include "tests/support/joints.h"
#include "tests/support/must.h"
#include "tests/support/random_costs.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PlanAmounts amounts_of(const PlanFigures& figures) {
  return {.saved_bytes = figures.saved_bytes,
          .offloaded_bytes = figures.offloaded_bytes,
          .recompute_ns = figures.recompute_ns};
}

PlanAmounts change_of(const PlanFigures& from, const PlanFigures& to) {
  return {.saved_bytes = to.saved_bytes - from.saved_bytes,
          .offloaded_bytes = to.offloaded_bytes - from.offloaded_bytes,
          .recompute_ns = to.recompute_ns - from.recompute_ns};
}

PlanAmounts sum_of(const std::vector<PlanRow>& rows) {
  PlanAmounts sum;
  for (const PlanRow& row : rows)
    sum += {.saved_bytes = row.saved_bytes,
            .offloaded_bytes = row.offloaded_bytes,
            .recompute_ns = row.recompute_ns};
  return sum;
}

PlanAmounts sum_of(const std::vector<PlanChangeGroup>& groups) {
  PlanAmounts sum;
  for (const PlanChangeGroup& group : groups) sum += group.change;
  return sum;
}

// A joint graph whose calls take 1,000 ns each.
struct Planned {
  explicit Planned(Graph graph) {
    partition_ = must(partition(graph, {}));
    costs.resize(partition_.joint.node_count());
    for (const NodeId id : partition_.joint.order())
      if (partition_.joint.node(id).kind == NodeKind::call)
        costs[id.index()] = {.lane = NodeCost::Lane::compute, .ns = 1000};
    what_if = std::make_unique<PlanWhatIf>(joint(), costs, std::vector<Flops>(costs.size()));
  }
  [[nodiscard]] const Graph& joint() const { return partition_.joint; }
  [[nodiscard]] SavePlan saves(std::initializer_list<const char*> names,
                               std::initializer_list<const char*> offloaded = {}) const {
    std::vector<NodeId> saved, host;
    for (const char* name : names) saved.push_back(joint().find(name));
    for (const char* name : offloaded) host.push_back(joint().find(name));
    return what_if->plan_of(saved, host).value();
  }
  [[nodiscard]] PlanDifference difference(const SavePlan& from, const SavePlan& to) const {
    const auto before = plan_rows(*what_if, from).value(), after = plan_rows(*what_if, to).value();
    return plan_difference({joint(), before}, {joint(), after});
  }

  Partition partition_;
  std::vector<NodeCost> costs;
  std::unique_ptr<PlanWhatIf> what_if;
};

// Lines such as "mm0 aten.mm.default 0: saved -> recomputed (-16.0 KiB, +1.00 us)".
std::vector<std::string> lines(const PlanDifference& difference) {
  std::vector<std::string> all;
  for (const PlanChangeRow& row : difference.rows) {
    std::string change = to_text(row.change);
    all.push_back(fmt::format("{} {} {}: {} -> {}{}", row.name, row.target, row.layer,
                              to_text(row.from), to_text(row.to),
                              change.empty() ? "" : " (" + change + ")"));
  }
  return all;
}

TEST(PlanDifference, NamesValuesWhosePolicyChanged) {
  const Planned p(parse(layered_joint(2)));
  const SavePlan all = p.saves({"mm0", "act0", "out0", "mm1", "act1", "out1"});
  const SavePlan some = p.saves({"mm0", "act0", "out0", "mm1"}, {"mm1"});
  EXPECT_THAT(
      lines(p.difference(all, some)),
      ElementsAre("mm1 aten.mm.default 1: saved -> offloaded (-16.0 KiB, +16.0 KiB on the host)",
                  "act1 aten.sigmoid.default 1: saved -> recomputed (-16.0 KiB, +1.00 us)",
                  "out1 aten.mul.Tensor 1: saved -> recomputed (-16.0 KiB, +1.00 us)"));
  EXPECT_THAT(lines(p.difference(all, all)), IsEmpty());
}

TEST(PlanDifference, ValuesThatOnlyAChainNeedsAreNamed) {
  const Planned p(parse(layered_joint(2)));
  // Without mm0, which act0 and out0 are recomputed from, the product runs again.
  const std::vector<std::string> all =
      lines(p.difference(p.saves({"mm0", "mm1"}), p.saves({"act0", "out0", "mm1"})));
  EXPECT_THAT(all,
              ElementsAre("mm0 aten.mm.default 0: saved -> recomputed (-16.0 KiB, +1.00 us)",
                          "act0 aten.sigmoid.default 0: recomputed -> saved (+16.0 KiB, -1.00 us)",
                          "out0 aten.mul.Tensor 0: recomputed -> saved (+16.0 KiB, -1.00 us)"));
}

TEST(PlanDifference, SummaryCountsTransitions) {
  const Planned p(parse(layered_joint(3)));
  const SavePlan all =
      p.saves({"mm0", "act0", "out0", "mm1", "act1", "out1", "mm2", "act2", "out2"});
  const PlanDifference difference =
      p.difference(all, p.saves({"mm0", "out0", "mm1", "out1", "mm2", "out2"}, {"mm2"}));
  EXPECT_EQ(summary(difference),
            "4 values changed: 3 saved -> recomputed (-48.0 KiB, +3.00 us), 1 saved -> offloaded "
            "(-16.0 KiB, +16.0 KiB on the host)");
  EXPECT_EQ(summary(difference, "->", 1),
            "4 values changed: 3 saved -> recomputed (-48.0 KiB, +3.00 us), 1 more");
  EXPECT_EQ(summary(p.difference(all, all)), "No values changed");
}

TEST(PlanDifference, GroupsByLayerAndByOperator) {
  const Planned p(parse(layered_joint(3)));
  const SavePlan all =
      p.saves({"mm0", "act0", "out0", "mm1", "act1", "out1", "mm2", "act2", "out2"});
  const PlanDifference difference = p.difference(all, p.saves({"mm0", "out0", "mm1", "out1"}));
  const auto names = [&](PlanGrouping grouping) {
    std::vector<std::string> found;
    for (const PlanChangeGroup& group : groups(difference, grouping))
      found.push_back(fmt::format("{}: {} ({})", group.name, group.moved, to_text(group.change)));
    return found;
  };
  EXPECT_THAT(names(PlanGrouping::layer),
              ElementsAre("layer 0: 1 (-16.0 KiB, +1.00 us)", "layer 1: 1 (-16.0 KiB, +1.00 us)",
                          "layer 2: 3 (-48.0 KiB, +3.00 us)"));
  EXPECT_THAT(names(PlanGrouping::target),
              ElementsAre("aten.sigmoid.default: 3 (-48.0 KiB, +3.00 us)",
                          "aten.mm.default: 1 (-16.0 KiB, +1.00 us)",
                          "aten.mul.Tensor: 1 (-16.0 KiB, +1.00 us)"));
}

// Layers that are alike are one group, whose entries have a value of each.
TEST(PlanDifference, FoldsIdenticalLayers) {
  const Planned p(parse(layered_joint(5)));
  const PlanDifference difference =
      p.difference(p.saves({"mm0", "act0", "out0", "mm1", "act1", "out1", "mm2", "act2", "out2",
                            "mm3", "act3", "out3", "mm4", "act4", "out4"}),
                   p.saves({"mm0", "out0", "mm1", "mm2", "mm3", "act3", "mm4", "out4"}));
  std::vector<std::string> found;
  PlanAmounts sum;
  std::size_t rows = 0;
  for (const PlanChangeLayers& layers : folded_layers(difference)) {
    found.push_back(fmt::format("{} x{}: {} ({})", layers.all.name, layers.members,
                                layers.all.moved, to_text(layers.all.change)));
    sum += layers.all.change;
    rows += layers.all.rows.size();
    std::vector<std::size_t> entries;
    for (const std::vector<std::size_t>& entry : layers.entries) {
      EXPECT_EQ(entry.size(), layers.members);
      for (const std::size_t i : entry) {
        EXPECT_EQ(difference.rows[i].target, difference.rows[entry.front()].target);
        EXPECT_EQ(difference.rows[i].change, difference.rows[entry.front()].change);
        entries.push_back(i);
      }
    }
    EXPECT_EQ(entries.size(), layers.members > 1 ? layers.all.rows.size() : 0U);
  }
  EXPECT_THAT(
      found,
      ElementsAre("layer 0 x1: 1 (-16.0 KiB, +1.00 us)", "layer 1 x2: 4 (-64.0 KiB, +4.00 us)",
                  "layer 3 x1: 1 (-16.0 KiB, +1.00 us)", "layer 4 x1: 1 (-16.0 KiB, +1.00 us)"));
  EXPECT_EQ(sum, difference.total());
  EXPECT_EQ(rows, difference.rows.size());
}

// A tensor and its views share a storage, which counts once. A view of an input counts
// for nothing.
TEST(PlanDifference, AStorageCountsOnce) {
  const Planned p(parse(R"(
    x: f32[8,4] = input
    w: f32[4,8] = parameter
    dy: f32[8,8] = tangent
    m: f32[8,8] = aten.mm(x, w)
    v: f32[64] = aten.view(m, [64])
    t: f32[8,8] = aten.t(m)
    s: f32[8,8] = aten.sin(m)
    wt: f32[8,4] = aten.t(w)
    y: f32[8,8] = aten.add.Tensor(s, t)
    a: f32[8,8] = aten.mul.Tensor(dy, t)   {backward}
    b: f32[64] = aten.mul.Tensor(v, v)     {backward}
    c: f32[8,8] = aten.mul.Tensor(a, m)    {backward}
    d: f32[8,8] = aten.mul.Tensor(c, s)    {backward}
    gx: f32[8,4] = aten.mm(d, wt)          {backward}
    return [y, b, gx]
  )"));
  const PlanDifference difference =
      p.difference(p.saves({"m", "v", "t", "s", "wt"}), p.saves({"s"}));
  EXPECT_THAT(lines(difference),
              ElementsAre("m aten.mm.default -1: saved -> recomputed (-512 B, +2.00 us)"));
  EXPECT_EQ(summary(difference), "1 value changed: 1 saved -> recomputed (-512 B, +2.00 us)");
  // The storage stays saved, whichever value of it is.
  EXPECT_THAT(lines(p.difference(p.saves({"m", "s", "wt"}), p.saves({"t", "s", "wt"}))), IsEmpty());
}

// The time of a call that returns a tuple counts for its first recomputed element.
TEST(PlanDifference, TuplesCountForTheirElements) {
  const Planned p(parse(R"(
    x: f32[8,4] = input
    m: (f32[4], i64[4]) = aten.max.dim(x, 0)
    a: f32[4] = _operator.getitem(m, 0)
    i: i64[4] = _operator.getitem(m, 1)
    y: f32[4] = aten.sin(a)
    dy: f32[4] = tangent
    g: f32[4] = aten.mul.Tensor(dy, a)   {backward}
    h: f32[4] = aten.mul.Tensor(g, i)    {backward}
    return [y, h]
  )"));
  const std::vector<std::string> all = lines(p.difference(p.saves({"a", "i"}), p.saves({"a"})));
  EXPECT_THAT(all,
              ElementsAre(HasSubstr("i aten.max.dim -1: saved -> recomputed (-512 B, +1.00 us)")));
}

TEST(PlanDifference, IsEmptyForAJointGraphAndItsPair) {
  const Planned p(parse(layered_joint(2)));
  const SavePlan plan = p.saves({"mm0", "mm1"}, {"mm1"});
  const Graph pair = emit_pair(p.joint(), plan, Partitioner::min_cut).value();
  std::vector<NodeCost> costs(pair.node_count());
  for (const NodeId id : pair.order())
    if (pair.node(id).kind == NodeKind::call)
      costs[id.index()] = {.lane = NodeCost::Lane::compute, .ns = 1000};
  const auto kept = partitioned_values(pair, costs, std::vector<Flops>(costs.size())).value();
  const auto of_pair = plan_rows(pair, kept, pair), of_plan = plan_rows(*p.what_if, plan).value();
  EXPECT_EQ(summary(plan_difference({p.joint(), of_plan}, {pair, of_pair})), "No values changed");
  const auto other = plan_rows(*p.what_if, p.saves({"mm0", "mm1"})).value();
  EXPECT_EQ(summary(plan_difference({p.joint(), other}, {pair, of_pair})),
            "1 value changed: 1 saved -> offloaded (-16.0 KiB, +16.0 KiB on the host)");
}

// --- Totals ---

// Sums over rows and groups are the differences of the numbers, for random plans.
RC_GTEST_PROP(PlanDifferenceProperty, SumsAreThoseOfTheFigures, (std::uint64_t seed)) {
  std::mt19937_64 chance(seed);
  const Graph graph = random_graph(seed, {.calls = 10 + chance() % 60,
                                          .gradients = chance() % 2 == 0,
                                          .writes = false,
                                          .on_cpu = chance() % 3 == 0});
  const auto found = partition(graph, {});
  RC_PRE(found.has_value());
  const Graph& joint = found->joint;
  MemoryOptions memory;
  if (chance() % 3 == 0) memory.runs_on = DeviceType::cpu;
  const PlanWhatIf what_if(joint, random_costs(joint, seed), std::vector<Flops>(joint.node_count()),
                           memory);
  SavePlan plan = found->plan;
  for (int step = 0; step < 6; ++step) {
    const auto candidates = what_if.candidates(plan).value();
    if (candidates.empty()) break;
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < 1 + chance() % 5; ++i)
      nodes.push_back(candidates[chance() % candidates.size()].node);
    const auto changed = what_if.change_all(plan, nodes, static_cast<PlanAction>(chance() % 3));
    if (!changed) continue;
    const auto before = plan_rows(what_if, plan).value();
    const auto after = plan_rows(what_if, changed->plan).value();
    const PlanFigures from = what_if.figures(plan).value();
    const PlanFigures to = what_if.figures(changed->plan).value();
    RC_ASSERT(sum_of(before) == amounts_of(from));
    const PlanDifference difference = plan_difference({joint, before}, {joint, after});
    RC_ASSERT(difference.total() == change_of(from, to));
    for (const PlanGrouping grouping : {PlanGrouping::layer, PlanGrouping::target})
      RC_ASSERT(sum_of(groups(difference, grouping)) == change_of(from, to));
    PlanAmounts folded;
    for (const PlanChangeLayers& layers : folded_layers(difference)) folded += layers.all.change;
    RC_ASSERT(folded == change_of(from, to));
    std::set<StorageId> storages;
    for (const PlanChangeRow& row : difference.rows) {
      const Node& n = joint.node(joint.find(row.name));
      if (n.value.kind != Value::Kind::tensor || !joint.tensors(n).front().storage) continue;
      RC_ASSERT(storages.insert(joint.real_storage(joint.tensors(n).front().storage)).second);
    }
    plan = changed->plan;
  }
}

// The same for a flat training step with its tags applied, compared with the step as captured.
RC_GTEST_PROP(PlanDifferenceProperty, SumsOfStepsAreThoseOfTheirFigures, (std::uint64_t seed)) {
  Graph graph = random_graph(seed, {.calls = 60});
  graph.part(PartId(0)).kind = CaptureKind::train_step;
  std::mt19937_64 chance(seed);
  Graph tagged = graph;
  for (const NodeId id : tagged.order()) {
    Node& n = tagged.node(id);
    if (n.kind != NodeKind::call || tagged.op(n).has(OperatorTag::random) || tagged.op(n).mutates)
      continue;
    n.policy = chance() % 3 == 0   ? MemoryPolicy::must_recompute
               : chance() % 5 == 0 ? MemoryPolicy::must_cpu_offload
                                   : MemoryPolicy::none;
  }
  Graph step = tagged;
  if (!apply_step_tags(step)) {
    RC_TAG("refused");
    return;
  }
  const auto kept_of = [](const Graph& of) {
    return partitioned_values(of, std::vector<NodeCost>(of.node_count(), NodeCost{.ns = 5}),
                              std::vector<Flops>(of.node_count()))
        .value();
  };
  const auto kept_before = kept_of(graph), kept_after = kept_of(step);
  const auto before = plan_rows(graph, kept_before, graph);
  const auto after = plan_rows(step, kept_after, tagged);
  for (const PlanRow& row : after) RC_ASSERT(tagged.is_live(row.node));
  RC_ASSERT(
      plan_difference({graph, before}, {tagged, after}).total() ==
      change_of(partitioned_figures(graph, kept_before), partitioned_figures(step, kept_after)));
}

}  // namespace
}  // namespace jointer::test
