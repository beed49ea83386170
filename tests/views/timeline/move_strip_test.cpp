#include "views/timeline/move_strip.h"

#include <gtest/gtest.h>

#include <vector>

namespace jointer::views {
namespace {

constexpr Figures kFigures{.peak_bytes = 1000, .step_ns = 500, .exposed_ns = 50};

// A held block with these estimates at its legal positions.
HeldMove held_with(std::vector<Figures> at) {
  HeldMove held;
  RangePreview preview{.at = std::move(at)};
  preview.range.first = preview.range.current = 3;
  preview.range.last = preview.range.first + preview.at.size() - 1;
  held.preview = MovePreview(std::move(preview), kFigures.peak_bytes);
  held.gap = held.shown_gap = 3;
  return held;
}

TEST(MoveStrip, SaysThatABlockHasOneLegalPosition) {
  EXPECT_EQ(flat_text(held_with({kFigures})), "This is the only legal position.");
}

TEST(MoveStrip, SaysThatNoPositionChangesTheEstimates) {
  HeldMove held = held_with({kFigures, kFigures});
  EXPECT_EQ(flat_text(held),
            "No legal position changes the estimates; press C to include the chain.");
  held.carried = "Moves without its chain: a and b cannot be adjacent: c must stay between them.";
  EXPECT_EQ(flat_text(held), "No legal position changes the estimates.");
  held.carried.clear();
  held.carries = true;
  EXPECT_EQ(flat_text(held), "No legal position changes the estimates.");
}

TEST(MoveStrip, MarksTheBestPositionIfThereIsOne) {
  Figures faster = kFigures;
  faster.step_ns = 400;
  EXPECT_EQ(flat_text(held_with({kFigures, faster})), "");
}

}  // namespace
}  // namespace jointer::views
