// Inductor is asked about a document; a script stands in for Python with torch.

#include "views/session/kernels/asked_kernels.h"

#include <gtest/gtest.h>

#include <QTest>
#include <algorithm>
#include <memory>
#include <sstream>

#include "core/edit/moves.h"
#include "core/open/open.h"
#include "tests/support/alive.h"
#include "tests/support/fake_inductor.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/patience.h"
#include "tests/support/snapshots.h"
#include "views/session/document/document.h"
#include "views/session/edit/editing.h"
#include "views/session/kernels/shown_kernels.h"

namespace jointer::views {
namespace {

using test::kPatienceMs;

class AskedKernelsTest : public testing::Test {
 protected:
  void SetUp() override {
    document = std::make_unique<Document>(OpenRequest{.path = "/tmp/graph.json"},
                                          test::snapshot_of(test::kFusedAndProducts));
  }
  [[nodiscard]] AskedKernels& asked() const { return document->asked_kernels(); }
  [[nodiscard]] NodeId node(const char* name) const { return document->graph().find(name); }
  template <class Condition>
  static bool wait_for(const Condition& condition) {
    return QTest::qWaitFor(condition, kPatienceMs);
  }
  void ask() const {
    asked().ask();
    ASSERT_TRUE(asked().is_running());
    ASSERT_TRUE(wait_for([&] { return !asked().is_running(); }));
  }
  // True if all processes of the fake's last run have ended.
  [[nodiscard]] bool is_over() const {
    std::istringstream ids(python.runs().back());
    for (pid_t id = 0; ids >> id;)
      if (!test::dies_soon(id)) return false;
    return true;
  }

  test::FakeInductor python;
  std::unique_ptr<Document> document;
};

TEST_F(AskedKernelsTest, HasTheKernelsOfInductorAndTheirDifferences) {
  int reports = 0;
  QObject::connect(&asked(), &AskedKernels::progressed, [&] { ++reports; });
  EXPECT_FALSE(asked().answer());
  ask();
  EXPECT_EQ(asked().problem(), QString());
  EXPECT_GT(reports, 0);
  EXPECT_TRUE(asked().has_answered());
  ASSERT_TRUE(asked().answer());
  EXPECT_TRUE(asked().is_current());
  const AskedAnswer& answer = *asked().answer();
  EXPECT_EQ(answer.torch, "2.15.0");
  EXPECT_EQ(answer.kernels->rows().size(), 5U) << "the stand-in makes a kernel of each call";
  EXPECT_EQ(answer.kernels->kernel(1).nodes, std::vector{node("b")});
  EXPECT_EQ(answer.kernels->totals().kernels, 5);
  EXPECT_FALSE(answer.kernels->parts().front().stated.empty());
  ASSERT_EQ(answer.parts.size(), 1U);
  const kernels::KernelComparison& against = answer.parts.front().against_prediction;
  const auto split = std::ranges::find(against.differences, kernels::KernelDifference::Kind::split,
                                       &kernels::KernelDifference::kind);
  ASSERT_NE(split, against.differences.end());
  EXPECT_EQ(split->nodes, (std::vector{node("a"), node("b")}));
}

TEST_F(AskedKernelsTest, AnEditMakesItsAnswerOneOfAnEarlierGraph) {
  ask();
  document->editing().apply(*move_edit(document->graph(), std::vector{node("e")}, node("a")));
  ASSERT_TRUE(wait_for([&] { return asked().is_of_earlier_graph(); }));
  EXPECT_FALSE(asked().is_current());
  document->editing().undo();
  ASSERT_TRUE(wait_for([&] { return asked().is_current(); }));
  EXPECT_EQ(asked().answer()->kernels->snapshot(), document->shared_snapshot());
  EXPECT_EQ(python.runs().size(), 1U);
}

TEST_F(AskedKernelsTest, AnotherAnalysisIsOfTheSameGraph) {
  ask();
  AnalysisOptions options = document->analysis().options;
  options.estimator.device = "b200";
  document->analyze_with(options);
  ASSERT_TRUE(wait_for([&] {
    return asked().answer()->kernels->snapshot()->analysis.options.estimator.device == "b200";
  }));
  EXPECT_TRUE(asked().is_current());
}

TEST_F(AskedKernelsTest, AnEditDuringTheQuestion) {
  asked().ask();
  document->editing().apply(*move_edit(document->graph(), std::vector{node("e")}, node("a")));
  ASSERT_TRUE(wait_for([&] { return !asked().is_running() && asked().is_of_earlier_graph(); }));
  ask();
  EXPECT_TRUE(asked().is_current());
  EXPECT_EQ(asked().answer()->kernels->kernel(0).nodes, std::vector{node("e")});
}

TEST_F(AskedKernelsTest, CancellingLeavesNoProcess) {
  python.act("sleep");
  asked().ask();
  ASSERT_TRUE(wait_for([&] { return asked().progress().asked.stage == AskStage::lower; }));
  EXPECT_EQ(asked().progress().asked.of, 4);
  ASSERT_TRUE(wait_for([&] { return !python.runs().empty(); }));
  asked().cancel();
  EXPECT_FALSE(asked().is_running());
  EXPECT_TRUE(wait_for([&] { return is_over(); }));
  EXPECT_EQ(asked().problem(), QString());
  EXPECT_FALSE(asked().has_answered());
  python.act("answer");
  ask();
  EXPECT_TRUE(asked().answer());
}

TEST_F(AskedKernelsTest, ClosingTheDocumentEndsTheQuestion) {
  python.act("sleep");
  asked().ask();
  ASSERT_TRUE(wait_for([&] { return !python.runs().empty(); }));
  document.reset();
  EXPECT_TRUE(is_over());
}

TEST_F(AskedKernelsTest, AFailureKeepsThePreviousAnswer) {
  ask();
  document->editing().apply(*move_edit(document->graph(), std::vector{node("e")}, node("a")));
  ASSERT_TRUE(wait_for([&] { return asked().is_of_earlier_graph(); }));
  python.act("fail");
  ask();
  EXPECT_TRUE(asked().problem().contains("node mm cannot be lowered"))
      << asked().problem().toStdString();
  EXPECT_FALSE(asked().has_answered());
  EXPECT_TRUE(asked().answer());
  python.have_torch("");
  ask();
  EXPECT_TRUE(asked().problem().contains("pip install torch")) << asked().problem().toStdString();
}

TEST_F(AskedKernelsTest, APanesSourceIsEither) {
  ShownKernels& shown = document->shown_kernels();
  int changes = 0;
  QObject::connect(&shown, &ShownKernels::changed, [&] { ++changes; });
  ask();
  EXPECT_EQ(changes, 0) << "predicted kernels are shown";
  EXPECT_FALSE(shown.shown());
  shown.set_source(ShownKernels::Source::asked);
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(shown.shown(), asked().answer()->kernels);
  EXPECT_TRUE(shown.is_current());
  document->editing().apply(*move_edit(document->graph(), std::vector{node("e")}, node("a")));
  ASSERT_TRUE(wait_for([&] { return !shown.is_current(); }));
  EXPECT_GT(changes, 1);
}

TEST_F(AskedKernelsTest, WhyTheKernelsOfTheGraphAreNotShownIsSaid) {
  ShownKernels& shown = document->shown_kernels();
  EXPECT_EQ(shown.state_text(), "predicting...");
  shown.set_source(ShownKernels::Source::asked);
  EXPECT_EQ(shown.state_text(), "not asked");
  asked().ask();
  EXPECT_EQ(shown.state_text(), "asking...");
  ASSERT_TRUE(wait_for([&] { return !asked().is_running(); }));
  EXPECT_EQ(shown.state_text(), "");
  document->editing().apply(*move_edit(document->graph(), std::vector{node("e")}, node("a")));
  ASSERT_TRUE(wait_for([&] { return asked().is_of_earlier_graph(); }));
  EXPECT_EQ(shown.state_text(), "for an earlier graph");
}

TEST_F(AskedKernelsTest, AQuestionThatFailsHasNoAnswerToShow) {
  python.act("fail");
  document->shown_kernels().set_source(ShownKernels::Source::asked);
  ask();
  EXPECT_EQ(document->shown_kernels().state_text(), "no answer");
}

TEST(AskedKernelsOfAPair, EachHalfIsAsked) {
  const test::FakeInductor python;
  const Graph graph = test::must(open_graph(
      {.path = test::source_path("resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst")}));
  Document document(OpenRequest{.path = "pair"}, test::must(make_snapshot(graph, {})));
  AskedKernels& asked = document.asked_kernels();
  asked.ask();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !asked.is_running(); }, kPatienceMs));
  ASSERT_TRUE(asked.answer()) << asked.problem().toStdString();
  EXPECT_EQ(python.runs().size(), 2U);
  ASSERT_EQ(asked.answer()->parts.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const CompiledPart& part = asked.answer()->kernels->parts()[i];
    for (const kernels::Kernel& kernel : part.scheduled.kernels)
      for (const NodeId node : kernel.nodes) EXPECT_EQ(graph.node(node).part, part.part);
    for (const kernels::KernelDifference& each :
         asked.answer()->parts[i].against_prediction.differences)
      for (const NodeId node : each.nodes) EXPECT_EQ(graph.node(node).part, part.part);
  }
}

}  // namespace
}  // namespace jointer::views
