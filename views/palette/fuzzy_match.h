#pragma once

#include <QString>
#include <optional>
#include <vector>

namespace jointer::views {

// How well a text answers what was typed. Every typed letter must be in the text, in order, blanks
// aside; among all ways to place them, the best counts. Letters at the beginning of words and
// letters side by side are better, and so are shorter texts.
struct FuzzyMatch {
  int score = 0;               // higher is better; only comparable for one pattern
  std::vector<int> positions;  // of the letters in the text, one each
};

// Nothing if the text does not have the letters. Case does not matter. Cost: letters of the pattern
// times letters of the text.
std::optional<FuzzyMatch> fuzzy_match(const QString& pattern, const QString& text);

}  // namespace jointer::views
