// Tests that a plan's curve on the joint graph's axis is complete at every zoom level.

#include "views/timeline/plan_track.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/support/joints.h"
#include "tests/support/snapshots.h"
#include "views/session/sac/sac_solver.h"

namespace jointer::views {
namespace {

class PlanTrackTest : public testing::Test {
 protected:
  PlanTrackTest() {
    SacSolver solver;
    const auto done =
        std::make_shared<DoneEdit>(DoneEdit{solve_edit({.activation_budget = 0}), {}});
    state_ = solver.state({snapshot_, snapshot_, {done}, {}}).value();
  }
  [[nodiscard]] AxisView axis(AxisKind kind, int width) const {
    AxisView view(snapshot_->timeline(kind).length());
    view.set_pixels(10, width);
    return view;
  }

  SnapshotPtr snapshot_ = test::snapshot_of(test::layered_joint(8));
  SacStatePtr state_;
};

TEST_F(PlanTrackTest, ShowsThePeakOnEveryAxisAtEveryWidth) {
  ASSERT_GT(state_->figures.recomputed, 0U);
  for (const AxisKind kind : {AxisKind::program_order, AxisKind::estimated_time})
    for (const int width : {1, 7, 100, 3000}) {
      const PlanTrack track(*state_, snapshot_->timeline(kind));
      std::int64_t max = 0;
      int at = 10;
      for (const MemoryRun& run : track.columns(axis(kind, width))) {
        EXPECT_EQ(run.left, at);
        at = run.right;
        max = std::max(max, track.bytes(run.point));
      }
      EXPECT_EQ(at, 10 + width);
      EXPECT_EQ(max, state_->figures.figures.peak_bytes);
      EXPECT_EQ(track.bytes(track.peak_step()), max);
    }
}

TEST_F(PlanTrackTest, SavingEverythingAlignsTheSameCalls) {
  SacSolver solver;
  const auto done = std::make_shared<DoneEdit>(
      DoneEdit{solve_edit({.partitioner = Partitioner::default_partition}), {}});
  const SacStatePtr all = solver.state({snapshot_, snapshot_, {done}, {}}).value();
  ASSERT_EQ(all->figures.recomputed, 0U);
  const TimelineData& data = snapshot_->timeline(AxisKind::program_order);
  const PlanTrack track(*all, data);
  for (std::size_t step = 0; step < snapshot_->analysis.memory.steps().size(); ++step) {
    EXPECT_DOUBLE_EQ(track.position(step), static_cast<double>(step));
    // Except for the tangents, which are inputs of the joint graph.
    EXPECT_LE(track.bytes(step), snapshot_->analysis.memory.profile()[1 + 2 * step]);
  }
}

RC_GTEST_FIXTURE_PROP(PlanTrackTest, ARangeHasTheMaximumOfItsParts, ()) {
  const PlanTrack track(*state_, snapshot_->timeline(AxisKind::program_order));
  const auto length = static_cast<int>(snapshot_->timeline(AxisKind::program_order).length());
  const double begin = *rc::gen::inRange(0, length - 1);
  const double end = begin + *rc::gen::inRange(1, length - static_cast<int>(begin) + 1);
  const double middle = (begin + end) / 2;
  const auto max = [&](double a, double b) { return track.bytes(track.largest_step(a, b)); };
  RC_ASSERT(max(begin, end) == std::max(max(begin, middle), max(middle, end)));
}

}  // namespace
}  // namespace jointer::views
