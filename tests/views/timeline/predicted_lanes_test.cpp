// Tests the lanes of predicted, compiled and measured kernels in a timeline, without a widget.

#include <gtest/gtest.h>

#include <string>

#include "core/base/bytes.h"
#include "core/open/open.h"
#include "tests/support/held_pool.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/profiler_trace_text.h"
#include "tests/support/snapshots.h"
#include "tests/support/temporary_folder.h"
#include "views/session/kernels/opened_kernels.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/session/kernels/shown_kernels.h"
#include "views/session/kernels/traced_kernels.h"
#include "views/timeline/timeline_content.h"

namespace jointer::views {
namespace {

class PredictedRows : public testing::Test {
 protected:
  [[nodiscard]] std::size_t predicted_rows() const {
    std::size_t count = 0;
    for (const TimelineContent::Row& row : content_.rows()) count += row.has_shown_kernels ? 1 : 0;
    return count;
  }
  void predict() {
    document_.kernels().watch(watcher_);
    pool_.run_all(8);
    ASSERT_TRUE(document_.kernels().is_current());
  }

  test::HeldPool pool_;
  Document document_{OpenRequest{}, test::snapshot_of(test::kSmallStep)};
  TimelineContent content_{document_};
  QObject watcher_;
};

TEST_F(PredictedRows, AreShownOnRequest) {
  EXPECT_EQ(predicted_rows(), 0U);
  content_.set_show_kernels(true);
  ASSERT_EQ(predicted_rows(), 1U) << "a row without kernels until they are known";
  EXPECT_TRUE(content_.rows().back().has_shown_kernels);
  EXPECT_TRUE(content_.lane(content_.rows().back()).items().empty());
  EXPECT_EQ(content_.kernels_state(), "predicting...");
  predict();
  EXPECT_EQ(content_.kernels_state(), "");
  ASSERT_NE(content_.kernel_lanes(), nullptr);
  EXPECT_EQ(predicted_rows(), content_.kernel_lanes()->lanes().size());
  EXPECT_EQ(predicted_rows(), 2U) << "kernels and the collective";
  EXPECT_FALSE(content_.lane(content_.rows().back()).items().empty());
  content_.set_show_kernels(false);
  EXPECT_EQ(predicted_rows(), 0U);
  EXPECT_EQ(content_.kernel_lanes(), nullptr);
  document_.kernels().stop_watching(watcher_);
}

TEST_F(PredictedRows, FollowTheAxis) {
  content_.set_show_kernels(true);
  predict();
  content_.set_kind(AxisKind::program_order);
  EXPECT_EQ(predicted_rows(), 1U);
  EXPECT_EQ(content_.kernel_lanes()->length(), content_.data().length());
  content_.set_kind(AxisKind::estimated_time);
  EXPECT_EQ(predicted_rows(), 2U);
  document_.kernels().stop_watching(watcher_);
}

TEST_F(PredictedRows, AreNotTheRowsOfNodes) {
  content_.set_show_kernels(true);
  predict();
  for (const char* name : {"mm", "relu", "ar", "wt"}) {
    const int row = content_.row_of(document_.graph().find(name), false);
    if (row < 0) continue;
    EXPECT_FALSE(content_.rows()[static_cast<std::size_t>(row)].has_shown_kernels) << name;
  }
  const int row = content_.row_of_kernels(0);
  ASSERT_GE(row, 0);
  EXPECT_TRUE(content_.rows()[static_cast<std::size_t>(row)].has_shown_kernels);
  EXPECT_EQ(content_.row_of_kernels(7), -1);
  document_.kernels().stop_watching(watcher_);
}

TEST_F(PredictedRows, SayTheirSource) {
  EXPECT_FALSE(content_.needs_prediction());
  content_.set_show_kernels(true);
  EXPECT_TRUE(content_.needs_prediction());
  predict();
  EXPECT_EQ(content_.kernels_name(), "kernels");
  EXPECT_EQ(content_.kernels_legend(), "kernels: predicted");
  document_.shown_kernels().set_source(ShownKernels::Source::asked);
  EXPECT_FALSE(content_.needs_prediction());
  EXPECT_EQ(content_.kernel_lanes(), nullptr) << "Inductor was not asked";
  EXPECT_EQ(predicted_rows(), 1U);
  EXPECT_EQ(content_.kernels_name(), "Inductor");
  EXPECT_EQ(content_.kernels_state(), "not asked");
  EXPECT_EQ(content_.kernels_legend(), "kernels: Inductor's answer, times estimated");
  document_.kernels().stop_watching(watcher_);
}

// Lanes of measured kernels look like those of a measurement.
TEST(LanesOfMeasuredKernels, HaveMeasuredTimes) {
  test::HeldPool pool;
  const test::TemporaryFolder folder;
  const std::string log = test::source_path("tests/core/capture/artifacts/cpu_2_15.log");
  const std::string trace = folder / "trace.json";
  ASSERT_TRUE(write_bytes(trace, test::ProfilerTraceText()
                                     .compiled_graph("f", 0, 200)
                                     .op("graph_0_cpp_fused_native_layer_norm_0", 1, 40)
                                     .op("aten::mm", 50, 30)
                                     .op("graph_0_cpp_fused_gelu_sum_1", 90, 20)
                                     .text()));
  Document document(
      OpenRequest{.path = log},
      test::must(make_snapshot(test::must(open_graph({.path = log, .index = 0})), {})));
  TimelineContent content(document);
  content.set_show_kernels(true);
  EXPECT_FALSE(content.has_measured_times(content.rows().back())) << "not known yet";
  document.opened_kernels().read(QString::fromStdString(log));
  pool.run_all(4);
  ASSERT_NE(content.kernel_lanes(), nullptr);
  EXPECT_FALSE(content.has_measured_times(content.rows().back()));
  document.traced_kernels().read(QString::fromStdString(trace));
  pool.run_all(4);
  ASSERT_TRUE(document.traced_kernels().shown());
  EXPECT_EQ(content.kernels_legend(), "kernels: measured (trace)");
  EXPECT_TRUE(content.has_measured_times(content.rows().back()));
  EXPECT_FALSE(content.has_measured_times(content.rows().front())) << "the lane of the CPU";
  EXPECT_EQ(content.kernel_lanes()->length(), 90'000);
}

// Two of the three kernels of the log are not tied to a node of the graph.
TEST(LanesOfCompiledKernels, FollowTheSourceOfThePane) {
  test::HeldPool pool;
  const std::string log = test::source_path("tests/core/capture/artifacts/cpu_2_15.log");
  Document document(
      OpenRequest{.path = log},
      test::must(make_snapshot(test::must(open_graph({.path = log, .index = 0})), {})));
  TimelineContent content(document);
  content.set_show_kernels(true);
  document.opened_kernels().read(QString::fromStdString(log));
  pool.run_all(4);
  ASSERT_TRUE(document.opened_kernels().shown());
  ASSERT_NE(content.kernel_lanes(), nullptr);
  EXPECT_EQ(content.kernel_lanes()->shared_kernels(), document.opened_kernels().shown());
  EXPECT_EQ(content.kernels_name(), "compiled");
  EXPECT_EQ(content.kernels_state(), "");
  EXPECT_EQ(
      content.kernel_lanes()->lanes().front().items().size() + content.kernel_lanes()->left_out(),
      3U);
  EXPECT_TRUE(content.kernels_legend().startsWith("kernels: compiled artifacts, times estimated"));
  content.set_kind(AxisKind::program_order);
  EXPECT_EQ(content.kernel_lanes()->lanes().front().items().size(), 1U);
  EXPECT_EQ(content.kernels_legend(),
            "kernels: compiled artifacts, times estimated, 2 without a node");
  document.shown_kernels().set_source(ShownKernels::Source::predicted);
  EXPECT_EQ(content.kernel_lanes(), nullptr) << "predicted kernels are not known";
  EXPECT_EQ(content.kernels_state(), "predicting...");
}

}  // namespace
}  // namespace jointer::views
