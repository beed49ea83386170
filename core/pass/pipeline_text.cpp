#include "core/pass/pipeline_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/characters.h"
#include "core/base/json_text.h"
#include "core/base/number_text.h"
#include "core/base/utf8.h"

namespace jointer {
namespace {

constexpr int kMaxDepth = 16;  // of nested lists

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t at() const { return at_; }

  Result<Pipeline> parse() {
    Pipeline pipeline;
    skip_blanks();
    if (at_ == text_.size()) return pipeline;
    while (true) {
      JOINTER_TRY(pipeline.emplace_back(), parse_step());
      if (at_ == text_.size()) return pipeline;
      if (!take(',')) return wrong("expected a comma");
    }
  }

 private:
  void skip_blanks() {
    constexpr std::string_view kBlanks = " \t\r\n";
    while (at_ < text_.size() && kBlanks.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  // If the next character is `c`, consumes it and the blanks after it, and returns true.
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    skip_blanks();
    return true;
  }

  template <class... Args>
  tl::unexpected<Error> wrong(fmt::format_string<Args...> format, Args&&... args) const {
    constexpr std::size_t kContext = 40;
    std::size_t from = at_ > kContext ? at_ - kContext : 0;
    while (from < at_ && !begins_character(text_[from])) ++from;
    const std::string what = fmt::format(format, std::forward<Args>(args)...);
    if (at_ == 0) return fail(Error::Kind::usage, "at the start of the pipeline: {}", what);
    return fail(Error::Kind::usage, "in the pipeline after `{}{}`, at character {}: {}",
                from > 0 ? "…" : "", text_.substr(from, at_ - from),
                character_count(text_.substr(0, at_)) + 1, what);
  }

  std::string_view take_word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_.substr(at_, 1))) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    skip_blanks();
    return word;
  }

  Result<PipelineStep> parse_step() {
    PipelineStep step;
    step.is_enabled = !take('~');
    step.pass = take_word();
    if (step.pass.empty()) return wrong("expected a pass name");
    if (!take('{') || take('}')) return step;
    while (true) {
      std::string name(take_word());
      if (name.empty()) return wrong("expected a parameter name");
      if (!take('=')) return wrong("expected `=` and a value");
      if (std::ranges::any_of(step.given, [&](const auto& each) { return each.first == name; }))
        return wrong("{} is given twice", name);
      JOINTER_TRY(PassValue value, parse_value(0));
      step.given.emplace_back(std::move(name), std::move(value));
      if (take('}')) return step;
      if (!take(',')) return wrong("expected `,` or `}}`");
    }
  }

  Result<PassValue> parse_value(int depth) {
    if (depth > kMaxDepth) return wrong("lists are nested more than {} levels deep", kMaxDepth);
    if (take('[')) {
      PassValue::List list;
      if (take(']')) return PassValue(std::move(list));
      while (true) {
        JOINTER_TRY(list.emplace_back(), parse_value(depth + 1));
        if (take(']')) return PassValue(std::move(list));
        if (!take(',')) return wrong("expected `,` or `]`");
      }
    }
    if (at_ < text_.size() && text_[at_] == '"') return parse_quoted();
    const std::string_view word = take_word();
    if (word.empty()) return wrong("expected a value");
    return value_of_word(word);
  }

  Result<PassValue> parse_quoted() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return wrong("missing closing quote");
    const auto json = parse_json(text_.substr(at_, end + 1 - at_), "text");
    if (!json || !json->is_string()) return wrong("expected a string quoted as in JSON");
    at_ = end + 1;
    skip_blanks();
    return PassValue(json->get<std::string>());
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

PassValue value_of_word(std::string_view word) {
  if (word == "none") return {};
  if (word == "true") return true;
  if (word == "false") return false;
  const auto as_written = [word](PassValue number) {
    if (to_text(number) != word) number.written = word;
    return number;
  };
  if (const auto whole = number_of<std::int64_t>(word)) return as_written(*whole);
  // Treat `inf`, `nan` and hexadecimal numbers as text.
  const bool may_be_number = word.find_first_of("0123456789") != std::string_view::npos;
  if (const auto number = may_be_number ? number_of<double>(word) : std::nullopt;
      number && std::isfinite(*number))
    return as_written(*number);
  return std::string(word);
}

bool has_pass(const Pipeline& pipeline, std::string_view pass) {
  return std::ranges::find(pipeline, pass, &PipelineStep::pass) != pipeline.end();
}

Result<Pipeline> parse_pipeline(std::string_view text, std::size_t* wrong_at) {
  Parser parser(text);
  auto pipeline = parser.parse();
  if (!pipeline && wrong_at != nullptr) *wrong_at = parser.at();
  return pipeline;
}

std::string to_text(const PipelineStep& step) {
  std::string text = (step.is_enabled ? "" : "~") + step.pass;
  if (step.given.empty()) return text;
  for (std::size_t i = 0; i < step.given.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? "{" : ",", step.given[i].first,
                        to_text(step.given[i].second));
  return text + "}";
}

std::string to_text(const Pipeline& pipeline) {
  std::string text;
  for (const PipelineStep& step : pipeline) text += (text.empty() ? "" : ",") + to_text(step);
  return text;
}

}  // namespace jointer
