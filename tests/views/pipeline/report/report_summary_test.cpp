#include "views/pipeline/report/report_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/views/pipeline/report/reports.h"
#include "views/session/edit/metrics.h"

namespace jointer::views {
namespace {

using ::testing::Field;

TEST(ReportSummary, ComparesTheFirstAndLastStateOfARun) {
  const Graph graph = test::parse(test::kCollectives);
  const auto steps = test::reported(graph, "sink_waits_iterative,eliminate_dead_code");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(report_title(steps), "2 steps: sink_waits_iterative, eliminate_dead_code");
  EXPECT_EQ(report_title(std::span(steps).first(1)), "sink_waits_iterative");
  EXPECT_TRUE(report_effort(steps).startsWith("took ")) << report_effort(steps).toStdString();
  const StepFigures &was = steps[0].result->before, &is = steps[1].result->after;
  const std::vector<MetricRow> rows = report_rows(steps);
  ASSERT_EQ(rows.at(1).name, "Exposed");
  EXPECT_EQ(rows[1].change, is.figures.exposed_ns - was.figures.exposed_ns);
  EXPECT_EQ(rows[1].difference,
            time_difference_text(was.figures.exposed_ns, is.figures.exposed_ns));
  EXPECT_EQ(rows.at(3).name, "Communication");
  EXPECT_EQ(rows[3].difference, "=") << "the same collectives";
  const auto differences = NodeDifferences::find(steps[0].before, steps[1].result->graph);
  ASSERT_TRUE(differences);
  EXPECT_THAT(report_counts(*differences, 0),
              testing::ElementsAre(
                  Field(&ReportCount::text, QString("%1 moved").arg(steps[0].result->moved))));
}

TEST(ReportSummary, CountsEveryKindOfChange) {
  const Graph graph = test::parse(test::kCollectives);
  const auto steps = test::reported(graph, "greedy_bucketing_by_mb");
  const StepResult& step = *steps.at(0).result;
  ASSERT_EQ(step.merged, 2U);
  const auto differences = NodeDifferences::find(steps[0].before, step.graph);
  ASSERT_TRUE(differences);
  QStringList texts;
  for (const ReportCount& count : report_counts(*differences, step.merged)) texts << count.text;
  EXPECT_TRUE(texts.contains(QString("%1 added").arg(step.added)))
      << texts.join(", ").toStdString();
  EXPECT_TRUE(texts.contains(QString("%1 removed").arg(step.removed)));
  EXPECT_EQ(texts.back(), "2 collectives merged");
  // Added nodes name their origin, removed ones their replacement.
  bool says_from = false, says_in_place = false;
  for (const NodeDifference& node : differences->nodes()) {
    const QString detail = differences->detail(node);
    says_from = says_from || (node.change == NodeChange::added && detail.startsWith("from g"));
    says_in_place =
        says_in_place || (node.change == NodeChange::removed && detail.startsWith("replaced by "));
  }
  EXPECT_TRUE(says_from);
  EXPECT_TRUE(says_in_place);
}

}  // namespace
}  // namespace jointer::views
