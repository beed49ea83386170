// Tests the lanes of predicted kernels in a timeline, without a widget.

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/held_pool.h"
#include "tests/support/snapshots.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/timeline/timeline_content.h"

namespace jointer::views {
namespace {

class PredictedRows : public testing::Test {
 protected:
  [[nodiscard]] std::size_t predicted_rows() const {
    std::size_t count = 0;
    for (const TimelineContent::Row& row : content_.rows()) count += row.is_predicted ? 1 : 0;
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
  EXPECT_TRUE(content_.rows().back().is_predicted);
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
    EXPECT_FALSE(content_.rows()[static_cast<std::size_t>(row)].is_predicted) << name;
  }
  const int row = content_.row_of_kernels(0);
  ASSERT_GE(row, 0);
  EXPECT_TRUE(content_.rows()[static_cast<std::size_t>(row)].is_predicted);
  EXPECT_EQ(content_.row_of_kernels(7), -1);
  document_.kernels().stop_watching(watcher_);
}

}  // namespace
}  // namespace jointer::views
