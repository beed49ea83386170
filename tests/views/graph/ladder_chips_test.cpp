// Tests of the chips in a box of the ladder.

#include "views/graph/ladder_chips.h"

#include <gtest/gtest.h>

namespace jointer::views {
namespace {

TEST(LadderChips, LeaveSpaceForTheCountOfTheOthers) {
  const std::vector<double> widths{30, 40, 50};
  constexpr double kCount = 20;
  EXPECT_EQ(fitting_chips(widths, 120, kCount), 3U);
  EXPECT_EQ(fitting_chips(widths, 119, kCount), 2U);  // 50 + 40 + "+1"
  EXPECT_EQ(fitting_chips(widths, 109, kCount), 1U);
  EXPECT_EQ(fitting_chips(widths, 69, kCount), 0U);
  EXPECT_EQ(fitting_chips({}, 0, kCount), 0U);
}

TEST(LadderChips, NameTheKindAndTheCount) {
  CollectiveMark mark;
  mark.kind = CollectiveKind::all_gather;
  mark.count = 1;
  EXPECT_EQ(chip_text(mark), "AG");
  mark.count = 12;
  EXPECT_EQ(chip_text(mark), "AG 12");
  mark.kind = CollectiveKind::none;  // copies to and from the host
  EXPECT_EQ(chip_text(mark), "copy 12");
  EXPECT_EQ(chip_count(3), "+3");
}

}  // namespace
}  // namespace jointer::views
