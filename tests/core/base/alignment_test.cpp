#include "core/base/alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using Items = std::vector<std::uint32_t>;

// The table from textbooks.
std::size_t longest(const Items& a, const Items& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1
                                         : std::max(table[i - 1][j], table[i][j - 1]);
  return table[a.size()][b.size()];
}

TEST(Alignment, PairsCommonElements) {
  EXPECT_THAT(align(Items{1, 2, 3}, Items{1, 2, 3}),
              ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2)));
  EXPECT_THAT(align(Items{1, 2, 3}, Items{9, 1, 9, 3}), ElementsAre(Pair(0, 1), Pair(2, 3)));
  EXPECT_THAT(align(Items{1, 2}, Items{3, 4}), IsEmpty());
  EXPECT_THAT(align(Items{}, Items{3, 4}), IsEmpty());
  EXPECT_THAT(align(Items{3, 4}, Items{}), IsEmpty());
}

RC_GTEST_PROP(AlignmentProperty, IsALongestCommonSubsequence, ()) {
  const auto letters = *rc::gen::inRange<std::uint32_t>(1, 6);
  const auto items = [&] {
    return *rc::gen::scale(
        3, rc::gen::container<Items>(rc::gen::inRange<std::uint32_t>(0, letters + 1)));
  };
  const Items a = items(), b = items();
  const auto pairs = align(a, b);
  RC_ASSERT(pairs.size() == longest(a, b));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    RC_ASSERT(a[pairs[i].first] == b[pairs[i].second]);
    if (i == 0) continue;
    RC_ASSERT(pairs[i - 1].first < pairs[i].first);
    RC_ASSERT(pairs[i - 1].second < pairs[i].second);
  }
}

// Longer than one row of the bit table, with the kinds of differences that two runs of a program
// have.
TEST(Alignment, FindsALongProgramAmongOtherCalls) {
  std::minstd_rand random(3);
  Items a(20'000), b;
  for (std::uint32_t& item : a) item = static_cast<std::uint32_t>(random() % 300);
  std::size_t kept = 0;
  for (const std::uint32_t item : a) {
    if (random() % 50 == 0) b.push_back(1000U + static_cast<std::uint32_t>(random() % 5));
    if (random() % 100 == 0) continue;
    b.push_back(item);
    ++kept;
  }
  EXPECT_GE(align(a, b).size(), kept);
}

TEST(Alignment, StaysBoundedWhereNothingMatches) {
  std::minstd_rand random(4);
  Items a(60'000), b(1'500'000);
  for (std::uint32_t& item : a) item = static_cast<std::uint32_t>(random()) % 100'000;
  for (std::uint32_t& item : b) item = static_cast<std::uint32_t>(random()) % 100'000;
  const auto pairs = align(a, b);
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    ASSERT_LT(pairs[i - 1].first, pairs[i].first);
    ASSERT_LT(pairs[i - 1].second, pairs[i].second);
  }
}

}  // namespace
}  // namespace jointer::test
