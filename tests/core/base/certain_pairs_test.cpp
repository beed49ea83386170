#include "core/base/certain_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace jointer::test {
namespace {

// Letters are tokens; `.` is the token 0.
std::vector<std::uint32_t> tokens(std::string_view text) {
  std::vector<std::uint32_t> result;
  for (const char c : text) result.push_back(c == '.' ? 0 : static_cast<std::uint32_t>(c));
  return result;
}

CertainPairs pairs_of(std::string_view a, std::string_view b) {
  CertainPairs pairs(a.size(), b.size());
  pairs.add(tokens(a), tokens(b));
  return pairs;
}

// The index in `b` of the partner of each element of `a`, or `-`.
std::string partners(const CertainPairs& pairs) {
  std::string text;
  for (const std::uint32_t partner : pairs.of_a())
    text += partner == CertainPairs::kNone ? "-" : std::to_string(partner);
  return text;
}

std::string partners(std::string_view a, std::string_view b) {
  return partners(pairs_of(a, b));
}

TEST(CertainPairs, EqualSequencesArePairedInOrder) {
  EXPECT_EQ(partners("abaca", "abaca"), "01234");
  EXPECT_EQ(partners("", ""), "");
  EXPECT_EQ(partners("ab", ""), "--");
}

TEST(CertainPairs, ARepeatedNameOfWhichOneIsMissingIsNotGuessed) {
  EXPECT_EQ(partners("aa", "a"), "--");
  EXPECT_EQ(partners("aba", "ab"), "01-") << "only the first one can be before b";
  EXPECT_EQ(partners("aaba", "aab"), "012-");
  EXPECT_EQ(partners("aaba", "aba"), "--12") << "one of the first two is missing";
}

TEST(CertainPairs, NamesThatAreUniqueArePairedOutOfOrderToo) {
  EXPECT_EQ(partners("abc", "cab"), "120");
  const CertainPairs pairs = pairs_of("abc", "cab");
  EXPECT_EQ(pairs.in_order(), (std::vector<CertainPairs::Pair>{{0, 1}, {1, 2}}));
}

TEST(CertainPairs, GapsAreSplitAgain) {
  // x occurs twice in one sequence and three times in the other. Between a and b, y shows which x
  // it is.
  EXPECT_EQ(partners("axyb.x", "axybxx"), "0123--");
  EXPECT_EQ(partners("..a", "a.."), "--0") << "the token 0 is never paired";
}

TEST(CertainPairs, MoreNamesPairWhatIsLeft) {
  CertainPairs pairs = pairs_of("aq", "ar");
  EXPECT_EQ(partners(pairs), "0-");
  pairs.add(tokens("zz"), tokens("zz"));
  EXPECT_EQ(partners(pairs), "01") << "elements with a partner keep it";
  EXPECT_EQ(pairs.of_b(), (std::vector<std::uint32_t>{0, 1}));
}

}  // namespace
}  // namespace jointer::test
