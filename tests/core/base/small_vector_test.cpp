#include "core/base/small_vector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace jointer::test {
namespace {

using testing::ElementsAre;
using Small = SmallVector<int, 3>;

TEST(SmallVector, KeepsElementsWhenItOutgrowsItself) {
  Small small;
  for (int i = 0; i < 100; ++i) {
    small.push_back(i);
    ASSERT_EQ(small.size(), static_cast<std::size_t>(i) + 1);
    ASSERT_EQ(small.back(), i);
  }
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_THAT(small, testing::ElementsAreArray(expected));
}

TEST(SmallVector, NeedsNoMoreRoomThanAVectorForIds) {
  EXPECT_EQ(sizeof(SmallVector<std::int32_t, 4>), sizeof(std::vector<std::int32_t>));
}

TEST(SmallVector, AddsItsOwnElements) {
  SmallVector<std::string, 2> texts{"a text that does not fit into the string itself", "b"};
  texts.push_back(texts.front());
  texts.resize(5, texts.back());
  for (std::size_t i = 2; i < 5; ++i) EXPECT_EQ(texts[i], texts.front());
}

TEST(SmallVector, MovedFromIsEmpty) {
  for (const std::size_t count : {2U, 9U}) {
    SmallVector<std::unique_ptr<int>, 3> from;
    for (std::size_t i = 0; i < count; ++i)
      from.push_back(std::make_unique<int>(static_cast<int>(i)));
    SmallVector<std::unique_ptr<int>, 3> to(std::move(from));
    EXPECT_TRUE(from.empty());  // NOLINT(bugprone-use-after-move)
    from.push_back(std::make_unique<int>(7));
    ASSERT_EQ(to.size(), count);
    EXPECT_EQ(*to.back(), static_cast<int>(count) - 1);
    to = std::move(from);
    ASSERT_EQ(to.size(), 1U);
    EXPECT_EQ(*to.front(), 7);
  }
}

TEST(SmallVector, ComparesLikeAVector) {
  EXPECT_EQ(Small({1, 2}), Small({1, 2}));
  EXPECT_LT(Small({1, 2}), Small({1, 2, 0}));
  EXPECT_GT(Small({2}), Small({1, 2, 3, 4}));
  EXPECT_EQ(Small({1, 2}), (std::vector{1, 2}));
}

TEST(SmallVector, ConvertsFromAndToAVector) {
  const std::vector<int> values{1, 2, 3, 4};
  const Small small = values;
  const std::vector<int> back = small;
  EXPECT_EQ(back, values);
  Small other;
  other = values;
  EXPECT_THAT(other, ElementsAre(1, 2, 3, 4));
}

// Every function does what the same function of std::vector does.
TEST(SmallVector, BehavesLikeAVector) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    SmallVector<std::string, 3> small;
    std::vector<std::string> large;
    for (int step = 0; step < 40; ++step) {
      const std::string value(random() % 30, static_cast<char>('a' + step % 26));
      const std::size_t at = large.empty() ? 0 : random() % large.size();
      const auto place = static_cast<std::ptrdiff_t>(at);
      switch (random() % 8) {
        case 0:
        case 1:
          small.push_back(value);
          large.push_back(value);
          break;
        case 2:
          small.insert(small.begin() + place, value);
          large.insert(large.begin() + place, value);
          break;
        case 3: {
          const std::vector<std::string> more{value, "x", value};
          small.insert(small.begin() + place, more.begin(), more.end());
          large.insert(large.begin() + place, more.begin(), more.end());
          break;
        }
        case 4:
          if (large.empty()) break;
          small.erase(small.begin() + place, small.end());
          large.erase(large.begin() + place, large.end());
          break;
        case 5:
          small.resize(at, value);
          large.resize(at, value);
          break;
        case 6: {
          const auto is_short = [](const std::string& each) { return each.size() < 5; };
          EXPECT_EQ(erase_if(small, is_short), std::erase_if(large, is_short));
          break;
        }
        default: {
          const SmallVector<std::string, 3> copy = small;
          small = copy;
          small.assign(copy.begin(), copy.end());
        }
      }
      ASSERT_THAT(small, testing::ElementsAreArray(large));
    }
  }
}

}  // namespace
}  // namespace jointer::test
