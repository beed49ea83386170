#include "core/base/glob.h"

#include <cstddef>

namespace jointer {
namespace {

// The first element of a pattern (a character, `?` or a set): its length, and whether it matches a
// given character. A `[` without a `]` matches itself, as in Python.
struct Element {
  std::size_t size = 1;
  bool holds = false;
};

Element match_element(std::string_view pattern, char c) {
  if (pattern.front() == '?') return {1, true};
  if (pattern.front() != '[') return {1, pattern.front() == c};
  std::size_t first = 1;
  const bool is_negated = pattern.size() > 1 && pattern[1] == '!';
  if (is_negated) ++first;
  const std::size_t end = pattern.find(']', first + 1);  // a `]` at the start is in the set
  if (end == std::string_view::npos) return {1, c == '['};
  bool found = false;
  for (std::size_t i = first; i < end; ++i) {
    if (i + 2 < end && pattern[i + 1] == '-') {
      found = found || (pattern[i] <= c && c <= pattern[i + 2]);
      i += 2;
    } else {
      found = found || pattern[i] == c;
    }
  }
  return {end + 1, found != is_negated};
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0;
  // The position in the pattern after the last `*`, and the position in the text after the
  // characters that this star matches. On a mismatch, the star matches one more character.
  std::size_t star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      taken = t;
      continue;
    }
    const Element element =
        p < pattern.size() ? match_element(pattern.substr(p), text[t]) : Element{};
    if (element.holds) {
      p += element.size;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace jointer
