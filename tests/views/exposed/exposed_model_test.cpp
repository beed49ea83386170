#include "views/exposed/exposed_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <map>

#include "tests/support/layered_gathers.h"
#include "tests/support/model_rows.h"
#include "tests/support/must.h"
#include "tests/support/snapshots.h"

namespace jointer::views {
namespace {

class ExposedModelTest : public ::testing::Test {
 protected:
  ExposedModelTest() { model_.set_snapshot(snapshot_); }

  int row(const QString& name) { return test::row_of(model_, name); }
  [[nodiscard]] NodeId node(const char* name) const { return snapshot_->graph.find(name); }
  [[nodiscard]] QString shown(int row, int column) const {
    return model_.index_of(row, column).data().toString();
  }
  void find(const char* name) {
    FixFinder finder(snapshot_, std::int64_t{1} << 50);
    const std::atomic<bool> never = false;
    const auto fixes = finder.find(node(name), never);
    ASSERT_TRUE(fixes);
    model_.set_fixes(node(name), std::make_shared<const CollectiveFixes>(*fixes));
  }

  // Three layers with an exposed gather each, and a gather that compute hides.
  SnapshotPtr snapshot_ = [] {
    std::string text = test::layered_gathers(3);
    text.insert(text.find("a0:"),
                "h: f32[8192,4096] = _c10d_functional.all_gather_into_tensor(x, 2, 'fsdp')\n");
    text.insert(text.find("return"), "hv: f32[8192,4096] = _c10d_functional.wait_tensor(h)\n");
    text.replace(text.find("return [y2]"), 11, "return [y2, hv]");
    return test::snapshot_of(text);
  }();
  ExposedModel model_;
  QAbstractItemModelTester tester_{&model_, QAbstractItemModelTester::FailureReportingMode::Fatal};
};

TEST_F(ExposedModelTest, ListsWhatIsExposedAndOptionallyTheRest) {
  EXPECT_EQ(model_.row_of(node("h")), -1);
  EXPECT_GE(model_.row_count(), 3);
  EXPECT_EQ(model_.collective_count(), 4U);
  model_.set_show_hidden(true);
  EXPECT_EQ(model_.row_count(), 4);
  EXPECT_EQ(model_.text(row("h"), ExposedModel::why_column), "hidden");
  EXPECT_EQ(model_.number(row("h"), ExposedModel::exposed_column), 0);
}

TEST_F(ExposedModelTest, DescribesACollective) {
  const int g1 = row("g1");
  EXPECT_EQ(model_.text(g1, ExposedModel::kind_column), "all-gather");
  EXPECT_EQ(model_.text(g1, ExposedModel::group_column), "fsdp · 2 ranks");
  EXPECT_EQ(model_.note(g1, ExposedModel::group_column), "ranks: 2 (0, 1)");
  EXPECT_EQ(model_.text(g1, ExposedModel::module_column), "layers.1.wq");
  EXPECT_EQ(model_.text(g1, ExposedModel::phase_column), "forward");
  EXPECT_EQ(model_.number(g1, ExposedModel::bytes_column), 4096 * 4096 * 4);
  EXPECT_TRUE(model_.text(g1, ExposedModel::why_column)
                  .startsWith("no compute runs between start and wait; "));
  EXPECT_EQ(model_.nodes(g1), (std::vector{node("g1"), node("v1")}));
  EXPECT_EQ(model_.row_of(node("v1")), g1) << "the wait is in the row of its collective";
  EXPECT_EQ(model_.row_of(node("a1")), -1);
}

TEST_F(ExposedModelTest, SaysThatTheSizeOfAGroupIsUnknown) {
  model_.set_show_hidden(true);
  model_.set_snapshot(test::snapshot_of(R"(
    x: f32[64] = input
    r: f32[64] = _c10d_functional.all_reduce(x, 'sum', 'dp')
    r_wait: f32[64] = _c10d_functional.wait_tensor(r)
    g: f32[64] = _c10d_functional.all_gather_into_tensor(x, 1, 'one')
    g_wait: f32[64] = _c10d_functional.wait_tensor(g)
    return [r_wait, g_wait]
  )"));
  EXPECT_EQ(model_.text(row("r"), ExposedModel::group_column), "dp · size unknown");
  EXPECT_EQ(model_.note(row("r"), ExposedModel::group_column), "ranks: unknown");
  EXPECT_EQ(model_.text(row("g"), ExposedModel::group_column), "one · 1 rank");
  Graph graph = model_.snapshot()->graph;
  ASSERT_TRUE(graph.assume(Assumptions::parse("ranks:dp=16").value()));
  model_.set_snapshot(test::must(make_snapshot(std::move(graph), {})));
  EXPECT_EQ(model_.text(row("r"), ExposedModel::group_column), "dp · 16 ranks assumed");
  EXPECT_EQ(model_.note(row("r"), ExposedModel::group_column), "ranks: 16 (assumed)");
}

TEST_F(ExposedModelTest, AddsUpToTheStep) {
  EXPECT_EQ(model_.totals().by_column[ExposedModel::exposed_column],
            snapshot_->analysis.simulation.exposed_ns());
  EXPECT_TRUE(model_.totals_text(model_.totals()).contains("exposed"));
}

// Gains become known after the rows were sorted.
TEST_F(ExposedModelTest, StaysSortedByGains) {
  const auto gain = [this](const char* name, std::int64_t ns) {
    CollectiveFixes fixes;
    CollectiveFix& alone = fixes.by_kind[static_cast<std::size_t>(FixKind::alone)];
    alone.edit = Edit{.title = "Move", .changes = {}};
    alone.after.step_ns = fixes.before.step_ns - ns;
    return std::pair{node(name), std::make_shared<const CollectiveFixes>(fixes)};
  };
  const auto first = [this] { return model_.nodes(model_.shown(-1).front()).front(); };
  model_.sort(ExposedModel::alone_column, Qt::DescendingOrder);
  for (const auto& [start, fixes] : {gain("g1", 100), gain("g2", 200)})
    model_.set_fixes(start, fixes);
  ASSERT_EQ(model_.number(row("g2"), ExposedModel::alone_column), 200);
  EXPECT_EQ(first(), node("g2"));
  const auto all = std::map<NodeId, CollectiveFixesPtr>{gain("g0", 10), gain("g1", 500)};
  model_.set_all_fixes([&](NodeId start) {
    const auto known = all.find(start);
    return known == all.end() ? nullptr : known->second;
  });
  EXPECT_EQ(first(), node("g1"));
}

TEST_F(ExposedModelTest, ShowsWhatIsNotKnownYet) {
  const int g1 = row("g1");
  EXPECT_EQ(shown(g1, ExposedModel::alone_column), "…");
  EXPECT_FALSE(model_.number(g1, ExposedModel::alone_column));
  find("g1");
  const CollectiveFixes& fixes = *model_.fixes(g1);
  EXPECT_EQ(model_.number(g1, ExposedModel::alone_column), fixes.gained_ns(FixKind::alone));
  EXPECT_EQ(model_.number(g1, ExposedModel::layers_column), fixes.gained_ns(FixKind::all_layers));
  EXPECT_EQ(model_.number(g1, ExposedModel::layers_peak_column),
            fixes.peak_change(FixKind::all_layers));
  EXPECT_TRUE(model_.note(g1, ExposedModel::layers_column).endsWith("in 3 layers"));
  EXPECT_EQ(shown(row("g2"), ExposedModel::alone_column), "…");
}

TEST_F(ExposedModelTest, APeakThatRisesHasASign) {
  const int g1 = row("g1");
  CollectiveFixes fixes{.before = {.peak_bytes = 1024, .step_ns = 2000, .exposed_ns = 10}};
  fixes.by_kind[0] = {.edit = Edit{}, .after = {3072, 500, 0}};
  fixes.by_kind[1] = {.why_not = "Held by a1.", .after = fixes.before};
  model_.set_fixes(node("g1"), std::make_shared<const CollectiveFixes>(fixes));
  EXPECT_EQ(shown(g1, ExposedModel::alone_column), "1.50 us");
  EXPECT_EQ(shown(g1, ExposedModel::alone_peak_column), "+2.00 KiB");
  EXPECT_EQ(shown(g1, ExposedModel::chains_column), "–");
  EXPECT_EQ(model_.note(g1, ExposedModel::chains_column), "Held by a1.");
}

TEST_F(ExposedModelTest, AGraphWithoutCollectivesHasNoRows) {
  model_.set_snapshot(test::snapshot_of(R"(
    x: f32[8,8] = input
    y: f32[8,8] = aten.relu(x)
    return [y]
  )"));
  EXPECT_EQ(model_.row_count(), 0);
  EXPECT_EQ(model_.collective_count(), 0U);
}

}  // namespace
}  // namespace jointer::views
