// Tests requests for an analysis that overtake each other, and analyses that end early.

#include "views/session/open/open_graph.h"

#include <gtest/gtest.h>

#include <QTest>

#include "core/compiled/compiled_step.h"
#include "tests/support/held_pool.h"
#include "tests/support/paths.h"
#include "tests/support/patience.h"
#include "tests/support/slow.h"
#include "tests/support/snapshots.h"
#include "views/session/open/loader.h"

namespace jointer::views {
namespace {

class AnOpenGraph : public testing::Test {
 protected:
  static Assumptions rows(std::int64_t count) { return {.named = {{"u0", count}}}; }
  [[nodiscard]] AnalysisOptions with_adamw() const {
    AnalysisOptions options = open.wanted_options();
    options.memory.optimizer = OptimizerState::adamw;
    return options;
  }
  [[nodiscard]] std::string assumed() const { return open.graph().assumptions().text(); }

  test::HeldPool pool;
  OpenGraph open{OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(R"(
    x: f32[u0,8] = input
    r: f32[u0,8] = aten.relu(x)
    return [r]
  )")};
};

TEST_F(AnOpenGraph, NewOptionsKeepAssumptionsThatAreNotAnalyzedYet) {
  open.assume(rows(3));
  open.analyze_with(with_adamw());
  pool.run_all(5);
  EXPECT_EQ(assumed(), "u0=3");
  EXPECT_EQ(open.analysis().options.memory.optimizer, OptimizerState::adamw);
}

TEST_F(AnOpenGraph, NewAssumptionsKeepOptionsThatAreNotAnalyzedYet) {
  open.analyze_with(with_adamw());
  open.assume(rows(3));
  pool.run_all(5);
  EXPECT_EQ(assumed(), "u0=3");
  EXPECT_EQ(open.analysis().options.memory.optimizer, OptimizerState::adamw);
}

TEST_F(AnOpenGraph, TheLatestRequestIsWantedUntilItIsAnalyzed) {
  open.assume(rows(3));
  EXPECT_EQ(open.wanted_assumptions().text(), "u0=3");
  open.analyze_with(with_adamw());
  EXPECT_EQ(open.wanted_assumptions().text(), "u0=3");
  EXPECT_EQ(open.wanted_options().memory.optimizer, OptimizerState::adamw);
  EXPECT_EQ(assumed(), "");
  pool.run_all(5);
  EXPECT_EQ(open.wanted_assumptions().text(), "u0=3");
  open.assume(rows(5));
  EXPECT_EQ(open.wanted_assumptions().text(), "u0=5");
  EXPECT_EQ(open.wanted_options().memory.optimizer, OptimizerState::adamw);
  pool.run_all(5);
  EXPECT_EQ(assumed(), "u0=5");
  EXPECT_EQ(open.graph().assumptions().text(), open.baseline()->graph.assumptions().text());
}

TEST_F(AnOpenGraph, IsAnalyzedAsItIsExecuted) {
  AnalysisOptions options = open.wanted_options();
  options.execution = Execution::inductor;
  open.analyze_with(options);
  pool.run_all(5);
  EXPECT_EQ(open.analysis().options.execution, Execution::inductor);
  ASSERT_TRUE(open.analysis().compiled);
  EXPECT_EQ(open.analysis().compiled->parts.size(), 1U);
  // Sizes change, and the execution stays.
  open.assume(rows(3));
  pool.run_all(5);
  EXPECT_EQ(open.analysis().options.execution, Execution::inductor);
  EXPECT_TRUE(open.analysis().compiled);
}

TEST_F(AnOpenGraph, SaysWhyItCannotBeExecutedLikeThat) {
  QString message;
  QObject::connect(&open, &OpenGraph::failed, &open, [&](const QString& text) { message = text; });
  AnalysisOptions options = open.wanted_options();
  options.execution = Execution::regional;
  open.analyze_with(options);
  pool.run_all(5);
  EXPECT_TRUE(message.contains("compile_with_inductor")) << message.toStdString();
  EXPECT_EQ(open.analysis().options.execution, Execution::eager);
  EXPECT_EQ(open.wanted_options().execution, Execution::eager);
}

// The options of a request that failed are not carried into later ones.
TEST_F(AnOpenGraph, ForgetsARequestThatFailed) {
  QString message;
  QObject::connect(&open, &OpenGraph::failed, &open, [&](const QString& text) { message = text; });
  open.assume({.named = {{"u7", 3}}});
  pool.run_all(5);
  EXPECT_TRUE(message.contains("u7")) << message.toStdString();
  open.analyze_with(with_adamw());
  pool.run_all(5);
  EXPECT_EQ(assumed(), "");
  EXPECT_EQ(open.analysis().options.memory.optimizer, OptimizerState::adamw);
}

// An analysis that predicts the kernels of a large graph, which takes much longer than kSoonMs.
class ALongAnalysis : public testing::Test {
 protected:
  static constexpr int kSoonMs = 15'000;

  ALongAnalysis() {
    wait_on_close(work::pool());
    options.execution = Execution::inductor;
  }

  OpenRequest request{.path =
                          test::source_path("resources/samples/llama_8b_tp2_fsdp2.joint.json.zst")};
  AnalysisOptions options;
};

TEST_F(ALongAnalysis, EndsIfTheLoaderIsCancelled) {
  JOINTER_SLOW_TEST();
  Loader loader(request, options);
  bool is_analyzing = false;
  QObject::connect(&loader, &Loader::progressed, &loader, [&](double, const QString& what, qint64) {
    is_analyzing |= what.startsWith(QStringLiteral("Computing"));
  });
  loader.start();
  ASSERT_TRUE(QTest::qWaitFor([&] { return is_analyzing; }, test::kPatienceMs));
  loader.cancel();
  EXPECT_TRUE(QTest::qWaitFor([] { return work::pool().activeThreadCount() == 0; }, kSoonMs));
}

TEST_F(ALongAnalysis, EndsIfAnotherIsRequested) {
  JOINTER_SLOW_TEST();
  OpenGraph open(request, make_snapshot(open_graph(request).value(), {}).value());
  open.analyze_with(options);
  QTest::qWait(200);  // until it has begun
  AnalysisOptions other = open.analysis().options;
  other.memory.optimizer = OptimizerState::adamw;
  open.analyze_with(other);
  EXPECT_TRUE(QTest::qWaitFor(
      [&] { return open.analysis().options.memory.optimizer == OptimizerState::adamw; }, kSoonMs));
  EXPECT_EQ(open.analysis().options.execution, Execution::eager);
}

}  // namespace
}  // namespace jointer::views
