// Splits generated C++. Such text has neither macros with braces nor statements that span
// directives, so a block begins with a brace that follows nothing, a label, or a statement that
// begins with a keyword (`if (is_large)`); any other brace begins an initializer list.

#include "core/capture/cpp_text.h"

#include <algorithm>
#include <initializer_list>

#include "core/base/characters.h"
#include "core/base/trimmed.h"
#include "core/capture/bracketed_text.h"

namespace jointer::cpp {
namespace {

bool starts_with_keyword(std::string_view text, std::string_view word) {
  return text.starts_with(word) &&
         (text.size() == word.size() || !is_name_character(text[word.size()]));
}

// True if a brace after this text opens a block.
bool opens_block(std::string_view before) {
  if (before.empty() || before.ends_with(':')) return true;
  for (const std::string_view word : {"if", "else", "for", "while", "switch", "do", "try", "catch"})
    if (starts_with_keyword(before, word)) return true;
  return false;
}

// The position after the string, character or comment that starts at `at`; `at` if none does.
std::size_t after_quoted(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (rest.starts_with("/*")) {
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (rest.starts_with("R\"") && (at == 0 || !is_name_character(text[at - 1]))) {
    const std::size_t open = text.find('(', at);
    if (open == std::string_view::npos) return text.size();
    // The end is `)DELIMITER"`; DELIMITER has at most 16 characters.
    const std::string_view delimiter =
        text.substr(at + 2, std::min<std::size_t>(open - at - 2, 16));
    for (std::size_t end = text.find(')', open); end != std::string_view::npos;
         end = text.find(')', end + 1)) {
      const std::string_view behind = text.substr(end + 1);
      if (behind.starts_with(delimiter) && behind.substr(delimiter.size()).starts_with('"'))
        return end + 2 + delimiter.size();
    }
    return text.size();
  }
  return text[at] == '"' || text[at] == '\'' ? after_string(text, at) : at;
}

// The position after the template arguments whose `<` is at `at`; `at` if no known template is
// before it, or its arguments do not end.
std::size_t after_template(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const bool is_template = std::ranges::any_of(
      std::initializer_list<std::string_view>{"std::array", "std::vector", "std::optional",
                                              "static_cast", "reinterpret_cast", "const_cast",
                                              "convert", "numeric_limits"},
      [&](std::string_view name) { return before.ends_with(name); });
  if (!is_template) return at;
  constexpr std::size_t kMaxLength = 256;
  int depth = 0;
  for (std::size_t i = at; i < std::min(text.size(), at + kMaxLength); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && --depth == 0) return i + 1;
    if (text[i] == ';' || text[i] == '"') return at;
  }
  return at;
}

class StatementReader {
 public:
  StatementReader(std::string_view text, std::size_t number) : text_(text), number_(number) {}

  std::vector<Statement> read() {
    while (at_ < text_.size()) step();
    end_statement();
    return std::move(statements_);
  }

 private:
  void step() {
    const char c = text_[at_];
    const bool is_outside = depth_ == 0;
    if (!is_begun_ && c == '#') return skip_to(std::min(text_.find('\n', at_), text_.size()));
    if (const std::size_t after = after_quoted(text_, at_); after != at_) {
      const std::string_view quoted = text_.substr(at_, after - at_);
      const bool is_comment = quoted.starts_with("//") || quoted.starts_with("/*");
      if (!is_comment) begin();
      if (!is_begun_ && quoted.starts_with("//"))
        statements_.push_back({.text = trimmed(quoted), .number = number_});
      return skip_to(after);
    }
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') return skip_to(at_ + 1);
    if (is_outside && c == ';') {
      end_statement();
      return skip_to(at_ + 1);
    }
    if (is_outside && c == '}') {
      end_statement();
      return skip_to(at_ + 1);
    }
    if (is_outside && c == '{' && opens_block(pending())) return open_block();
    begin();
    if (opens_bracket(c)) ++depth_;
    if (closes_bracket(c) && depth_ > 0) --depth_;
    skip_to(at_ + 1);
  }

  void open_block() {
    // if ((reinterpret_cast<std::uintptr_t>(x.data_ptr()) & (16 -1)) != 0) {
    const bool copies_misaligned = pending().find(".data_ptr()") != std::string_view::npos;
    if (copies_misaligned) {
      is_begun_ = false;
      return skip_to(closing_bracket(text_, at_).value_or(text_.size()));
    }
    end_statement();
    skip_to(at_ + 1);
  }

  [[nodiscard]] std::string_view pending() const {
    return is_begun_ ? trimmed(text_.substr(begin_, at_ - begin_)) : std::string_view();
  }

  void begin() {
    if (is_begun_) return;
    is_begun_ = true;
    begin_ = at_;
    begin_number_ = number_;
  }

  void end_statement() {
    if (const std::string_view text = pending(); !text.empty())
      statements_.push_back({.text = text, .number = begin_number_});
    is_begun_ = false;
    depth_ = 0;
  }

  void skip_to(std::size_t at) {
    number_ += static_cast<std::size_t>(std::ranges::count(text_.substr(at_, at - at_), '\n'));
    at_ = at;
  }

  std::string_view text_;
  std::size_t at_ = 0, number_;
  std::vector<Statement> statements_;
  bool is_begun_ = false;  // a statement has begun at `begin_`
  std::size_t begin_ = 0, begin_number_ = 1;
  int depth_ = 0;
};

}  // namespace

std::vector<Statement> statements_of(std::string_view body, std::size_t first_number) {
  return StatementReader(body, first_number).read();
}

std::optional<std::size_t> closing_bracket(std::string_view text, std::size_t open) {
  return find_closing_bracket(text, open, after_quoted);
}

std::vector<std::string_view> split_arguments(std::string_view text) {
  return split_outside_brackets(text, ',', [](std::string_view all, std::size_t at) {
    return all[at] == '<' ? after_template(all, at) : after_quoted(all, at);
  });
}

std::optional<Call> call_in(std::string_view text) {
  text = trimmed(text);
  std::size_t open = 0;
  while (open < text.size() && text[open] != '(') {
    if (text[open] == '<') {
      const std::size_t after = after_template(text, open);
      if (after == open) return std::nullopt;
      open = after;
      continue;
    }
    const bool is_arrow = text.substr(open).starts_with("->");
    if (!is_dotted_name_character(text[open]) && text[open] != ':' && !is_arrow)
      return std::nullopt;
    open += is_arrow ? 2U : 1U;
  }
  if (open == 0 || open >= text.size()) return std::nullopt;
  const auto close = closing_bracket(text, open);
  if (!close) return std::nullopt;
  return Call{.callee = text.substr(0, open),
              .arguments = text.substr(open + 1, *close - open - 1),
              .rest = trimmed(text.substr(*close + 1))};
}

std::string_view last_name(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_name_character(text[begin - 1])) --begin;
  return text.substr(begin);
}

std::size_t line_at(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
}

}  // namespace jointer::cpp
