#include "core/base/longest_increasing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LongestIncreasing, GivesPositions) {
  EXPECT_THAT(longest_increasing(std::vector<int>{}), IsEmpty());
  EXPECT_THAT(longest_increasing(std::vector{3, 2, 1}), ElementsAre(2));
  EXPECT_THAT(longest_increasing(std::vector{5, 1, 2, 9, 3}), ElementsAre(1, 2, 4));
  EXPECT_THAT(longest_increasing(std::vector{1, 1, 1}), ElementsAre(2)) << "strictly";
}

// Compares the length with the quadratic recurrence.
TEST(LongestIncreasing, IsLongest) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<int> values(random() % 12);
    for (int& value : values) value = static_cast<int>(random() % 8);
    std::vector<std::size_t> length(values.size(), 1);
    std::size_t longest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        if (values[j] < values[i]) length[i] = std::max(length[i], length[j] + 1);
      longest = std::max(longest, length[i]);
    }
    const std::vector<std::size_t> found = longest_increasing(values);
    EXPECT_EQ(found.size(), longest);
    for (std::size_t i = 1; i < found.size(); ++i) {
      EXPECT_LT(found[i - 1], found[i]);
      EXPECT_LT(values[found[i - 1]], values[found[i]]);
    }
  }
}

}  // namespace
}  // namespace jointer::test
