#pragma once

// Splits Python text into statements and comments. Private to core/capture.

#include <cstddef>
#include <string>
#include <string_view>

namespace jointer::fx {

// One statement, or one comment that is not at the end of a statement.
struct Line {
  std::string_view text;   // from first to last character, including newlines and comments
  std::size_t number = 0;  // line of the file where it begins, from 1
  std::size_t indent = 0;  // number of leading blanks
  [[nodiscard]] bool is_comment() const { return text.starts_with('#'); }
};

// Splits a text into statements in one pass. A statement continues on the next line while a bracket
// is open. Blank lines, and strings in `"""` where a statement would begin, are skipped. The
// returned views point into `text`.
class LineReader {
 public:
  explicit LineReader(std::string_view text, std::size_t first_number = 1)
      : text_(text), number_(first_number) {}

  // Reads the next statement or comment; returns false at the end of the text.
  bool next(Line& line);

 private:
  [[nodiscard]] std::size_t statement_end(std::size_t begin);
  void skip_quoted_block();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t number_;
};

// Removes terminal colors (ESC [ ... m) from the text; keeps line breaks.
std::string without_colors(std::string_view text);
inline bool has_colors(std::string_view text) {
  return text.find("\x1b[") != std::string_view::npos;
}

// True if the statement starts with the keyword.
bool starts_with_word(std::string_view text, std::string_view word);

}  // namespace jointer::fx
