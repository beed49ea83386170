// Tests requests that overtake each other: ticks, questions and edits of the document while states
// are being computed.

#include "views/session/sac/sac_session.h"

#include <gtest/gtest.h>

#include <QCoreApplication>

#include "tests/support/held_pool.h"
#include "tests/support/joints.h"
#include "tests/support/snapshots.h"
#include "views/session/document/document.h"
#include "views/session/edit/editing.h"

namespace jointer::views {
namespace {

class SacSessionTest : public testing::Test {
 protected:
  SacSessionTest() {
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
  std::unique_ptr<Document> document = std::make_unique<Document>(
      OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(test::layered_joint(4)));
};

TEST_F(SacSessionTest, TickIsNotLostWhileAnEarlierOneIsApplied) {
  session().set_keep({node("mm1")}, Keep::recompute);
  session().set_keep({node("mm2")}, Keep::recompute);
  run();  // the first: its edit and the second are being computed
  run_all();
  for (const char* name : {"mm1", "mm2"}) {
    EXPECT_EQ(document->graph().node(node(name)).policy, MemoryPolicy::must_recompute) << name;
    EXPECT_EQ(session().state()->tensor_of(node(name))->keep, Keep::recompute) << name;
  }
  EXPECT_EQ(document->editing().step_count(), 2);
}

TEST_F(SacSessionTest, FiguresAreThoseOfTheCurrentEstimates) {
  session().set_keep({node("mm1")}, Keep::recompute);
  run_all();
  AnalysisOptions options = document->analysis().options;
  ASSERT_NE(options.estimator.device, "a100");
  options.estimator.device = "a100";
  std::vector<PlanFigures> figures;
  QObject context;
  document->analyze_with(options);
  session().find_figures({}, &context, [&](const PlanFigures& found) { figures.push_back(found); });
  run_all();
  session().find_figures({}, &context, [&](const PlanFigures& found) { figures.push_back(found); });
  run_all();
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].figures, figures[1].figures);
}

TEST_F(SacSessionTest, CancelledRequestsLeaveTheShownState) {
  const SacStatePtr before = session().state();
  session().set_keep({node("mm1")}, Keep::recompute);
  session().cancel();
  run_all();
  EXPECT_FALSE(session().is_working());
  EXPECT_EQ(session().state(), before);
  session().set_keep({node("mm2")}, Keep::recompute);
  run_all();
  EXPECT_EQ(document->editing().step_count(), 1);
}

}  // namespace
}  // namespace jointer::views
