// Text about the differences between two plans.

#include "views/session/sac/plan_changes.h"

#include <gtest/gtest.h>

namespace jointer::views {
namespace {

TEST(PlanChanges, TheSummaryHasTheMinusSignOfTheWindow) {
  PlanChanges changes;
  changes.difference.rows.push_back({.name = "mm",
                                     .target = "aten.mm",
                                     .module = "layers",
                                     .from = PlanAction::save,
                                     .to = PlanAction::recompute,
                                     .change = {-2048, 0, 3000}});
  EXPECT_EQ(summary_text(changes).toStdString(),
            "1 value changed: 1 saved \u2192 recomputed (\u22122.00 KiB, +3.00 us)");
  EXPECT_EQ(summary_text({}), "No values changed");
}

}  // namespace
}  // namespace jointer::views
