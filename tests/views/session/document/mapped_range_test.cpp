#include "views/session/document/mapped_range.h"

#include <gtest/gtest.h>

#include <string>

#include "core/schedule/range_figures.h"
#include "tests/support/snapshots.h"

namespace jointer::views {
namespace {

// Two steps with the same nodes, except that the second one starts later.
class AMappedRange : public testing::Test {
 protected:
  static std::string step(const char* first) {
    return std::string("group tp: 0 1\nx: f32[1024] = input\n") + first + R"(
      a: f32[1024] = aten.relu(x)
      ar: f32[1024] = _c10d_functional.all_reduce(a, 'sum', 'tp')
      b: f32[1024] = aten.relu(x)
      w: f32[1024] = _c10d_functional.wait_tensor(ar)
      c: f32[1024] = aten.add.Tensor(w, b)
      return [c]
    )";
  }
  static const NodeTiming& timing(const SnapshotPtr& of, const char* name) {
    return of->analysis.simulation.timing(of->graph.find(name));
  }
  [[nodiscard]] std::optional<TimeRange> mapped(TimeRange range) const {
    return mapped_range(*early, range, *late);
  }

  SnapshotPtr early = test::snapshot_of(step(""));
  SnapshotPtr late = test::snapshot_of(step("z: f32[1024] = aten.relu(x)\n"));
};

TEST_F(AMappedRange, CoversTheSameKernels) {
  ASSERT_NE(timing(early, "a").start, timing(late, "a").start);
  EXPECT_EQ(mapped({timing(early, "a").start, timing(early, "b").end}),
            (TimeRange{timing(late, "a").start, timing(late, "b").end}))
      << "the collective, which ends later, is not considered";
  EXPECT_EQ(mapped({timing(early, "a").start + 2, timing(early, "b").end - 3}),
            (TimeRange{timing(late, "a").start + 2, timing(late, "b").end - 3}))
      << "the same parts of its nodes";
}

TEST_F(AMappedRange, FollowsACollectiveIfThereAreNoKernels) {
  const NodeTiming &wait = timing(early, "w"), &ar = timing(early, "ar");
  ASSERT_GT(wait.end, wait.start) << "the collective is exposed";
  EXPECT_EQ(
      mapped({wait.start, wait.end}),
      (TimeRange{timing(late, "ar").start + (wait.start - ar.start), timing(late, "ar").end}));
}

TEST_F(AMappedRange, HasTheSameStartAndEndOfTheStep) {
  EXPECT_EQ(mapped(whole_step(early->analysis.simulation)), whole_step(late->analysis.simulation));
  EXPECT_EQ(mapped({0, timing(early, "a").end}), (TimeRange{0, timing(late, "a").end}));
}

TEST_F(AMappedRange, NeedsANodeOfBothSteps) {
  ASSERT_GT(timing(early, "a").start, 0) << "the CPU launches it first";
  EXPECT_FALSE(mapped({0, timing(early, "a").start}));
  const NodeTiming& z = timing(late, "z");
  EXPECT_FALSE(mapped_range(*late, {z.start, z.end}, *early));
  EXPECT_FALSE(mapped({timing(early, "a").start, timing(early, "a").start}));
}

}  // namespace
}  // namespace jointer::views
