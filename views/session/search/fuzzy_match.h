#pragma once

#include <QString>
#include <optional>
#include <vector>

namespace jointer::views {

// Scores how well a text matches a pattern. Every letter of the pattern except blanks must occur in
// the text, in order; the best placement counts. Letters at word starts and adjacent letters score
// higher, and so do shorter texts.
struct FuzzyMatch {
  int score = 0;               // higher is better; comparable only for the same pattern
  std::vector<int> positions;  // positions of the pattern's letters in the text
};

// nullopt if the text does not contain the letters in order. Ignores case. Cost: pattern length
// times text length.
std::optional<FuzzyMatch> fuzzy_match(const QString& pattern, const QString& text);

}  // namespace jointer::views
