#pragma once

#include <QString>
#include <optional>
#include <vector>

namespace jointer::views {

// The best placement of a pattern's letters in a text.
struct FuzzyMatch {
  int score = 0;               // higher is better; comparable only for the same pattern
  std::vector<int> positions;  // positions of the pattern's letters in the text
};

// Every letter of the pattern except blanks must occur in the text, in order; nullopt otherwise. A
// pattern without letters matches every text, with score 0.
// Ignores case. Letters at word starts and adjacent letters score higher, and so do shorter texts.
// Uses only the first 64 characters of the pattern and the first 256 of the text. Cost: pattern
// length times text length.
std::optional<FuzzyMatch> fuzzy_match(const QString& pattern, const QString& text);

}  // namespace jointer::views
