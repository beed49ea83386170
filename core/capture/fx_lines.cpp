#include "core/capture/fx_lines.h"

#include <algorithm>

#include "core/base/characters.h"
#include "core/base/trimmed.h"

namespace jointer::fx {

bool LineReader::next(Line& line) {
  for (;;) {
    const std::size_t start = at_;
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    if (at_ >= text_.size()) return false;
    if (text_[at_] == '\n' || text_[at_] == '\r') {
      number_ += text_[at_] == '\n' ? 1 : 0;
      ++at_;
      continue;
    }
    if (text_.substr(at_).starts_with(R"(""")")) {
      skip_quoted_block();
      continue;
    }
    line.indent = at_ - start;
    line.number = number_;
    const std::size_t begin = at_;
    at_ = statement_end(begin);
    line.text = trimmed(text_.substr(begin, at_ - begin));
    if (!line.text.empty()) return true;
  }
}

// Returns the end of the statement that starts here: the position after its line break, or the end
// of the text. Also counts lines.
std::size_t LineReader::statement_end(std::size_t begin) {
  int depth = 0;
  char quote = 0;
  std::size_t at = begin;
  for (; at < text_.size(); ++at) {
    const char c = text_[at];
    switch (c) {
      case '\n':
        ++number_;
        // A string cannot span lines; the parser reports a string that is not terminated.
        quote = 0;
        if (depth <= 0) return at + 1;
        break;
      case '\\':
        if (quote != 0 && at + 1 < text_.size() && text_[at + 1] != '\n') ++at;
        break;
      case '\'':
      case '"':
        if (quote == 0)
          quote = c;
        else if (quote == c)
          quote = 0;
        break;
      case '#':
        if (quote == 0) at = std::min(text_.find('\n', at), text_.size()) - 1;
        break;
      case '(':
      case '[':
      case '{':
        if (quote == 0) ++depth;
        break;
      case ')':
      case ']':
      case '}':
        if (quote == 0) --depth;
        break;
      default:
        break;
    }
  }
  return at;
}

// FX_GRAPH_SHOW_META puts a node's metadata between triple quotes.
void LineReader::skip_quoted_block() {
  const std::size_t close = text_.find(R"(""")", at_ + 3);
  const std::size_t end = close == std::string_view::npos ? text_.size() : close + 3;
  number_ +=
      static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                          text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
  at_ = end;
}

std::string without_colors(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t escape = std::min(text.find("\x1b[", at), text.size());
    plain.append(text, at, escape - at);
    at = escape;
    if (at == text.size()) break;
    at += 2;
    while (at < text.size() && (is_digit(text[at]) || text[at] == ';')) ++at;
    if (at < text.size() && text[at] == 'm') ++at;
  }
  return plain;
}

bool starts_with_word(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  if (text.size() == word.size()) return true;
  return !is_name_character(text[word.size()]);
}

}  // namespace jointer::fx
