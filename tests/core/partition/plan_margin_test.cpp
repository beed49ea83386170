// The margin of a decision: the plan's cut-off, the step under other decisions, equal values.

#include "core/partition/plan_margin.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/units.h"
#include "core/open/open.h"
#include "core/partition/plan_margin_text.h"
#include "tests/support/graphs.h"
#include "tests/support/judged_plan.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kBytes = 4096;

// Four equal layers: a = sin, b = cos; the backward reads all of them but the last b. `c` is only
// there for `s`.
std::string layers() {
  std::string text = "x: f32[1024] = input\n";
  std::string last = "x";
  for (int i = 0; i < 4; ++i) {
    text += fmt::format("a{0}: f32[1024] = aten.sin({1})  {{layers.{0}}}\n", i, last);
    text += fmt::format("b{0}: f32[1024] = aten.cos(a{0})  {{layers.{0}}}\n", i);
    last = fmt::format("b{}", i);
  }
  text += R"(c: f32[1024] = aten.exp(b3)  {head}
    s: f32[1024] = aten.sin(c)  {head}
    y: f32[1024] = aten.cos(s)  {head}
    dy: f32[1024] = tangent
    g: f32[1024] = aten.mul.Tensor(dy, s)  {head backward}
)";
  last = "g";
  for (int i = 3; i >= 0; --i) {
    text += fmt::format("gb{0}: f32[1024] = aten.mul.Tensor({1}, a{0})  {{layers.{0} backward}}\n",
                        i, last);
    last = fmt::format("gb{}", i);
    if (i == 0) break;
    text += fmt::format("ga{0}: f32[1024] = aten.mul.Tensor({1}, b{2})  {{layers.{0} backward}}\n",
                        i, last, i - 1);
    last = fmt::format("ga{}", i);
  }
  return text + fmt::format("return [y, {}]\n", last);
}

class Layers4 {
 public:
  explicit Layers4(double copy_ns_per_byte = 1)
      : partition_(
            partition(parse(layers()), {.partitioner = Partitioner::default_partition}).value()),
        costs_(joint().node_count()) {
    for (const NodeId id : joint().order())
      if (joint().node(id).kind == NodeKind::call)
        costs_[id.index()] = {.lane = NodeCost::Lane::compute, .ns = 1000};
    what_if_ = std::make_unique<PlanWhatIf>(
        joint(), costs_, std::vector<Flops>(joint().node_count()), MemoryOptions{},
        SimulationOptions{}, PlanWhatIfOptions{.transfers = {.ns_per_byte = copy_ns_per_byte}});
    plan = partition_.plan;
  }
  [[nodiscard]] const Graph& joint() const { return partition_.joint; }
  [[nodiscard]] const PlanWhatIf& what_if() const { return *what_if_; }
  [[nodiscard]] NodeId at(std::string_view name) const { return joint().find(name); }
  [[nodiscard]] SavePlan with(const SavePlan& from, std::string_view name,
                              PlanAction action) const {
    const NodeId id = at(name);
    return what_if_->change(from, {&id, 1}, action).value();
  }
  void decide(std::initializer_list<std::string_view> names, PlanAction action) {
    for (const std::string_view name : names) plan = with(plan, name, action);
  }
  [[nodiscard]] ValueMargin margin(std::string_view name) const {
    return PlanMargins::make(*what_if_, plan)->of(at(name)).value();
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    std::string all;
    for (const MarginLine& line : explain_margin(joint(), margin(name))) all += line.text + '\n';
    return all;
  }
  [[nodiscard]] Figures figures(const SavePlan& of) const { return what_if_->figures(of)->figures; }

  SavePlan plan;

 private:
  Partition partition_;
  std::vector<NodeCost> costs_;
  std::unique_ptr<PlanWhatIf> what_if_;
};

TEST(PlanMargin, ASavedValueIsBelowTheCutOff) {
  Layers4 graph;
  graph.decide({"a0", "a1", "a2", "a3"}, PlanAction::recompute);
  const ValueMargin margin = graph.margin("b1");
  EXPECT_EQ(margin.value.action, PlanAction::save);
  // b1 and a1, from b0.
  EXPECT_DOUBLE_EQ(margin.bytes_per_us.value(), kBytes / 2.0);
  EXPECT_DOUBLE_EQ(margin.cutoff_bytes_per_us.value(), kBytes);
  EXPECT_THAT(graph.text("b1"), HasSubstr("would free 4.00 KiB and take 2.00 us"));
  EXPECT_THAT(graph.text("b1"),
              HasSubstr("The plan recomputes values of 4.00 KiB per microsecond or more"));
  EXPECT_THAT(graph.text("b1"), HasSubstr("less than 0.500 times as long"));
  EXPECT_EQ(margin.if_saved_too, graph.at("a1"));
  EXPECT_THAT(graph.text("b1"), HasSubstr("if a1 were saved too"));
  EXPECT_FALSE(graph.margin("a1").if_saved_too);
  EXPECT_THAT(graph.text("a1"), HasSubstr("the cut-off of the plan"));
}

TEST(PlanMargin, WithoutRecomputationThereIsNoCutOff) {
  const Layers4 graph;
  EXPECT_FALSE(graph.margin("a1").cutoff_bytes_per_us);
  EXPECT_THAT(graph.text("a1"), HasSubstr("no cut-off"));
}

TEST(PlanMargin, OtherDecisionsAreEvaluatedExactly) {
  Layers4 graph;
  graph.decide({"a0", "a1"}, PlanAction::recompute);
  for (const char* name : {"a0", "a2", "b1", "s"}) {
    const ValueMargin margin = graph.margin(name);
    EXPECT_EQ(margin.now, graph.figures(graph.plan));
    for (const PlanAction action : {PlanAction::save, PlanAction::recompute, PlanAction::offload})
      EXPECT_EQ(margin.choice(action).figures.value(),
                graph.figures(graph.with(graph.plan, name, action)))
          << name << " " << to_string(action);
  }
}

TEST(PlanMargin, ReportsTies) {
  Layers4 graph;
  graph.decide({"a0", "a2"}, PlanAction::recompute);
  const ValueMargin margin = graph.margin("a1");
  EXPECT_EQ(margin.equal_count(), 4U);
  EXPECT_EQ(margin.equal[static_cast<std::size_t>(PlanAction::save)], 2U);
  EXPECT_EQ(margin.equal[static_cast<std::size_t>(PlanAction::recompute)], 2U);
  ASSERT_TRUE(margin.exchange);
  const std::string with(graph.joint().name(margin.exchange->with));
  EXPECT_EQ(margin.exchange->action, PlanAction::recompute);
  EXPECT_EQ(margin.exchange->figures,
            graph.figures(graph.with(graph.with(graph.plan, "a1", PlanAction::recompute), with,
                                     PlanAction::save)));
  EXPECT_THAT(graph.text("a1"), HasSubstr("One of 4 equal values: 2 saved, 2 recomputed."));
  const bool is_same = margin.exchange->figures == margin.now;
  EXPECT_THAT(graph.text("a1"),
              HasSubstr(is_same ? "arbitrary" : "swapped its decision with " + with));
}

TEST(PlanMargin, ValuesOfOtherOperatorsOrPositionsAreNotEqual) {
  const Layers4 graph;
  EXPECT_EQ(graph.margin("b0").equal_count(), 3U);  // b3 is not read
  EXPECT_EQ(graph.margin("s").equal_count(), 1U);   // a sin, but not of a layer
  EXPECT_FALSE(graph.margin("s").exchange);
  EXPECT_THAT(graph.text("b0"), HasSubstr("All 3 equal values are saved."));
  ValueMargin of_two = graph.margin("b0");
  of_two.equal[static_cast<std::size_t>(PlanAction::save)] = 2;
  EXPECT_EQ(explain_margin(graph.joint(), of_two).back().text, "Both equal values are saved.");
}

TEST(PlanMargin, ReportsThatAValueIsOnlyNeededForAnother) {
  Layers4 graph;
  graph.decide({"s"}, PlanAction::recompute);
  EXPECT_EQ(graph.margin("c").value.action, PlanAction::recompute);
  EXPECT_EQ(graph.margin("c").only_for, graph.at("s"));
  EXPECT_THAT(graph.text("c"), HasSubstr("only for s"));
  EXPECT_FALSE(graph.margin("s").only_for);
}

TEST(PlanMargin, AnOffloadComparesCopiesWithRecomputation) {
  for (const double ns_per_byte : {0.0, 100.0}) {
    Layers4 graph(ns_per_byte);
    graph.decide({"a0"}, PlanAction::offload);
    const ValueMargin margin = graph.margin("a0");
    EXPECT_EQ(margin.copy_ns, static_cast<std::int64_t>(ns_per_byte * kBytes));
    const std::int64_t exposed =
        margin.now.step_ns - graph.figures(graph.with(graph.plan, "a0", PlanAction::save)).step_ns;
    EXPECT_EQ(exposed > 0, ns_per_byte > 0);
    EXPECT_THAT(graph.text("a0"), HasSubstr("recomputing the value would take 1.00 us"));
    EXPECT_THAT(graph.text("a0"), HasSubstr(exposed > 0 ? format_ns(exposed) + " of the copies"
                                                        : "The copies are hidden"));
  }
}

TEST(PlanMargin, OnlyValuesOfThePlanHaveOne) {
  const Layers4 graph;
  const auto margins = PlanMargins::make(graph.what_if(), graph.plan).value();
  for (const char* name : {"x", "y", "gb0"}) {
    const auto margin = margins.of(graph.at(name));
    ASSERT_FALSE(margin) << name;
    EXPECT_THAT(margin.error().message, HasSubstr("does not need"));
  }
}

// Each value of a plan has a margin; the current decision has the plan's numbers, and the others
// those of a plan that is changed in the same way.
void check_margins(const Judged& judged, std::size_t every) {
  const Graph& joint = judged.partition.joint;
  const SavePlan& plan = judged.partition.plan;
  const auto margins = PlanMargins::make(*judged.what_if, plan).value();
  const Figures now = judged.what_if->figures(plan)->figures;
  const auto candidates = judged.what_if->candidates(plan).value();
  ASSERT_GT(candidates.size(), every);
  for (std::size_t i = 0; i < candidates.size(); i += every) {
    const SaveCandidate& each = candidates[i];
    const ValueMargin margin = margins.of(each.node).value();
    EXPECT_EQ(margin.choice(each.action).figures.value(), now);
    EXPECT_GE(margin.equal[static_cast<std::size_t>(each.action)], 1U);
    EXPECT_EQ(margin.bytes_per_us.has_value(), each.bytes > 0 && each.chain > 0);
    for (const PlanAction action : {PlanAction::save, PlanAction::recompute, PlanAction::offload}) {
      if (action == each.action || !margin.choice(action).figures) continue;
      const auto changed = judged.what_if->change(plan, {&each.node, 1}, action).value();
      EXPECT_EQ(*margin.choice(action).figures, judged.what_if->figures(changed)->figures);
    }
    if (margin.exchange) {
      EXPECT_EQ(joint.target(joint.node(margin.exchange->with)),
                joint.target(joint.node(each.node)));
      EXPECT_EQ(joint.output_bytes(joint.node(margin.exchange->with)),
                joint.output_bytes(joint.node(each.node)));
      EXPECT_NE(margin.exchange->action, each.action);
    }
    EXPECT_FALSE(explain_margin(joint, margin).empty());
  }
}

TEST(PlanMargin, HoldsForValuesOfASample) {
  check_margins(judged_sample(), 7);
}

class PlanMarginOfCapture : public testing::TestWithParam<const char*> {};

TEST_P(PlanMarginOfCapture, HoldsForItsValues) {
  JOINTER_NEEDS_SHARED();
  const auto graph = must(open_graph({.path = shared_directory() + "/captures/" + GetParam()}));
  const auto judged = judge(graph);
  ASSERT_TRUE(judged);
  check_margins(*judged, 211);
}

INSTANTIATE_TEST_SUITE_P(Captures, PlanMarginOfCapture,
                         testing::Values("llama3_8b_tp2_fsdp2.joint.json.zst",
                                         "llama3_8b_tp2_fsdp2_graph_sac.joint.json.zst",
                                         "deepseek_v3_debug_tp2_fsdp2_ep2.joint.json.zst"));

}  // namespace
}  // namespace jointer::test
