#include "views/sac/pareto_plot.h"

#include <gtest/gtest.h>

namespace jointer::views {
namespace {

const QRectF kArea(50, 10, 400, 200);

ParetoMark mark(std::int64_t bytes, std::int64_t ns) {
  return {ParetoKind::curve, {}, bytes, ns};
}

TEST(ParetoScale, HoldsAllMarksInside) {
  const std::vector marks{mark(10, 900), mark(500, 300), mark(2000, 100)};
  const ParetoScale scale(marks, kArea);
  for (const ParetoMark& m : marks) EXPECT_TRUE(kArea.contains(scale.place(m)));
}

TEST(ParetoScale, MoreMemoryIsToTheRightMoreTimeIsUp) {
  const std::vector marks{mark(10, 900), mark(500, 300)};
  const ParetoScale scale(marks, kArea);
  EXPECT_LT(scale.place(marks[0]).x(), scale.place(marks[1]).x());
  EXPECT_LT(scale.place(marks[0]).y(), scale.place(marks[1]).y());
}

TEST(ParetoScale, OneMarkHasAPlaceToo) {
  const std::vector marks{mark(1 << 30, 1'000'000)};
  EXPECT_TRUE(kArea.contains(ParetoScale(marks, kArea).place(marks[0])));
}

}  // namespace
}  // namespace jointer::views
