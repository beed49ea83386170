// Tests requests that overtake each other: choices, questions and edits of the document while
// states are being computed.

#include "views/session/sac/sac_session.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <array>
#include <regex>

#include "core/graph/literal.h"
#include "tests/support/held_pool.h"
#include "tests/support/joints.h"
#include "tests/support/paths.h"
#include "tests/support/snapshots.h"
#include "views/session/document/document.h"
#include "views/session/edit/editing.h"
#include "views/session/sac/plan_history.h"

namespace jointer::views {
namespace {

class SacSessionTest : public testing::Test {
 protected:
  SacSessionTest() { open(test::layered_joint(4)); }

  void open(const std::string& text) {
    document =
        std::make_unique<Document>(OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(text));
    session().start();
    run_all();
    EXPECT_TRUE(session().state()) << session().problem().toStdString();
  }

  [[nodiscard]] SacSession& session() const { return document->sac(); }
  [[nodiscard]] NodeId node(const char* name) const { return document->graph().find(name); }
  void run() {
    pool.run_started();
    QCoreApplication::processEvents();
  }
  void run_all() {
    for (int i = 0; i < 30; ++i) run();
    EXPECT_TRUE(session().is_settled());
  }

  test::HeldPool pool;
  std::unique_ptr<Document> document;
};

TEST_F(SacSessionTest, TickIsNotLostWhileAnEarlierOneIsApplied) {
  session().set_action({node("mm1")}, PlanAction::recompute);
  session().set_action({node("mm2")}, PlanAction::recompute);
  run();  // the first: its edit and the second are being computed
  run_all();
  for (const char* name : {"mm1", "mm2"}) {
    EXPECT_EQ(document->graph().node(node(name)).policy, MemoryPolicy::must_recompute) << name;
    EXPECT_EQ(session().state()->tensor_of(node(name))->action, PlanAction::recompute) << name;
  }
  EXPECT_EQ(document->editing().entry_count(), 2);
}

// Without the device's file, no graph with another call can be analyzed.
TEST_F(SacSessionTest, AChoiceIsSettledIfTheEditsAfterItFailAsAWhole) {
  const QTemporaryDir folder;
  const QString device = folder.filePath(QStringLiteral("device.json"));
  ASSERT_TRUE(QFile::copy(QString::fromStdString(test::source_path("resources/devices/h100.json")),
                          device));
  AnalysisOptions options;
  options.estimator.device = device.toStdString();
  document = std::make_unique<Document>(
      OpenRequest{.path = "/tmp/graph.json"},
      make_snapshot(parse_literal(test::layered_joint(4)).value(), options).value());
  session().start();
  run_all();
  session().set_action({node("mm1")}, PlanAction::recompute);
  run();
  ASSERT_FALSE(session().is_settled()) << "its edit is being applied";
  ASSERT_TRUE(QFile::remove(device));
  const QSignalSpy applied(&document->editing(), &Editing::applied_all);
  document->editing().apply_all({Edit{
      .title = "Replace y", .changes = {ReplaceCall{.node = "y", .target = "aten.cos.default"}}}});
  run_all();
  ASSERT_EQ(applied.count(), 1);
  ASSERT_EQ(applied.front().front().toInt(), 0);
  EXPECT_EQ(session().state()->tensor_of(node("mm1"))->action, PlanAction::recompute);
  EXPECT_EQ(document->editing().entry_count(), 1);
}

TEST_F(SacSessionTest, UndoShowsRememberedFiguresImmediately) {
  const PlanFigures opened = session().state()->figures;
  EXPECT_EQ(session().figures(), opened);
  session().set_action({node("mm1"), node("act1")}, PlanAction::recompute);
  run_all();
  const PlanFigures ticked = session().state()->figures;
  ASSERT_NE(ticked, opened);
  EXPECT_EQ(session().figures(), ticked);
  std::vector<std::optional<PlanFigures>> shown;
  QObject::connect(&session(), &SacSession::figures_changed, &session(),
                   [&] { shown.push_back(session().figures()); });
  document->editing().undo();
  run_all();
  EXPECT_EQ(shown.front(), opened);
  shown.clear();
  document->editing().redo();
  run_all();
  EXPECT_EQ(shown.front(), ticked);
  // Other estimates give other numbers.
  shown.clear();
  AnalysisOptions options = document->analysis().options;
  options.estimator.device = "a100";
  document->analyze_with(options);
  run_all();
  EXPECT_EQ(shown.front(), std::nullopt);
  EXPECT_EQ(shown.back(), session().state()->figures);
}

// The passes take longer than the rest of a preview.
TEST_F(SacSessionTest, APreviewIsShownInItsOrderOnceThatIsKnown) {
  const SacState& state = *session().state();
  const auto trade_off = ParetoSearch::trade_off_of(state, {}, {}, Cancellation(), {}).value();
  Fit fit = trade_off->fastest_within(state.figures.figures.peak_bytes / 20 * 19).value();
  fit.point.order = "reorder_for_peak_memory";
  std::vector<std::string> names;
  QObject context;
  QObject::connect(&session(), &SacSession::previewed, &context, [&] {
    if (session().shown_preview()) names.push_back(session().shown_preview()->name().toStdString());
  });
  session().preview_fit(fit);
  for (int i = 0; i < 200 && names.size() < 2; ++i) {
    run();
    QTest::qWait(10);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"preview, not reordered", "preview, reordered"}));
  const auto& preview = session().shown_preview();
  ASSERT_TRUE(preview && preview->outcome && preview->ordered);
  EXPECT_EQ(preview->shown(), preview->ordered);
  EXPECT_EQ(preview->outcome->figures, fit.point.figures);
  const auto expected =
      ordered_figures({state.base, state.step, fit.point.plan, fit.point.order}).value();
  EXPECT_EQ(preview->ordered->figures.figures, expected.figures);
  EXPECT_EQ(*std::ranges::max_element(preview->ordered->profile), expected.figures.peak_bytes);
  // The second time, it is known at once.
  session().clear_preview();
  names.clear();
  session().preview_fit(fit);
  run_all();
  EXPECT_EQ(names, std::vector<std::string>{"preview, reordered"});
  // A plan in its own order needs no other outcome.
  names.clear();
  fit.point.order.clear();
  session().preview_fit(fit);
  run_all();
  EXPECT_EQ(names, std::vector<std::string>{"preview"});
  EXPECT_EQ(preview->ordered, nullptr);
}

TEST_F(SacSessionTest, FiguresAreThoseOfTheCurrentEstimates) {
  session().set_action({node("mm1")}, PlanAction::recompute);
  run_all();
  AnalysisOptions options = document->analysis().options;
  ASSERT_NE(options.estimator.device, "a100");
  options.estimator.device = "a100";
  std::vector<OrderedFigures> figures;
  QObject context;
  document->analyze_with(options);
  const auto add = [&](const Result<OrderedFigures>& found) { figures.push_back(found.value()); };
  session().find_ordered({}, &context, add);
  run_all();
  session().find_ordered({}, &context, add);
  run_all();
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].figures, figures[1].figures);
}

TEST_F(SacSessionTest, ReservedMemoryIsThatOfTheEntry) {
  // The allocator reserves whole segments, so tensors must be large.
  open(std::regex_replace(test::layered_joint(4), std::regex("64,64"), "4096,4096"));
  const EditHistory opened = document->editing().edit_history();
  std::vector<std::int64_t> expected;
  const auto expect = [&] {
    const SacState& state = *session().state();
    expected.push_back(state.base->what_if->reserved_bytes(state.plan).value());
  };
  expect();
  for (const char* name : {"mm1", "mm2", "mm3"})
    session().set_action({node(name)}, PlanAction::recompute);
  run_all();
  expect();
  EXPECT_NE(expected[0], expected[1]);
  const EditHistory now = document->editing().edit_history();
  std::vector<std::int64_t> found(3);  // the answers may come in a different order
  QObject context;
  const auto find = [&](const EditHistory& history, std::size_t index) {
    session().find_reserved(history, &context, [&found, index](const Result<std::int64_t>& bytes) {
      found.at(index) = bytes.value();
    });
  };
  find(opened, 0);
  find(now, 1);
  find(opened, 2);
  run_all();
  EXPECT_EQ(found, (std::vector{expected[0], expected[1], expected[0]}));
}

TEST_F(SacSessionTest, ChangesAreThoseBetweenTwoEntries) {
  const PlanFigures opened = session().state()->figures;
  session().set_action({node("mm1")}, PlanAction::recompute);
  run_all();
  const PlanFigures now = session().state()->figures;
  std::array<PlanChangesPtr, 3> found;
  QObject context;
  const auto use_as = [&](std::size_t index) {
    return [&found, index](const Result<PlanChangesPtr>& changes) {
      found.at(index) = changes.value();
    };
  };
  const EditHistory history = document->editing().edit_history();
  session().find_changes({}, history, &context, use_as(0));
  session().find_changes(history, {}, &context, use_as(1));
  session().find_changes(history, history, &context, use_as(2));
  run_all();
  for (const PlanChangesPtr& changes : found) ASSERT_TRUE(changes);
  EXPECT_EQ(found[0]->from, opened);
  EXPECT_EQ(found[0]->to, now);
  const PlanAmounts change = found[0]->difference.total(), back = found[1]->difference.total();
  EXPECT_EQ(change.saved_bytes, now.saved_bytes - opened.saved_bytes);
  EXPECT_EQ(change.recompute_ns, now.recompute_ns - opened.recompute_ns);
  EXPECT_LT(change.saved_bytes, 0);
  EXPECT_EQ(back.saved_bytes, -change.saved_bytes);
  EXPECT_EQ(back.recompute_ns, -change.recompute_ns);
  const auto& rows = found[0]->difference.rows;
  EXPECT_TRUE(std::ranges::any_of(rows, [](const PlanChangeRow& row) {
    return row.name == "mm1" && row.from == PlanAction::save && row.to == PlanAction::recompute;
  }));
  EXPECT_TRUE(found[2]->difference.empty());
}

// A question that is cancelled while it is being answered gets an error.
TEST_F(SacSessionTest, CancelledQuestionsAreAnswered) {
  std::optional<Error> error;
  QObject context;
  session().find_ordered({}, &context, [&](const Result<OrderedFigures>& found) {
    if (!found) error = found.error();
  });
  QCoreApplication::processEvents();
  session().cancel();
  run_all();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Error::Kind::cancelled);
}

TEST_F(SacSessionTest, QuestionsThatWaitForACancelledRequestAreAnswered) {
  std::optional<Error> error;
  QObject context;
  session().set_action({node("mm1")}, PlanAction::recompute);
  session().find_ordered({}, &context, [&](const Result<OrderedFigures>& found) {
    if (!found) error = found.error();
  });
  session().cancel();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Error::Kind::cancelled);
  run_all();
}

TEST_F(SacSessionTest, APlanThatIsToBeUsedIsCancelledWithTheRequestBeforeIt) {
  open("kind train_step\n" + test::layered_joint(4));
  session().set_action({node("mm1")}, PlanAction::recompute);
  session().solve({.activation_budget = 0.5});
  session().cancel();
  run_all();
  EXPECT_EQ(document->editing().entry_count(), 0);
}

TEST_F(SacSessionTest, APreviewIsDroppedIfNoPlanCanChange) {
  open("kind forward\nx: f32[8] = input\ny: f32[8] = aten.relu(x)\nreturn [y]\n");
  ASSERT_FALSE(session().state()->can_change());
  session().preview_solving({.activation_budget = 0.5});
  run_all();
  EXPECT_FALSE(session().shown_preview());
}

// The plan found for the earlier tags must not be applied.
TEST_F(SacSessionTest, AStepThatChangesWhileItIsSolvedIsSolvedAgain) {
  const std::string step = "kind train_step\n" + test::layered_joint(4);
  const SolveSettings settings{.activation_budget = 0.5};
  const auto save = [this] {
    session().set_action({node("act0"), node("act1"), node("act2"), node("act3")},
                         PlanAction::save);
    run_all();
  };
  open(step);
  session().solve(settings);
  run_all();
  const PlanFigures expected = session().state()->figures;
  open(step);
  save();
  session().solve(settings);
  run_all();
  ASSERT_NE(session().state()->figures, expected);
  open(step);
  save();
  document->editing().undo();
  session().solve(settings);  // begins before the tags are undone
  run_all();
  EXPECT_EQ(document->editing().entry_count(), 1);
  EXPECT_EQ(session().state()->figures, expected);
}

// Also of an entry whose edits a later one replaces.
TEST_F(SacSessionTest, HistoryHasPlansIfAnyEntryHasOne) {
  PlanHistory plans(session());
  session().set_action({node("mm1")}, PlanAction::recompute);
  run_all();
  document->editing().apply_all_from(
      0, {{.title = "Move t3", .changes = {MoveNodes{.nodes = {"t3"}, .before = "e3"}}}});
  run_all();
  ASSERT_EQ(document->editing().entry_count(), 2);
  EXPECT_EQ(document->editing().edits().size(), 1U);
  EXPECT_TRUE(plans.has_plans());
}

TEST_F(SacSessionTest, HistoryHasTheFiguresOfPlans) {
  PlanHistory plans(session());
  EXPECT_FALSE(plans.has_plans());
  const Figures opened = session().state()->figures.figures;
  session().set_action({node("mm1"), node("mm2")}, PlanAction::recompute);
  run_all();
  ASSERT_TRUE(plans.has_plans());
  const EditHistory history = document->editing().edit_history();
  EXPECT_FALSE(plans.find(history));
  EXPECT_FALSE(plans.find({}));
  run_all();
  ASSERT_TRUE(plans.find(history) && plans.find({}));
  EXPECT_EQ(plans.find(history)->value(), session().state()->figures.figures);
  EXPECT_EQ(plans.find({})->value(), opened);
  EXPECT_NE(plans.find(history)->value(), opened);
}

// The same numbers as after opening the pair, which is in this order.
TEST_F(SacSessionTest, HistoryAndComparisonHaveTheOrderFound) {
  open(test::kEarlyWait);
  const Figures own = session().state()->figures.figures;
  session().apply_plan(session().state()->plan, "Use the plan found", searched_with("sink_waits"));
  run_all();
  ASSERT_EQ(session().state()->order, "sink_waits");
  ASSERT_EQ(session().state()->figures.figures, own);
  const Figures found = figures_in_order(*session().state()).value();
  ASSERT_LT(found.step_ns, own.step_ns);
  const EditHistory history = document->editing().edit_history();
  PlanHistory plans(session());
  EXPECT_FALSE(plans.find(history));
  EXPECT_FALSE(plans.find({}));
  run_all();
  ASSERT_TRUE(plans.find(history) && plans.find({}));
  EXPECT_EQ(plans.find(history)->value(), found);
  EXPECT_EQ(plans.find({})->value(), own);
  // The plans have the same decisions.
  PlanChangesPtr in_own, in_order;
  QObject context;
  session().find_changes({}, history, &context,
                         [&](const Result<PlanChangesPtr>& changes) { in_own = changes.value(); });
  session().find_changes(
      {}, history, &context,
      [&](const Result<PlanChangesPtr>& changes) { in_order = changes.value(); },
      SacSession::ComparedOrder::found);
  run_all();
  ASSERT_TRUE(in_own && in_order);
  EXPECT_TRUE(in_own->empty());
  EXPECT_TRUE(in_order->difference.empty());
  EXPECT_FALSE(in_order->empty());
  EXPECT_EQ(in_order->from.figures, own);
  EXPECT_EQ(in_order->to.figures, found);
}

// A move does not lead back to the plan's own order: all places show the plan in its order.
TEST_F(SacSessionTest, HistoryKeepsTheOrderAfterAMove) {
  open(test::kEarlyWait);
  session().apply_plan(session().state()->plan, "Use the plan found", searched_with("sink_waits"));
  run_all();
  document->editing().apply(
      {.title = "Move y", .changes = {MoveNodes{.nodes = {"y"}, .before = "d"}}});
  run_all();
  ASSERT_EQ(document->editing().entry_count(), 2);
  ASSERT_EQ(session().state()->order, "sink_waits");
  const Figures found = figures_in_order(*session().state()).value();
  EXPECT_LT(found.step_ns, session().state()->figures.figures.step_ns);
  const EditHistory history = document->editing().edit_history();
  PlanHistory plans(session());
  EXPECT_FALSE(plans.find(history));
  run_all();
  ASSERT_TRUE(plans.find(history));
  EXPECT_EQ(plans.find(history)->value(), found);
}

// Otherwise redo would first show the plan in its own order.
TEST_F(SacSessionTest, FiguresOfAPlanWithAnOrderAreNotRemembered) {
  open(test::kEarlyWait);
  session().apply_plan(session().state()->plan, "Use the plan found", searched_with("sink_waits"));
  run_all();
  document->editing().undo();
  run_all();
  std::vector<std::optional<PlanFigures>> shown;
  QObject::connect(&session(), &SacSession::figures_changed, &session(),
                   [&] { shown.push_back(session().figures()); });
  document->editing().redo();
  run_all();
  ASSERT_FALSE(shown.empty());
  EXPECT_EQ(shown.front(), std::nullopt);
  EXPECT_EQ(shown.back(), session().state()->figures);
}

TEST_F(SacSessionTest, ThePlanInEffectIsRefused) {
  QStringList sentences;
  QObject::connect(&session(), &SacSession::refused, &session(),
                   [&](const QString& sentence) { sentences << sentence; });
  session().apply_plan(session().state()->plan, "Use the plan in effect");
  run_all();
  EXPECT_EQ(sentences.join(" "), "The joint graph already has this plan.");
  EXPECT_EQ(document->editing().entry_count(), 0);
  // With an order, the plan is restated: the order needs a history entry.
  session().apply_plan(session().state()->plan, "Use the plan with an order",
                       searched_with("sink_waits_iterative"));
  run_all();
  EXPECT_EQ(sentences.size(), 1);
  EXPECT_EQ(document->editing().entry_count(), 1);
}

// As of a search that began before an edit that added nodes was undone.
TEST_F(SacSessionTest, APlanWithNodesThatTheGraphLacksIsRefused) {
  QStringList sentences;
  QObject::connect(&session(), &SacSession::refused, &session(),
                   [&](const QString& sentence) { sentences << sentence; });
  SavePlan plan = session().state()->plan;
  plan.saved.push_back(NodeId(std::size_t{10'000}));
  session().apply_plan(plan, "Use the plan");
  run_all();
  EXPECT_EQ(sentences.join(" "),
            "The plan is for an earlier graph, which had other nodes. Search again.");
  EXPECT_EQ(document->editing().entry_count(), 0);
  session().preview_fit({.point = {.budget = -1, .plan = plan}, .fits = true});
  run_all();
  EXPECT_FALSE(session().shown_preview());
}

TEST_F(SacSessionTest, CancelledRequestsLeaveTheShownState) {
  const SacStatePtr before = session().state();
  session().set_action({node("mm1")}, PlanAction::recompute);
  session().cancel();
  run_all();
  EXPECT_FALSE(session().is_working());
  EXPECT_EQ(session().state(), before);
  session().set_action({node("mm2")}, PlanAction::recompute);
  run_all();
  EXPECT_EQ(document->editing().entry_count(), 1);
}

}  // namespace
}  // namespace jointer::views
