#include <gtest/gtest.h>

#include <map>

#include "tests/support/snapshots.h"
#include "views/inspector/describe_nodes.h"
#include "views/session/snapshot/range_figures.h"
#include "views/session/text/number_text.h"
#include "views/session/text/range_text.h"

namespace jointer::views {
namespace {

class ADescribedRange : public testing::Test {
 protected:
  [[nodiscard]] const NodeTiming& timing(const char* name) const {
    return snapshot->analysis.simulation.timing(snapshot->graph.find(name));
  }
  [[nodiscard]] InspectorSection described(TimeRange range) const {
    return describe_range(*range_figures(*snapshot, range));
  }
  [[nodiscard]] InspectorSection describe_run(const char* name) const {
    return described({timing(name).start, timing(name).end});
  }
  // The values by label. Each label is used once.
  static std::map<QString, QString> values(const InspectorSection& section) {
    std::map<QString, QString> found;
    for (const InspectorRow& row : section.rows)
      EXPECT_TRUE(found.emplace(row.label, row.value).second) << row.label.toStdString();
    return found;
  }
  static Provenance provenance(const InspectorSection& section, const QString& label) {
    for (const InspectorRow& row : section.rows)
      if (row.label == label) return row.provenance;
    ADD_FAILURE() << label.toStdString();
    return {};
  }

  SnapshotPtr snapshot = test::snapshot_of(test::kSmallStep);
};

TEST_F(ADescribedRange, HasTheTotalsOfANode) {
  const NodeTiming& mm = timing("mm");
  ASSERT_GT(mm.start, 0) << "the placeholders are not in the range";
  const InspectorSection section = describe_run("mm");
  EXPECT_EQ(section.title, "Range " + time_range_text(mm.start, mm.end));
  auto shown = values(section);
  EXPECT_EQ(shown["duration"], time_text(mm.end - mm.start));
  EXPECT_EQ(shown["nodes"], "1");
  EXPECT_EQ(shown["compute"], time_text(mm.end - mm.start));
  EXPECT_EQ(shown["communication"], time_text(0));
  EXPECT_EQ(shown["exposed"], time_text(0));
  EXPECT_EQ(shown["FLOPs"], "65.5 kFLOP");
  EXPECT_EQ(shown["allocated"], "2.00 KiB in 1 storage");
  EXPECT_EQ(shown["freed"], storages_text(0, 0)) << "it is freed after its last reader";
  const auto profile = snapshot->analysis.memory.profile();
  const std::size_t after = *snapshot->analysis.memory.point_of(snapshot->graph.find("mm"));
  EXPECT_EQ(shown["live"], QStringLiteral("%1 at the start, %2 at the end")
                               .arg(bytes_text(profile[after] - 2048), bytes_text(profile[after])));
  EXPECT_EQ(shown["maximum"], bytes_text(profile[after]));
  EXPECT_FALSE(shown.contains("recomputed"));
}

TEST_F(ADescribedRange, MarksWhatIsEstimated) {
  const InspectorSection section = describe_run("mm");
  for (const char* label : {"duration", "compute", "communication", "exposed"})
    EXPECT_EQ(provenance(section, label), Provenance::estimated) << label;
  for (const char* label : {"nodes", "FLOPs", "allocated", "freed", "live", "maximum"})
    EXPECT_EQ(provenance(section, label), Provenance::computed) << label;
  for (const InspectorRow& row : section.rows)
    if (row.label == "allocated") {
      EXPECT_EQ(row.note, "2,048 bytes");
    }
}

TEST_F(ADescribedRange, CountsACollectiveWhereItsWaitStalls) {
  const NodeTiming& wait = timing("wt");
  ASSERT_GT(wait.end, wait.start);
  auto shown = values(describe_run("wt"));
  EXPECT_EQ(shown["exposed"], time_text(wait.end - wait.start));
  EXPECT_EQ(shown["nodes"], "2") << "the collective and its wait";
  EXPECT_EQ(shown["compute"], time_text(0));
  EXPECT_EQ(shown["FLOPs"], "0");
}

TEST_F(ADescribedRange, EndsWithTheStep) {
  const std::int64_t all = snapshot->analysis.simulation.step_ns();
  const InspectorSection section = described({-7, all + 7});
  EXPECT_EQ(section.title, "Range " + time_range_text(0, all));
  auto shown = values(section);
  EXPECT_EQ(shown["nodes"], count_text(snapshot->graph.order().size()));
  EXPECT_EQ(shown["FLOPs"], flops_text(snapshot->analysis.total_flops.total));
  EXPECT_EQ(shown["maximum"], bytes_text(snapshot->analysis.memory.peak_bytes()));
}

TEST_F(ADescribedRange, SaysHowManyNodesAreRecomputed) {
  snapshot = test::snapshot_of(R"(
    x: f32[1024] = input
    a: f32[1024] = aten.relu(x)
    again: f32[1024] = aten.relu(x)             {backward recomputed}
    g: f32[1024] = aten.mul.Tensor(again, x)    {backward}
    return [a, g]
  )");
  EXPECT_EQ(values(describe_run("again"))["recomputed"], "1 node");
  EXPECT_FALSE(values(describe_run("a")).contains("recomputed"));
  auto whole = values(described(whole_step(snapshot->analysis.simulation)));
  EXPECT_EQ(whole["recomputed"], "1 node");
  EXPECT_EQ(whole["compute"], time_text(snapshot->analysis.simulation.compute_ns()))
      << "both runs count";
}

}  // namespace
}  // namespace jointer::views
