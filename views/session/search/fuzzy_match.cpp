// Finds the best placement by dynamic programming. For letter p of the pattern and position t of
// the text, best[p][t] is the highest score of the first p + 1 letters with letter p at t:
//
//   best[p][t] = value(t) + max( best[p - 1][t - 1] + kAdjacent,           adjacent
//                                max over s < t - 1 of best[p - 1][s] - kGap )
//
// where value(t) is higher at the beginning of a word. The inner maximum is updated incrementally.

#include "views/session/search/fuzzy_match.h"

#include <algorithm>
#include <limits>

namespace jointer::views {
namespace {

constexpr int kLetter = 16;
constexpr int kWordStart = 12;
constexpr int kTextStart = 4;  // in addition to kWordStart
constexpr int kAdjacent = 14;
constexpr int kGap = 3;
constexpr int kNever = std::numeric_limits<int>::min() / 2;
constexpr qsizetype kMaxPattern = 64, kMaxText = 256;

bool begins_word(const QString& text, qsizetype at) {
  if (at == 0) return true;
  const QChar before = text[at - 1], here = text[at];
  if (!before.isLetterOrNumber()) return here.isLetterOrNumber();
  return (before.isLower() && here.isUpper()) || (before.isLetter() && here.isDigit());
}

}  // namespace

std::optional<FuzzyMatch> fuzzy_match(const QString& pattern, const QString& text) {
  QString letters = pattern.left(kMaxPattern).toCaseFolded();
  letters.remove(u' ');
  FuzzyMatch match;
  if (letters.isEmpty()) return match;
  const auto n = static_cast<std::size_t>(std::min(text.size(), kMaxText));
  const auto m = static_cast<std::size_t>(letters.size());
  if (m > n) return std::nullopt;

  std::vector<int> best(m * n, kNever), from(m * n, -1);
  for (std::size_t p = 0; p < m; ++p) {
    int carried = kNever, carried_from = -1;  // maximum of best[p - 1][s] for s < t - 1, and its s
    for (std::size_t t = 0; t < n; ++t) {
      if (p > 0 && t >= 2 && best[(p - 1) * n + t - 2] > carried) {
        carried = best[(p - 1) * n + t - 2];
        carried_from = static_cast<int>(t) - 2;
      }
      const auto at = static_cast<qsizetype>(t);
      if (text[at].toCaseFolded() != letters[static_cast<qsizetype>(p)]) continue;
      const int value =
          kLetter + (begins_word(text, at) ? kWordStart : 0) + (t == 0 ? kTextStart : 0);
      int& score = best[p * n + t];
      if (p == 0) {
        score = value;
        continue;
      }
      const int beside = t > 0 ? best[(p - 1) * n + t - 1] : kNever;
      int& back = from[p * n + t];
      if (beside > kNever && beside + kAdjacent >= carried - kGap) {
        score = value + beside + kAdjacent;
        back = static_cast<int>(t) - 1;
      } else if (carried > kNever) {
        score = value + carried - kGap;
        back = carried_from;
      }
    }
  }
  const auto last = best.begin() + static_cast<std::ptrdiff_t>((m - 1) * n);
  const auto top = std::max_element(last, best.end());
  if (*top <= kNever) return std::nullopt;
  // Shorter texts are better: four characters cost as much as one point of the placement.
  match.score = *top * 4 - static_cast<int>(n);
  match.positions.resize(m);
  auto t = static_cast<int>(top - last);
  for (std::size_t p = m; p-- > 0;) {
    match.positions[p] = t;
    t = from[p * n + static_cast<std::size_t>(t)];
  }
  return match;
}

}  // namespace jointer::views
