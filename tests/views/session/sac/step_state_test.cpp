// Tests states of a flat training step as a function of the history: numbers with its tags applied,
// deciders, and refusals.

#include "views/session/sac/step_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/partition/partitioned_values.h"
#include "core/policy/apply_step_tags.h"
#include "core/policy/export.h"
#include "core/policy/tagging.h"
#include "tests/support/joints.h"
#include "tests/support/snapshots.h"
#include "views/session/edit/policy_edit.h"
#include "views/session/sac/pareto_search.h"
#include "views/session/sac/sac_solver.h"

namespace jointer::views {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class StepStateTest : public ::testing::Test {
 protected:
  StepStateTest() : baseline_(test::snapshot_of(step_text())), now_(baseline_) {}

  static std::string step_text() { return "kind train_step\n" + test::layered_joint(5); }
  [[nodiscard]] NodeId node(std::string_view name) const { return now_->graph.find(name); }
  [[nodiscard]] std::vector<NodeId> nodes(const std::vector<std::string>& names) const {
    std::vector<NodeId> found;
    for (const std::string& name : names) found.push_back(node(name));
    return found;
  }
  void apply(const Edit& edit) {
    Graph graph = now_->graph;
    Result<Edit> inverse = jointer::apply(graph, edit);
    ASSERT_TRUE(inverse) << inverse.error().message;
    auto next = snapshot_after(*now_, std::move(graph), keeps_calls(edit));
    ASSERT_TRUE(next);
    now_ = *next;
    history_.push_back(std::make_shared<DoneEdit>(DoneEdit{edit, *std::move(inverse)}));
  }
  void tag(const std::vector<std::string>& names, MemoryPolicy policy, const std::string& by = {}) {
    Edit edit =
        policy_edit(now_->graph, now_->analysis.modules, nodes(names), PolicyScope::nodes, policy);
    edit.by = by;
    apply(edit);
  }
  [[nodiscard]] SacRequest request(std::vector<PolicyChoice> choices = {}) const {
    return {now_, baseline_, history_, std::move(choices)};
  }
  SacStatePtr state(std::vector<PolicyChoice> choices = {}) {
    auto made = solver_.state(request(std::move(choices)));
    if (!made) ADD_FAILURE() << made.error().message;
    return made ? *made : nullptr;
  }
  [[nodiscard]] const SacTensor& tensor(const SacState& state, std::string_view name) const {
    const SacTensor* found = state.tensor_of(node(name));
    if (found == nullptr) throw std::runtime_error("no row of " + std::string(name));
    return *found;
  }
  // The graph with its tags applied by core.
  [[nodiscard]] Graph applied() const {
    Graph step = now_->graph;
    EXPECT_TRUE(apply_step_tags(step));
    return step;
  }
  void expect_figures(const SacState& state, const Graph& step) const {
    const Analysis analysis = analyze(step, baseline_->analysis.options).value();
    PlanFigures figures =
        partitioned_figures(step, partitioned_values(step, analysis.costs, analysis.flops).value());
    figures.figures = {analysis.memory.peak_bytes(), analysis.simulation.step_ns(),
                       analysis.simulation.exposed_ns()};
    figures.compute_ns = analysis.simulation.compute_ns();
    EXPECT_EQ(state.figures, figures);
    EXPECT_TRUE(std::ranges::equal(state.profile, analysis.memory.profile()));
    EXPECT_EQ(state.applied_tags.reserved_bytes, analysis.reserved.peak_bytes);
  }

  SacSolver solver_;
  SnapshotPtr baseline_, now_;
  EditHistory history_;
};

TEST_F(StepStateTest, WithoutTagsItIsTheStep) {
  const SacStatePtr s = state();
  EXPECT_EQ(s->kind, SacKind::step);
  EXPECT_TRUE(s->can_change());
  EXPECT_FALSE(s->base);
  EXPECT_FALSE(s->applied_tags.any);
  expect_figures(*s, baseline_->graph);
  EXPECT_EQ(s->reference()->figures, s->figures);
  for (const SacTensor& t : s->tensors) {
    EXPECT_EQ(t.decider, Decider::untagged);
    EXPECT_EQ(t.action, PlanAction::save);
    EXPECT_EQ(why(*s, t), "Saved: the backward reads it, and it has no tag");
    EXPECT_EQ(why_in_short(*s, t), "not tagged");
  }
}

TEST_F(StepStateTest, ATickIsShownAsApplied) {
  tag({"act1", "out1"}, MemoryPolicy::must_recompute);
  const SacStatePtr s = state();
  EXPECT_TRUE(s->applied_tags.any);
  EXPECT_EQ(tensor(*s, "act1").action, PlanAction::recompute);
  EXPECT_EQ(tensor(*s, "act1").decider, Decider::user);
  EXPECT_THAT(why(*s, tensor(*s, "act1")), HasSubstr("Recomputed by hand: Recompute 2 nodes"));
  EXPECT_EQ(s->figures.recomputed, 2U);
  EXPECT_LT(s->figures.saved_bytes, s->reference()->figures.saved_bytes);
  expect_figures(*s, applied());
  // The document's graph is the tagged one.
  EXPECT_EQ(s->snapshot, now_);
  EXPECT_EQ(s->snapshot->graph.node_count(), baseline_->graph.node_count());
}

TEST_F(StepStateTest, PreviewEqualsTheResult) {
  const SacStatePtr promised = state({{nodes({"act0", "out0"}), PlanAction::recompute}});
  EXPECT_EQ(tensor(*promised, "act0").decider, Decider::user);
  tag({"act0", "out0"}, MemoryPolicy::must_recompute);
  EXPECT_EQ(state()->figures, promised->figures);
  EXPECT_EQ(state()->plan, promised->plan);
}

TEST_F(StepStateTest, RecomputingAValueTagsTheValuesThatItIsComputedFrom) {
  baseline_ = now_ = test::snapshot_of(R"(
    kind train_step
    x: f32[64] = input
    a: f32[64] = aten.sin(x)
    b: f32[64] = aten.cos(a)
    c: f32[64] = aten.exp(b)
    r: f32[64] = aten.bernoulli(c)
    l: f32[] = aten.sum(c)
    g: f32[64] = aten.mul.Tensor(c, r)  {backward}
    return [l, g])");
  const SacStatePtr s = state();
  EXPECT_EQ(s->tensor_of(node("a")), nullptr);
  EXPECT_EQ(nodes_to_tag(*s, nodes({"c"}), PlanAction::recompute), nodes({"a", "b", "c"}));
  EXPECT_EQ(nodes_to_tag(*s, nodes({"c", "r"}), PlanAction::recompute), nodes({"a", "b", "c"}))
      << "random calls are left out if others can be recomputed";
  EXPECT_EQ(nodes_to_tag(*s, nodes({"c"}), PlanAction::save), nodes({"c"}));
  tag({"a", "b", "c"}, MemoryPolicy::must_recompute);
  EXPECT_EQ(tensor(*state(), "r").action, PlanAction::save);
  EXPECT_EQ(state()->figures.saved_bytes, s->figures.saved_bytes / 2);
}

TEST_F(StepStateTest, CountsLayersWhoseInputsAreRecomputed) {
  EXPECT_EQ(layers_with_recomputed_input(*state()), 0U);
  tag({"mm1", "act1", "out1"}, MemoryPolicy::must_recompute);
  EXPECT_EQ(layers_with_recomputed_input(*state()), 0U) << "the input of one layer is saved";
  tag({"mm2", "act2", "out2", "mm3", "act3"}, MemoryPolicy::must_recompute);
  EXPECT_EQ(layers_with_recomputed_input(*state()), 2U) << "out1 and out2 are recomputed";
  tag({"out1", "out2"}, MemoryPolicy::must_save);
  EXPECT_EQ(layers_with_recomputed_input(*state()), 0U) << "as checkpointing does";
}

TEST_F(StepStateTest, ABudgetProducesAPlanThatTheNextSearchMayChange) {
  tag({"act3"}, MemoryPolicy::must_save);
  SacSolver::PlanRequest wanted;
  wanted.settings.activation_budget = 0.4;
  const auto trial = solver_.try_solving(request(), wanted);
  ASSERT_TRUE(trial) << trial.error().message;
  ASSERT_TRUE(trial->plan);
  auto edit = tag_as_planned(now_->graph, *trial->plan);
  ASSERT_TRUE(edit);
  edit->by = kSearch;
  apply(*edit);
  const SacStatePtr s = state();
  EXPECT_EQ(s->figures, trial->outcome->figures);
  expect_figures(*s, applied());
  EXPECT_LT(s->figures.saved_bytes, s->reference()->figures.saved_bytes);
  EXPECT_EQ(tensor(*s, "act3").action, PlanAction::save);
  EXPECT_EQ(s->own_policies[node("act3").index()], MemoryPolicy::must_save);
  EXPECT_EQ(std::ranges::count(s->own_policies, MemoryPolicy::none),
            static_cast<std::ptrdiff_t>(s->own_policies.size() - 1));
  // A limit: the numbers of the search are those of the step with its tags.
  const std::int64_t limit =
      (s->figures.figures.peak_bytes + s->reference()->figures.figures.peak_bytes) / 2;
  const auto trade_off = ParetoSearch::trade_off_of(*s, {}, {}, Cancellation(), {}).value();
  wanted.fit = trade_off->fastest_within(limit).value();
  EXPECT_TRUE(wanted.fit->fits);
  const auto fitting = solver_.try_solving(request(), wanted);
  ASSERT_TRUE(fitting) << fitting.error().message;
  EXPECT_EQ(fitting->outcome->figures, wanted.fit->point.figures);
  EXPECT_LE(fitting->outcome->figures.figures.peak_bytes, limit);
}

TEST_F(StepStateTest, UndoRestoresThePreviousState) {
  const SacStatePtr first = state();
  tag({"act2"}, MemoryPolicy::must_recompute);
  EXPECT_NE(state()->figures, first->figures);
  history_.clear();
  now_ = baseline_;
  EXPECT_EQ(state()->figures, first->figures);
  EXPECT_EQ(state()->plan, first->plan);
}

TEST_F(StepStateTest, ReportsWhoDecided) {
  tag({"act2"}, MemoryPolicy::must_recompute, "apply_sac");
  tag({"act3"}, MemoryPolicy::must_cpu_offload);
  const SacStatePtr s = state();
  EXPECT_EQ(tensor(*s, "act2").decider, Decider::preset);
  EXPECT_EQ(tensor(*s, "act3").decider, Decider::user);
  EXPECT_EQ(tensor(*s, "act3").action, PlanAction::offload);
  EXPECT_EQ(tensor(*s, "act4").decider, Decider::untagged);
  baseline_ = now_;
  history_.clear();
  EXPECT_EQ(tensor(*state(), "act2").decider, Decider::capture);
}

// A value not changed by a tag has no decider, and its reason says so.
TEST_F(StepStateTest, ATagWithoutEffectIsReported) {
  baseline_ = now_ = test::snapshot_of(R"(
    kind train_step
    x: f32[64,64] = input
    c: f32[64,64] = aten.sin(x)  {layers.0}
    d: f32[64,64] = aten.exp(c)  {layers.0}
    l: f32[] = aten.sum(d)  {loss}
    g: f32[64,64] = aten.cos(c)  {backward loss}
    h: f32[64,64] = aten.mul.Tensor(g, d)  {backward layers.0}
    return [l, h]
  )");
  tag({"c"}, MemoryPolicy::must_recompute);
  const SacStatePtr s = state();
  EXPECT_EQ(tensor(*s, "c").action, PlanAction::save);
  EXPECT_EQ(tensor(*s, "c").decider, Decider::untagged);
  EXPECT_THAT(why(*s, tensor(*s, "c")), HasSubstr("before it recomputes anything"));
}

TEST_F(StepStateTest, RefusalsOfThePassAreReported) {
  baseline_ = now_ = test::snapshot_of(R"(
    kind train_step
    x: f32[64,64] = input
    r: f32[64,64] = aten.bernoulli(x)  {layers.0}
    d: f32[64,64] = aten.exp(r)  {layers.0}
    l: f32[] = aten.sum(d)  {loss}
    h: f32[64,64] = aten.mul.Tensor(r, d)  {backward layers.0}
    return [l, h]
  )");
  const auto refused = solver_.state(request({{nodes({"r"}), PlanAction::recompute}}));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("draws random numbers"));
  EXPECT_FALSE(solver_.outcome(request({{nodes({"r"}), PlanAction::recompute}})));
  // A capture with such a tag is shown without tags, and can be fixed.
  tag({"r"}, MemoryPolicy::must_recompute);
  const SacStatePtr bad = state();
  EXPECT_THAT(bad->applied_tags.refusal, HasSubstr("draws random numbers"));
  EXPECT_FALSE(bad->applied_tags.any);
  expect_figures(*bad, baseline_->graph);
  EXPECT_TRUE(state({{nodes({"d"}), PlanAction::recompute}}));
  const SacStatePtr mended = state({{nodes({"r"}), PlanAction::save}});
  EXPECT_TRUE(mended->applied_tags.refusal.empty());
}

TEST_F(StepStateTest, AppliedTagsAreNotAppliedTwice) {
  tag({"act1", "out1"}, MemoryPolicy::must_recompute);
  tag({"act3"}, MemoryPolicy::must_cpu_offload);
  const SacStatePtr before = state();
  apply(step_tags_edit(now_->graph).value());
  const SacStatePtr after = state();
  EXPECT_FALSE(after->applied_tags.any);
  EXPECT_EQ(after->figures, before->figures);
  expect_figures(*after, now_->graph);
  EXPECT_TRUE(tensor(*after, "act1_recomputed").is_settled());
  EXPECT_TRUE(tensor(*after, "act3").is_settled());
  EXPECT_EQ(tensor(*after, "act3").decider, Decider::capture);
  EXPECT_THAT(why(*after, tensor(*after, "act3")), HasSubstr("was applied earlier"));
  // Ticks skip those, but may apply to others.
  EXPECT_TRUE(nodes_to_tag(*after, nodes({"act3", "act1_recomputed"}), PlanAction::save).empty());
  EXPECT_EQ(nodes_to_tag(*after, nodes({"act3", "act2"}), PlanAction::recompute), nodes({"act2"}));
  tag({"act2"}, MemoryPolicy::must_recompute);
  EXPECT_EQ(state()->figures.recomputed, after->figures.recomputed + 1);
  expect_figures(*state(), applied());
}

TEST_F(StepStateTest, APartOfATupleIsTaggedWithItsCall) {
  baseline_ = now_ = test::snapshot_of(R"(
    kind train_step
    x: f32[8,8] = input
    p: (f32[4,8], f32[4,8]) = aten.split.Tensor(x, 4)
    p0: f32[4,8] = p[0]
    l: f32[] = aten.sum(p0)
    g: f32[4,8] = aten.sin(p0)  {backward}
    return [l, g]
  )");
  const SacStatePtr s = state();
  EXPECT_EQ(nodes_to_tag(*s, nodes({"p0"}), PlanAction::recompute), nodes({"p", "p0"}));
  EXPECT_EQ(nodes_to_tag(*s, nodes({"p0"}), PlanAction::save), nodes({"p0"}));
}

TEST_F(StepStateTest, ThePeakListsItsTensors) {
  const SacStatePtr s = state();
  ASSERT_FALSE(s->applied_tags.saved_at_peak.empty());
  for (const NodeId id : s->applied_tags.saved_at_peak)
    EXPECT_EQ(s->tensor_of(id)->action, PlanAction::save);
  const auto worth = [&](NodeId id) {
    const SacTensor& t = *s->tensor_of(id);
    return static_cast<double>(t.bytes) /
           static_cast<double>(std::max<std::int64_t>(t.recompute_ns, 1));
  };
  EXPECT_TRUE(std::ranges::is_sorted(s->applied_tags.saved_at_peak, std::greater(), worth));
  // Recomputed tensors are excluded.
  const NodeId first = s->applied_tags.saved_at_peak.front();
  EXPECT_THAT(state({{{first}, PlanAction::recompute}})->applied_tags.saved_at_peak,
              Not(Contains(first)));
}

}  // namespace
}  // namespace jointer::views
