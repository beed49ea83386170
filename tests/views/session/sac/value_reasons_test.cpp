// Tests the explanation of one tensor, which arrives in two parts, and requests that overtake it.

#include "views/session/sac/value_reasons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QCoreApplication>

#include "tests/support/held_pool.h"
#include "tests/support/joints.h"
#include "tests/support/snapshots.h"
#include "views/session/document/document.h"
#include "views/session/edit/editing.h"
#include "views/session/sac/sac_session.h"

namespace jointer::views {
namespace {

using testing::HasSubstr;

class ValueReasonsTest : public testing::Test {
 protected:
  ValueReasonsTest() {
    session().start();
    run_all();
    EXPECT_TRUE(session().state());
  }

  [[nodiscard]] SacSession& session() const { return document->sac(); }
  [[nodiscard]] ValueReasons& reasons() const { return session().value_reasons(); }
  [[nodiscard]] NodeId node(const char* name) const { return document->graph().find(name); }
  void run_all() {
    for (int i = 0; i < 30; ++i) {
      pool.run_started();
      QCoreApplication::processEvents();
    }
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const MarginLine& line : reasons().lines()) all += line.label + ": " + line.text + '\n';
    return all;
  }

  test::HeldPool pool;
  std::unique_ptr<Document> document = std::make_unique<Document>(
      OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(test::layered_joint(4)));
};

TEST_F(ValueReasonsTest, ExplainsAsTheCommandLineDoes) {
  reasons().follow(session().state(), node("mm1"));
  EXPECT_TRUE(reasons().is_working());
  EXPECT_TRUE(reasons().lines().empty());
  run_all();
  EXPECT_FALSE(reasons().is_working());
  const SacState& state = *session().state();
  const Graph& joint = state.base->partition.joint;
  const PlanWhatIf& what_if = *state.base->what_if;
  const auto margin = PlanMargins::make(what_if, state.plan)->of(node("mm1")).value();
  const auto solvers = SolverComparison::make(joint, what_if,
                                              {.plan = state.plan,
                                               .partition = options_of(state.base->settings),
                                               .budget = {},
                                               .policies = state.base->policies})
                           .value();
  std::string wanted;
  for (const MarginLine& line : explain_margin(joint, margin))
    wanted += line.label + ": " + line.text + '\n';
  const MarginLine last = explain_choices(solvers->of(node("mm1")).value(), {});
  wanted += last.label + ": " + last.text + '\n';
  EXPECT_EQ(text(), wanted);
  EXPECT_THAT(text(), HasSubstr("equal values"));
}

TEST_F(ValueReasonsTest, OnlyTheLatestTensorIsExplained) {
  reasons().follow(session().state(), node("mm1"));
  run_all();
  const std::string first = text();
  reasons().follow(session().state(), node("mm1"));
  EXPECT_EQ(text(), first);  // it is known
  reasons().follow(session().state(), node("act1"));
  reasons().follow(session().state(), node("mm1"));
  run_all();
  EXPECT_EQ(text(), first);
  reasons().follow(nullptr, node("mm1"));
  EXPECT_TRUE(reasons().lines().empty());
  EXPECT_FALSE(reasons().is_working());
}

TEST_F(ValueReasonsTest, ANewPlanIsExplainedAgain) {
  reasons().follow(session().state(), node("mm1"));
  run_all();
  const std::string before = text();
  const bool was_saved = session().state()->tensor_of(node("mm1"))->action == PlanAction::save;
  session().set_action({node("mm1")}, was_saved ? PlanAction::recompute : PlanAction::save);
  run_all();
  reasons().follow(session().state(), node("mm1"));
  run_all();
  EXPECT_NE(text(), before);
  EXPECT_THAT(text(), HasSubstr(was_saved ? "Recomputing it frees" : "Recomputing it would free"));
}

TEST_F(ValueReasonsTest, NodesWithoutRowsAreNotExplained) {
  int changes = 0;
  QObject::connect(&reasons(), &ValueReasons::changed, &reasons(), [&] { ++changes; });
  reasons().follow(session().state(), node("x"));
  EXPECT_FALSE(reasons().is_working());
  run_all();
  EXPECT_EQ(changes, 0);
}

// A searched plan is attributed to the search, even where it changed nothing, and does not
// constrain later searches.
TEST_F(ValueReasonsTest, ASearchedPlanIsDecidedByTheSearch) {
  SavePlan plan = session().state()->plan;
  const NodeId changed = node("mm1");
  const bool was_saved = session().state()->tensor_of(changed)->action == PlanAction::save;
  plan = session()
             .state()
             ->base->what_if
             ->change(plan, {&changed, 1}, was_saved ? PlanAction::recompute : PlanAction::save)
             .value();
  session().apply_plan(plan, "Use the plan with a peak of 1 GiB");
  run_all();
  const SacState& state = *session().state();
  EXPECT_EQ(state.plan.saved, plan.saved);
  for (const SacTensor& tensor : state.tensors)
    if (tensor.is_needed) {
      EXPECT_EQ(tensor.decider, Decider::search) << state.snapshot->graph.name(tensor.node);
      EXPECT_THAT(why(state, tensor), HasSubstr("by a search: Use the plan with a peak of 1 GiB"));
    }
  EXPECT_EQ(state.searched, std::vector{changed});
  session().set_action({node("act1")}, PlanAction::save);
  run_all();
  EXPECT_EQ(session().state()->tensor_of(node("act1"))->decider, Decider::user);
}

}  // namespace
}  // namespace jointer::views
