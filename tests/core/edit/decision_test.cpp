#include "core/edit/decision.h"

#include <gtest/gtest.h>

namespace jointer::test {
namespace {

std::vector<Decision> decisions_of(std::size_t count) {
  std::vector<Decision> decisions;
  for (std::size_t i = 0; i < count; ++i)
    decisions.push_back({"sink_waits", "wait_" + std::to_string(i), "moved", "It is unused."});
  return decisions;
}

TEST(Decisions, AreKeptWithoutThePass) {
  std::vector<Decision> expected = decisions_of(3);
  for (Decision& decision : expected) decision.pass.clear();
  EXPECT_EQ(kept_decisions(decisions_of(3)), expected);
  EXPECT_TRUE(kept_decisions({}).empty());
}

TEST(Decisions, ExcessDecisionsAreCounted) {
  const std::vector<Decision> few = kept_decisions(decisions_of(2000), 10);
  ASSERT_EQ(few.size(), 11U);
  EXPECT_EQ(few[9].node, "wait_9");
  EXPECT_EQ(few[10].node, "");
  EXPECT_EQ(few[10].action, "left out");
  EXPECT_EQ(few[10].reason, "1,990 more decisions are not stored with the edit.");
  // Long reasons count, too.
  std::vector<Decision> wordy = decisions_of(10);
  for (Decision& decision : wordy) decision.reason.assign(1000, 'x');
  EXPECT_EQ(kept_decisions(wordy, 100, 4500).size(), 5U);
  EXPECT_EQ(kept_decisions(wordy, 100, 4500)[4].reason,
            "6 more decisions are not stored with the edit.");
}

}  // namespace
}  // namespace jointer::test
