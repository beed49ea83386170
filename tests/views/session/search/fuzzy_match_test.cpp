#include "views/session/search/fuzzy_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace jointer::views {
namespace {

using ::testing::ElementsAre;

int score(const char* pattern, const char* text) {
  const auto match = fuzzy_match(pattern, text);
  EXPECT_TRUE(match) << pattern << " in " << text;
  return match ? match->score : 0;
}

TEST(FuzzyMatch, NeedsEveryLetterInOrder) {
  EXPECT_TRUE(fuzzy_match("", "anything"));
  EXPECT_TRUE(fuzzy_match("SP", "show peak"));
  EXPECT_TRUE(fuzzy_match("sh pe", "show peak")) << "blanks are ignored";
  EXPECT_FALSE(fuzzy_match("ps", "show peak"));
  EXPECT_FALSE(fuzzy_match("abc", "ab"));
}

TEST(FuzzyMatch, PrefersWordStartsThenAdjacentLetters) {
  EXPECT_GT(score("sp", "Show peak"), score("sp", "Resposition"));
  EXPECT_GT(score("fit", "Fit"), score("fit", "Fill in text"));
  EXPECT_GT(score("zoom", "Zoom in"), score("zoom", "a lazy old outdoor map"));
  EXPECT_GT(score("fit", "Fit"), score("fit", "Fit to selection")) << "the shorter one";
}

TEST(FuzzyMatch, FindsTheBestPlacementNotTheFirst) {
  // The first h is in `the`; the one at a word start is better.
  EXPECT_THAT(fuzzy_match("hi", "the hint")->positions, ElementsAre(4, 5));
  EXPECT_THAT(fuzzy_match("wq", "raw.wx.wq")->positions, ElementsAre(7, 8));
}

RC_GTEST_PROP(FuzzyMatchProperties, IsASubsequenceTestWithTrueePositions, ()) {
  const auto word = [](int max) {
    const auto letters = *rc::gen::resize(
        max, rc::gen::container<std::vector<char>>(rc::gen::elementOf(std::string("abAB._1"))));
    return QString::fromStdString({letters.begin(), letters.end()});
  };
  const QString pattern = word(6), text = word(30);
  qsizetype at = 0;
  for (const QChar c : text)
    if (at < pattern.size() && c.toCaseFolded() == pattern[at].toCaseFolded()) ++at;
  const auto match = fuzzy_match(pattern, text);
  RC_ASSERT(match.has_value() == (at == pattern.size()));
  if (!match) return;
  RC_ASSERT(match->positions.size() == static_cast<std::size_t>(pattern.size()));
  for (std::size_t i = 0; i < match->positions.size(); ++i) {
    RC_ASSERT(i == 0 || match->positions[i] > match->positions[i - 1]);
    RC_ASSERT(text[match->positions[i]].toCaseFolded() ==
              pattern[static_cast<qsizetype>(i)].toCaseFolded());
  }
}

}  // namespace
}  // namespace jointer::views
