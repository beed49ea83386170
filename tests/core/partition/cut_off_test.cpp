// The density at which a plan switches from saving to recomputing.

#include "core/partition/cut_off.h"

#include <gtest/gtest.h>

namespace jointer::test {
namespace {

WeighedValue saved(double density, std::int64_t bytes = 100) {
  return {.density = density, .bytes = bytes, .is_recomputed = false};
}
WeighedValue recomputed(double density, std::int64_t bytes = 100) {
  return {.density = density, .bytes = bytes, .is_recomputed = true};
}

TEST(CutOff, IsTheLowestDensityThatIsRecomputed) {
  const auto found = cut_off({saved(1), recomputed(7), saved(2), recomputed(5)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->density, 5);
  EXPECT_EQ(found->misplaced_bytes, 0);
}

TEST(CutOff, IsMissingIfNothingIsRecomputed) {
  EXPECT_FALSE(cut_off({}));
  EXPECT_FALSE(cut_off({saved(1), saved(2)}));
  // A small value of low density does not make the plan one that recomputes by density.
  EXPECT_FALSE(cut_off({saved(9, 1000), recomputed(1, 10)}));
  // Nor does a plan that saves the densest values, and little else.
  EXPECT_FALSE(cut_off({saved(9, 10), recomputed(5, 100), recomputed(1, 100)}));
}

TEST(CutOff, MisplacesTheFewestBytes) {
  // A banned value of high density is saved; a small one fills the remaining space.
  const auto found =
      cut_off({saved(9, 50), recomputed(8), recomputed(6), saved(3), recomputed(2, 10)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->density, 6);
  EXPECT_EQ(found->misplaced_bytes, 60);
}

TEST(CutOff, EqualDensitiesAreNeverMisplaced) {
  const auto found = cut_off({recomputed(5), saved(5), saved(5), recomputed(8)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->density, 5);
  EXPECT_EQ(found->misplaced_bytes, 0);
}

}  // namespace
}  // namespace jointer::test
