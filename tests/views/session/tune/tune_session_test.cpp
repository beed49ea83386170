#include "views/session/tune/tune_session.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

#include "core/pass/pipeline_text.h"
#include "passes/built_in.h"
#include "tests/support/held_pool.h"
#include "tests/support/joints.h"
#include "tests/support/snapshots.h"
#include "views/session/document/document.h"
#include "views/session/edit/editing.h"

namespace jointer::views {
namespace {

class ATuneSession : public testing::Test {
 protected:
  void SetUp() override {
    session.start({.budget = session.limit(), .evaluations = 2});
    pool.run_all();
    ASSERT_TRUE(session.can_apply());
  }
  [[nodiscard]] Editing& editing() const { return document.editing(); }
  static QStringList sentences(const QSignalSpy& said) {
    QStringList all;
    for (const QList<QVariant>& arguments : said) all << arguments.front().toString();
    return all;
  }

  test::HeldPool pool;
  Document document{OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(R"(
    kind train_step
    w: f32[64,64] = parameter
    x: f32[8,64] = input
    y: f32[8,64] = aten.mm(x, w)
    dead: f32[8,64] = aten.relu(x)
    return [y]
  )")};
  TuneSession session{document};
  Pipeline pipeline = parse_pipeline("eliminate_dead_code").value();
};

TEST_F(ATuneSession, SaysThatAPipelineIsAppliedOnceItsEditsAre) {
  const QSignalSpy said(&session, &TuneSession::message);
  session.apply(pipeline);
  EXPECT_FALSE(session.can_apply());
  const auto is_said = [&] {
    return !said.isEmpty() && sentences(said).back().startsWith(QStringLiteral("Applied 1 "));
  };
  for (int round = 0; round < 30 && !is_said(); ++round) pool.run_all(1);
  ASSERT_TRUE(is_said()) << sentences(said).join(u' ').toStdString();
  EXPECT_EQ(editing().edits().size(), 1U) << "when the sentence is shown";
  EXPECT_FALSE(document.has(document.graph().find("dead")));
  EXPECT_TRUE(session.can_apply());
}

TEST_F(ATuneSession, AnotherPipelineWaitsUntilTheEditsAreApplied) {
  const QSignalSpy said(&session, &TuneSession::message);
  session.apply(pipeline);
  for (int round = 0; round < 30 && editing().is_settled(); ++round) pool.run_all(1);
  ASSERT_FALSE(editing().is_settled()) << "the edits are being applied";
  EXPECT_FALSE(session.can_apply());
  session.apply(pipeline);
  EXPECT_EQ(sentences(said).back(), QStringLiteral("A pipeline is already being applied."));
  pool.run_all();
  EXPECT_EQ(editing().entry_count(), 1);
  EXPECT_TRUE(session.can_apply());
}

// graph_trainer has flags for the policies that a search finds for a flat training step.
TEST_F(ATuneSession, AFlatStepLeavesAsFlagsIfTheyExpressEveryStep) {
  const auto flags = [](const char* text) {
    return training_flags(parse_pipeline(text).value(), TrainedAs::flat_step, built_in_passes());
  };
  const TrainingFlags all = flags("tag_with_memory_policy,selective_activation_remat");
  EXPECT_EQ(session.form(all), TrainingForm::flags);
  EXPECT_TRUE(session.why(TrainingForm::flags, all).startsWith("Settings of torch and torchtitan"));
  const TrainingFlags some = flags("tag_with_memory_policy,place_collectives");
  EXPECT_EQ(session.form(some), TrainingForm::recipe);
  EXPECT_EQ(
      session.why(TrainingForm::recipe, some).toStdString(),
      "A recipe applies exactly these edits to the graph in training. Settings cannot express "
      "place_collectives: graph_trainer has no flag for this.");
}

TEST_F(ATuneSession, EditsBeforeTheSearchLeaveAsARecipe) {
  const TrainingFlags flags = training_flags(parse_pipeline("selective_activation_remat").value(),
                                             TrainedAs::flat_step, built_in_passes());
  ASSERT_EQ(session.form(flags), TrainingForm::flags);
  editing().apply_all(
      {Edit{.title = "Save y",
            .changes = {SetPolicy{.select = "y", .policy = MemoryPolicy::must_save}}}});
  pool.run_all();
  ASSERT_EQ(editing().entry_count(), 1);
  session.start({.budget = session.limit(), .evaluations = 2});
  pool.run_all();
  EXPECT_EQ(session.form(flags), TrainingForm::recipe);
  EXPECT_TRUE(session.why(TrainingForm::recipe, flags).endsWith("the edits before the search."));
}

TEST(ATuneSessionOfAJointGraph, LeavesAsFlagsOrAsAPipeline) {
  test::HeldPool pool;
  Document document{OpenRequest{.path = "/tmp/graph.json"},
                    test::snapshot_of(test::layered_joint(2))};
  TuneSession session(document);
  session.start({.budget = session.limit(), .evaluations = 1});
  ASSERT_TRUE(session.makes_a_pair());
  const auto flags = [](const char* text) {
    return training_flags(parse_pipeline(text).value(), TrainedAs::compiled, built_in_passes());
  };
  EXPECT_EQ(session.form(flags("knapsack_budget{budget=0.4},reorder_for_peak_memory")),
            TrainingForm::flags);
  const TrainingFlags own = flags("fastest_plan,place_collectives");
  EXPECT_EQ(session.form(own), TrainingForm::pipeline);
  EXPECT_EQ(
      session.why(TrainingForm::pipeline, own).toStdString(),
      "A recipe cannot partition a joint graph. Settings cannot express fastest_plan: this is "
      "a pass of Jointer.");
  session.stop();
}

// The edits of another request may be applied while the pipeline runs.
TEST_F(ATuneSession, TellsItsEditsFromThoseOfOthers) {
  const QSignalSpy said(&session, &TuneSession::message);
  session.apply(pipeline);
  editing().apply_all(
      {Edit{.title = "Save y",
            .changes = {SetPolicy{.select = "y", .policy = MemoryPolicy::must_save}}}});
  pool.run_started();  // both; the result of the pipeline arrives first
  pool.run_all();
  EXPECT_TRUE(sentences(said).back().startsWith(QStringLiteral("Applied 1 ")))
      << sentences(said).join(u' ').toStdString();
  EXPECT_FALSE(document.has(document.graph().find("dead")));
  EXPECT_EQ(editing().entry_count(), 2);
  EXPECT_TRUE(session.can_apply());
}

}  // namespace
}  // namespace jointer::views
