#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

namespace jointer {

// Reads Python text, which may span several lines, from left to right. `#` starts a comment that
// ends with the line.
class PythonCursor {
 public:
  explicit PythonCursor(std::string_view text) : text_(text) {}

  // Skips whitespace and comments, and returns the next character, or 0 at the end.
  char peek() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        comment_ = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end;
      } else if (static_cast<unsigned char>(text_[at_]) <= ' ') {
        ++at_;
      } else {
        return text_[at_];
      }
    }
    return '\0';
  }
  // The last comment skipped since the previous call, without its `#`.
  std::string_view take_comment() { return std::exchange(comment_, {}); }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view token) {
    peek();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  // Goes back to the start.
  void rewind() { at_ = 0; }

 protected:
  std::string_view text_;
  std::size_t at_ = 0;

 private:
  std::string_view comment_;
};

}  // namespace jointer
