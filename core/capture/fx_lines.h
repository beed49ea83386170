#pragma once

// The lines of a Python text as its parser sees them. Private to core/capture/fx_*.cpp.

#include <cstddef>
#include <string>
#include <string_view>

namespace jointer::fx {

// One statement, or one comment that stands alone.
struct Line {
  std::string_view text;   // from its first to its last character, newlines and comments included
  std::size_t number = 0;  // of its first line in the file, from 1
  std::size_t indent = 0;  // blanks before it
  [[nodiscard]] bool is_comment() const { return text.starts_with('#'); }
};

// Cuts a text into statements: a line goes on where a bracket is open. Empty lines are passed over,
// and so are texts between triple quotes. One pass; the views point into `text`.
class LineReader {
 public:
  explicit LineReader(std::string_view text, std::size_t first_number = 1)
      : text_(text), number_(first_number) {}

  // False at the end.
  bool next(Line& line);

 private:
  [[nodiscard]] std::size_t statement_end(std::size_t begin);
  void skip_quoted_block();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t number_;
};

// The text without terminal colours (ESC [ ... m). Line breaks stay where they are.
std::string without_colours(std::string_view text);
inline bool has_colours(std::string_view text) {
  return text.find("\x1b[") != std::string_view::npos;
}

// Whether the statement starts with the keyword.
bool starts_with_word(std::string_view text, std::string_view word);

}  // namespace jointer::fx
